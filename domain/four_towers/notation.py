"""Moves read from text (rules, section 9)."""

import re

from domain.errors import GameOver, IllegalMove, MalformedNotation, ambiguous_move
from domain.four_towers import compound_moves
from domain.four_towers.attacks import BLACK
from domain.four_towers.board import ARENAS, NUMBERS, NUMERALS, PLACES, TARGETS
from domain.four_towers.legal_moves import MoveGenerator
from domain.four_towers.legality import is_single_legal, refusal
from domain.four_towers.moves import (
    ATTACH,
    CAPTURE,
    DIRECT,
    DIRECT_ATTACH,
    PLAIN,
    RETURNS,
    SWAP,
    Move,
    MultiMove,
    Rearrangement,
    format_move,
    head_of,
    play,
    single_move,
    target_of,
    victim_of,
)
from domain.four_towers.outcome import fast_outcome, in_check, is_drawn, outcome
from domain.four_towers.position import LETTERS, Position
from domain.game import without_marks

_SQUARE = r"([a-k](?:1[01]|[1-9]))"
_SINGLE = re.compile(
    rf"(?:([BCMNPQR])/)?{_SQUARE}(\+|-|<>|>>\+?|x){_SQUARE}(?:\({_SQUARE}\))?(?:=([BCDMNQRW]))?", re.ASCII
)
_RETURN = re.compile(rf"@([RBNQMCWDPL]):{_SQUARE}", re.ASCII)
_REARRANGEMENT = re.compile(r"(I|II|III|IV|V|VI|VII|VIII|IX):(.+)", re.ASCII)
_PLACED = re.compile(rf"([RBNQMCWKDPL]){_SQUARE}", re.ASCII)
_LOOSE_SINGLE = re.compile(
    rf"(?:([bcmnpqr])/)?{_SQUARE}(\+|-|:|<>|>>\+?|x|){_SQUARE}(?:\({_SQUARE}\))?(?:=?([bcdmnqrw]))?", re.ASCII
)
_LOOSE_COMPONENT = re.compile(rf"{_SQUARE}-?{_SQUARE}(?:=?([bcdmnqrw]))?", re.ASCII)
_LOOSE_RETURN = re.compile(rf"@([rbnqmcwdpl]):?{_SQUARE}", re.ASCII)
_MARKS_MEANT = {
    "": (PLAIN, CAPTURE, ATTACH, SWAP, DIRECT, DIRECT_ATTACH),
    **dict.fromkeys(("-", "x", ":"), (PLAIN, CAPTURE)),
    **{"+": (ATTACH,), "<>": (SWAP,), ">>": (DIRECT,), ">>+": (DIRECT_ATTACH,)},
}
"""The possible meanings of a mark between two squares in a loose spelling."""
MAX_LENGTH = 80
"""Characters of a move, white space excluded."""
_MAX_TRIALS = 2000
"""How many components of multi-moves a refusal tries out to tell whether the game is over."""


def parse_move(position: Position, text: str) -> Move:
    """Return the legal move that ``text`` names; of a multi-move, every playable order is read (rules, section 6.8).

    Raises MalformedNotation when no move is written so, GameOver when the game has ended, IllegalMove otherwise.
    """
    if not text:
        raise MalformedNotation("the move is empty")
    if len(text) > MAX_LENGTH:
        raise MalformedNotation(f"a move has at most {MAX_LENGTH} characters, this text has {len(text)}")
    arena = _REARRANGEMENT.fullmatch(text)
    if arena:
        return _parse_rearrangement(position, NUMERALS.index(arena[1]), arena[2])
    if ";" in text:
        return _parse_multi(position, text)
    move = _read_single(text)
    if not is_drawn(position) and is_single_legal(position, move):
        return move
    _refuse_if_over(position)
    raise IllegalMove(refusal(position, move))


def read_move(position: Position, text: str, setup: str) -> Move:  # noqa: ARG001 - squares have one name in all setups
    """Read ``text`` as ``parse_move`` does; capitals, marks, spaces and the order of a rearrangement may differ."""
    exact = without_marks(text)
    loose = exact.lower()
    if len(exact) > MAX_LENGTH:
        return parse_move(position, exact)
    if arena := _REARRANGEMENT.fullmatch(loose.upper()):
        pieces = (piece[:1].upper() + piece[1:] for piece in loose.partition(":")[2].split(","))
        return parse_move(position, f"{arena[1]}:{','.join(sorted(pieces, key=_square_order))}")
    if ";" in loose:
        return parse_move(position, ";".join(map(_strict_component, loose.split(";"))))
    if returned := _LOOSE_RETURN.fullmatch(loose):
        return parse_move(position, f"@{returned[1].upper()}:{returned[2]}")
    match = _LOOSE_SINGLE.fullmatch(loose)
    if not match:
        return parse_move(position, exact)
    if _SINGLE.fullmatch(exact) and not is_drawn(position):
        move = _read_single(exact)
        if is_single_legal(position, move):
            return move
    matching = _matching_moves(position, match)
    if len(matching) > 1:
        raise ambiguous_move(text, [format_move(position, move) for move in matching])
    if matching:
        return matching[0]
    return parse_move(position, exact if _SINGLE.fullmatch(exact) else _strict_single(position, match))


def display_move(position: Position, move: Move) -> str:
    """Return the canonical string with a mark for check, or for mate where ``fast_outcome`` sees it."""
    text, after = format_move(position, move), play(position, move)
    if not in_check(after):
        return text
    ended = fast_outcome(after, ())
    return f"{text}{'#' if ended and ended.reason == 'checkmate' else '+'}"


