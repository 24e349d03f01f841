"""Canonical moves and short algebraic notation (rules, "Move notation")."""

import re

from domain.errors import GameOver, IllegalMove, MalformedNotation, RulesError, ambiguous_move
from domain.game import without_marks
from domain.tower_game.board import KING_HOMES, NAMES, NUMBERS
from domain.tower_game.legality import is_legal, reaches, refusal
from domain.tower_game.moves import CAPTURE, PROMOTIONS, any_move, encode, origin_of, play, promotion_of, target_of
from domain.tower_game.outcome import is_drawn, outcome
from domain.tower_game.position import BLACK, KING, LETTERS, PAWN, Position, in_check

_CANONICAL = re.compile(r"([a-e]{2}[1-8])([-x])([a-e]{2}[1-8])(?:=([BCFJMNR]))?")
_PAWN_STEP = re.compile(r"([a-e]{2}[1-8])(?:=([BCFJMNR]))?")
_PAWN_CAPTURE = re.compile(r"([a-e]{2})x([a-e]{2}[1-8])(?:=([BCFJMNR]))?")
_MAN = re.compile(r"([a-e]{2})?([1-8])?([KRBMNCJF])(x)?([a-e]{2}[1-8])")
_MAX_MOVE_CHARACTERS = 40
"""Characters of a move in any notation, white space excluded."""
_LOOSE = re.compile(r"([a-e]{2}[1-8])[-x:]?([a-e]{2}[1-8])(?:=?([bcfjmnr]))?")
_LOOSE_PAWN_STEP = re.compile(r"([a-e]{2}[1-8])(?:=?([bcfjmnr]))?")
_LOOSE_PAWN_CAPTURE = re.compile(r"([a-e]{2})[x:]?([a-e]{2}[1-8])(?:=?([bcfjmnr]))?")
_LOOSE_MAN = re.compile(r"((?:[a-e]{2})?[1-8]?)([krbmncjf])[x:]?([a-e]{2}[1-8])")
_LOOSE_CASTLING = re.compile(r"[o0]-?([bmcj])")

CASTLINGS: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "original": ({"B": "ee1", "M": "aa1", "C": "ae1", "J": "ea1"}, {"B": "aa8", "M": "ee8", "C": "ae8", "J": "ea8"}),
    "alternate": ({"B": "aa1", "M": "ae1", "C": "ee1", "J": "ea1"}, {"B": "aa8", "M": "ae8", "C": "ee8", "J": "ea8"}),
}
"""By setup and side: the corner of each castling name [TG-19]."""


def format_move(position: Position, move: int) -> str:  # noqa: ARG001
    """Return the canonical string of ``move``."""
    promotion = promotion_of(move)
    return (
        f"{NAMES[origin_of(move)]}{'x' if move & CAPTURE else '-'}{NAMES[target_of(move)]}"
        f"{'=' + PROMOTIONS[promotion - 1] if promotion else ''}"
    )


def parse_move(position: Position, text: str, setup: str | None = None) -> int:
    """Return the legal move that ``text`` names, canonically or in short algebraic notation.

    Names of castlings are read after ``setup``; without it only those that mean the same in both setups [TG-19].
    Raises MalformedNotation when no move is written so, GameOver when the game has ended, IllegalMove otherwise.
    """
    bare = "".join(text.split()) if len(text) <= 10_000 else text
    if len(bare) > _MAX_MOVE_CHARACTERS:
        raise MalformedNotation(f"a move has at most {_MAX_MOVE_CHARACTERS} characters, this text has {len(bare)}")
    if not bare:
        raise MalformedNotation("the move is empty")
    canonical = _CANONICAL.fullmatch(bare)
    if canonical:
        move = encode(NUMBERS[canonical[1]], NUMBERS[canonical[3]], canonical[2] == "x", _promotion(canonical[4]))
        if is_legal(position, move) and not is_drawn(position):
            return move
        _refuse_if_over(position)
        raise IllegalMove(refusal(position, move))
    _refuse_if_over(position)
    return _parse_short(position, bare, setup)