def _matching_moves(position: Position, match: re.Match[str]) -> list[int]:
    """Return the legal moves that a loose spelling fits: marks of moves and captures are read as one another."""
    part, origin, mark, target, victim, promotion = match.groups()
    if is_drawn(position) or not {origin, target} <= NUMBERS.keys():
        return []
    marks = _MARKS_MEANT[mark]
    meant = single_move(
        LETTERS.index(part.upper()) if part else 0, origin, "-", target, promotion.upper() if promotion else ""
    )
    return [
        move
        for move in MoveGenerator(position).moves_from(NUMBERS[origin])
        if target_of(move) == target_of(meant)
        and move & 15 == meant & 15
        and head_of(move).part == head_of(meant).part
        and head_of(move).mark in marks
        and (not victim or victim_of(move) == NUMBERS.get(victim))
    ]


def _strict_single(position: Position, match: re.Match[str]) -> str:
    """Return the canonical form of a loose spelling that fits no legal move."""
    part, origin, mark, target, victim, promotion = match.groups()
    there = position.board[NUMBERS[_read_square(target)]]
    usual = "x" if victim or (there and there >> 4 != position.side) else "-"
    return (
        f"{part.upper() + '/' if part else ''}{origin}{mark.replace(':', 'x') or usual}{target}"
        f"{f'({victim})' if victim else ''}{f'={promotion.upper()}' if promotion else ''}"
    )


def _strict_component(text: str) -> str:
    match = _LOOSE_COMPONENT.fullmatch(text)
    return f"{match[1]}-{match[2]}{f'={match[3].upper()}' if match[3] else ''}" if match else text


def _square_order(named: str) -> tuple[str, int, str]:
    """Return the sort key of the pieces of a rearrangement: file, then rank number (rules, section 9)."""
    match = _PLACED.fullmatch(named)
    return (match[2][0], int(match[2][1:]), "") if match else ("", 0, named)


def _read_square(name: str) -> str:
    if name not in NUMBERS:
        raise MalformedNotation(f"there is no square {name} on this board")
    return name


def _read_single(text: str) -> int:
    returned = _RETURN.fullmatch(text)
    if returned:
        return RETURNS[LETTERS.index(returned[1])] | TARGETS[NUMBERS[_read_square(returned[2])]]
    match = _SINGLE.fullmatch(text)
    if not match:
        raise MalformedNotation(f"{text!r} is no move: expected for example d3-d4, f4xe5, f10+c10, R/e4-e6 or e8<>i4")
    part, origin, mark, target, victim, promotion = match.groups()
    for name in (origin, target, victim):
        if name:
            _read_square(name)
    if part and mark == "<>":
        raise MalformedNotation("a part that is sent off cannot swap: the rest stays on its square")
    if victim and mark != "x":
        raise MalformedNotation("only a capture en passant names a second square in brackets")
    return single_move(LETTERS.index(part) if part else 0, origin, mark, target, promotion or "", victim or "")


def read_component(number: int, text: str) -> int:
    """Return the plain move that ``text`` names, the component ``number`` (from 1); raises MalformedNotation."""
    try:
        move = _read_single(text)
    except MalformedNotation as refusal:
        raise MalformedNotation(f"step {number}: {refusal}") from None
    head = head_of(move)
    if head.mark != PLAIN or head.part:
        raise MalformedNotation(f"step {number} ({text}): only plain moves of whole pieces can be steps")
    return move


def _parse_multi(position: Position, text: str) -> MultiMove:
    components = [read_component(number, part) for number, part in enumerate(text.split(";"), 1)]
    if not 2 <= len(components) <= compound_moves.MAX_COMPONENTS:
        raise MalformedNotation(f"a multi-move has 2 to {compound_moves.MAX_COMPONENTS} steps")
    fault = None if is_drawn(position) else compound_moves.multi_move_refusal(position, components)
    if fault or is_drawn(position):
        _refuse_if_over(position)
        raise IllegalMove(fault or "the game is over")
    return compound_moves.canonical(position, components)


def _parse_rearrangement(position: Position, arena: int, text: str) -> Rearrangement:
    placement = bytearray(len(ARENAS[arena]))
    parts = text.split(",")
    for part in parts:
        match = _PLACED.fullmatch(part)
        if not match:
            raise MalformedNotation(f"{part!r} is not a piece letter and a square")
        square = NUMBERS[_read_square(match[2])]
        if PLACES.get(square, (-1, 0))[0] != arena:
            raise MalformedNotation(f"{match[2]} is no square of arena {NUMERALS[arena]}")
        place = PLACES[square][1]
        if placement[place]:
            raise MalformedNotation(f"{match[2]} is named twice")
        placement[place] = LETTERS.index(match[1]) + position.side * BLACK
    if parts != sorted(parts, key=_square_order):
        raise MalformedNotation("the pieces of a rearrangement are named by square: files from a, on each from rank 1")
    move = Rearrangement(arena, bytes(placement))
    fault = None if is_drawn(position) else compound_moves.rearrangement_refusal(position, move)
    if fault or is_drawn(position):
        _refuse_if_over(position)
        raise IllegalMove(fault or "the game is over")
    return move


def _refuse_if_over(position: Position) -> None:
    try:
        ended = outcome(position, (), _MAX_TRIALS)
    except compound_moves.TrialsExceededError:
        # Whether any multi-move is left takes too long to decide; the move is illegal either way.
        return
    if ended is not None:
        raise GameOver(f"the game is over: {ended.reason}")