def read_move(position: Position, text: str, setup: str) -> int:
    """Read ``text`` as ``parse_move`` does, but capitals and marks may differ."""
    try:
        return parse_move(position, text, setup)
    except GameOver:
        raise
    except RulesError as refusal:
        refused = refusal
    spellings: dict[int, str] = {}
    for spelling in _spellings(position, without_marks(text[:10_000]).lower()):
        try:
            spellings.setdefault(parse_move(position, spelling, setup), spelling)
        except IllegalMove as refusal:
            # The reason why the intended move is illegal says more than that the text itself is no move.
            refused = refusal if isinstance(refused, MalformedNotation) else refused
    if len(spellings) > 1:
        raise ambiguous_move(text, spellings.values())
    if not spellings:
        raise refused
    return next(iter(spellings))


def _spellings(position: Position, text: str) -> list[str]:
    """Return the readings of ``text``, in small letters, in the forms that ``parse_move`` reads."""
    if len(text) > _MAX_MOVE_CHARACTERS:
        return []
    spellings = []
    if match := _LOOSE.fullmatch(text):
        origin, target = NUMBERS[match[1]], NUMBERS[match[2]]
        captures = any(reaches(position, encode(origin, target, True, promotion)) for promotion in (0, 1))
        spellings.append(f"{match[1]}{'x' if captures else '-'}{match[2]}{_promoted(match[3])}")
    elif match := _LOOSE_PAWN_STEP.fullmatch(text):
        spellings.append(match[1] + _promoted(match[2]))
    else:
        if match := _LOOSE_PAWN_CAPTURE.fullmatch(text):
            spellings.append(f"{match[1]}x{match[2]}{_promoted(match[3])}")
        if match := _LOOSE_MAN.fullmatch(text):
            spellings += [f"{match[1]}{match[2].upper()}{mark}{match[3]}" for mark in ("", "x")]
        if match := _LOOSE_CASTLING.fullmatch(text):
            spellings.append(f"O-{match[1].upper()}")
    return spellings


def _promoted(letter: str | None) -> str:
    return f"={letter.upper()}" if letter else ""


def display_move(position: Position, move: int) -> str:
    """Return the short algebraic notation of the legal ``move`` with a mark for check or mate."""
    after = play(position, move)
    mark = "" if not in_check(after) else "+" if any_move(after) else "#"
    return san(position, move) + mark


def san(position: Position, move: int) -> str:
    """Return the short algebraic notation of the legal ``move``."""
    origin, target, promotion = origin_of(move), target_of(move), promotion_of(move)
    code = position.board[origin] - position.side * BLACK
    mark = "x" if move & CAPTURE else ""
    if code == PAWN:
        file = NAMES[origin][:2] + "x" if mark else ""
        piece = "=" + PROMOTIONS[promotion - 1] if promotion else ""
        passing = "e.p." if mark and not position.board[target] else ""
        return f"{file}{NAMES[target]}{piece}{passing}"
    letter = LETTERS[code - 1]
    prefix = ""
    if code != KING:
        rivals = [other for other in _movers(position, code, target) if other != origin]
        if rivals:
            same_file = any(other // 8 == origin // 8 for other in rivals)
            prefix = NAMES[origin] if same_file else NAMES[origin][:2]
    return f"{prefix}{letter}{mark}{NAMES[target]}"


def _movers(position: Position, code: int, target: int) -> list[int]:
    men = position.men[position.side * BLACK + code]
    movers = []
    while men:
        man = men & -men
        men ^= man
        origin = man.bit_length() - 1
        if is_legal(position, encode(origin, target, bool(position.board[target]))):
            movers.append(origin)
    return movers


def _parse_short(position: Position, text: str, setup: str | None) -> int:
    if text[-1:] in "+#":
        text = text[:-1]
    passing = False
    for mark in ("e.p.", "ep"):
        if text.endswith(mark):
            text, passing = text[: -len(mark)], True
            break
    if text.startswith("O-"):
        if passing:
            raise MalformedNotation("castling is no en passant capture")
        return _castling(position, text, setup)
    candidates = _candidates(position, text)
    matching = [
        move for move in candidates if is_legal(position, move) and (not passing or _is_en_passant(position, move))
    ]
    if len(matching) == 1:
        return matching[0]
    if not matching:
        if len(candidates) == 1 and not passing:
            raise IllegalMove(refusal(position, candidates[0]))
        raise IllegalMove(
            f"no legal {'en passant capture' if passing else 'move'} is written {text!r} in this position"
        )
    named = " or ".join(san(position, move) for move in matching[:4])
    raise IllegalMove(f"{text!r} could be several moves: write {named}")


def _candidates(position: Position, text: str) -> list[int]:
    """Return the meanings of ``text``: a move, legal or not, of each man of the side to move that it fits."""
    pawn = PAWN + position.side * BLACK
    back = -1 if position.side == 0 else 1
    step = _PAWN_STEP.fullmatch(text)
    if step:
        target = NUMBERS[step[1]]
        origins = [target + back * steps for steps in (1, 2) if 0 <= target % 8 + back * steps <= 7]
        return [
            encode(origin, target, False, _promotion(step[2])) for origin in origins if position.board[origin] == pawn
        ]
    capture = _PAWN_CAPTURE.fullmatch(text)
    if capture:
        target = NUMBERS[capture[2]]
        rank = target % 8 + back
        origins = [NUMBERS[f"{capture[1]}{rank + 1}"]] if 0 <= rank <= 7 else []
        return [
            encode(origin, target, True, _promotion(capture[3])) for origin in origins if position.board[origin] == pawn
        ]
    man = _MAN.fullmatch(text)
    if not man:
        if _CANONICAL.fullmatch(text):
            raise MalformedNotation(f"a move in the long form takes no mark behind it: write {text}")
        raise MalformedNotation(f"{text!r} is no move: expected for example cc2-cc4, cc4, ccxcb5, Jcd6 or dbJxcd6")
    file, rank_digit, letter, mark, target_name = man.groups()
    code = LETTERS.index(letter) + 1 + position.side * BLACK
    return [
        encode(origin, NUMBERS[target_name], bool(mark))
        for origin, there in enumerate(position.board)
        if there == code and file in (None, NAMES[origin][:2]) and rank_digit in (None, NAMES[origin][2])
    ]


def _promotion(letter: str | None) -> int:
    return PROMOTIONS.index(letter) + 1 if letter else 0


def _is_en_passant(position: Position, move: int) -> bool:
    return bool(
        move & CAPTURE
        and not position.board[target_of(move)]
        and position.board[origin_of(move)] == PAWN + position.side * BLACK
    )


def _castling(position: Position, text: str, setup: str | None) -> int:
    letter = text[2:]
    if letter not in ("B", "M", "C", "J"):
        raise MalformedNotation(f"{text!r} is no castling: expected O-B, O-M, O-C or O-J")
    if setup is not None and setup not in CASTLINGS:
        raise MalformedNotation(f"there is no setup {setup!r}")
    setups = [setup] if setup else list(CASTLINGS)
    corners = {CASTLINGS[name][position.side][letter] for name in setups}
    if len(corners) > 1:
        raise IllegalMove(f"{text} names different Rooks in the two setups: write the King's move instead")
    home = KING_HOMES[position.side]
    if position.board[home] != KING + position.side * BLACK:
        # Another man there may well have a move to the corner, which the name does not mean.
        raise IllegalMove(f"the King is not on {NAMES[home]}: it cannot castle")
    move = encode(home, NUMBERS[corners.pop()], False)
    if not is_legal(position, move):
        raise IllegalMove(refusal(position, move))
    return move


def _refuse_if_over(position: Position) -> None:
    ended = outcome(position, ())
    if ended is not None:
        raise GameOver(f"the game is over: {ended.reason}")
