"""Whether one given move is legal, and why a move is refused or a man has none."""

from domain.errors import MalformedNotation
from domain.tower_game.board import (
    BETWEEN,
    CASTLING_PATHS,
    CORNERS,
    CUBES,
    KING_HOMES,
    KING_SETS,
    NAMES,
    NUMBERS,
    PAWN_CAPTURE_SETS,
    PAWN_CAPTURES,
)
from domain.tower_game.diagram import KINDS
from domain.tower_game.moves import (
    CAPTURE,
    LEAP_SETS,
    LINES,
    PROMOTIONS,
    checks_and_pins,
    encode,
    legal_moves,
    may_castle,
    origin_of,
    promotion_of,
    target_of,
)
from domain.tower_game.outcome import outcome
from domain.tower_game.position import (
    BLACK,
    KING,
    LETTERS,
    PAWN,
    Position,
    attacked,
    en_passant_captures,
    in_check,
    occupied,
)

_TITLES = {letter: kind.capitalize() for letter, kind in zip(LETTERS, KINDS, strict=True)}
_SIDES = ("White", "Black")


def is_legal(position: Position, move: int) -> bool:
    """Return whether ``move`` is legal by the movement and check rules, looking only at the man that would move."""
    if not isinstance(move, int) or not 0 <= origin_of(move) < CUBES or target_of(move) >= CUBES:
        return False
    men, side = position.men, position.side
    own, enemies = occupied(men, side), occupied(men, 1 - side)
    everybody = own | enemies
    origin, target = origin_of(move), target_of(move)
    goal = 1 << target
    kind = position.board[origin] - side * BLACK
    if kind == KING and goal & own:
        return move == encode(origin, target, False) and _is_castling(position, origin, target, everybody)
    if not reaches(position, move):
        return False
    if kind == KING:
        return not attacked(target, men, 1 - side, everybody ^ 1 << origin)
    if kind == PAWN and move & CAPTURE and not enemies & goal:
        return origin in en_passant_captures(men, side, target)
    king = men[side * BLACK + KING].bit_length() - 1
    checkers, pins = checks_and_pins(men, side, king, own, everybody)
    if checkers and (checkers & (checkers - 1) or not (checkers | BETWEEN[king][checkers.bit_length() - 1]) & goal):
        return False
    return all(line & goal for man, line in pins if man == 1 << origin)


def reaches(position: Position, move: int) -> bool:
    """Return whether a man of the side to move can make ``move``, castling and the King's safety disregarded."""
    board, men, side, _, en_passant, _ = position
    origin, target, promotion = origin_of(move), target_of(move), promotion_of(move)
    kind = board[origin] - side * BLACK
    own, enemies = occupied(men, side), occupied(men, 1 - side)
    goal = 1 << target
    if not KING <= kind <= PAWN or promotion > 7 or goal & own:
        return False
    captures_en_passant = kind == PAWN and target == en_passant and bool(PAWN_CAPTURE_SETS[side][origin] & goal)
    if bool(move & CAPTURE) != (bool(goal & enemies) or captures_en_passant):
        return False
    if bool(promotion) != (kind == PAWN and target & 7 == (7, 0)[side]):
        return False
    if kind == PAWN:
        return captures_en_passant or _pawn_reaches(board, side, origin, target, bool(goal & enemies))
    if kind in LINES:
        return bool(LINES[kind][origin] & goal) and not BETWEEN[origin][target] & (own | enemies)
    return bool((KING_SETS if kind == KING else LEAP_SETS[kind])[origin] & goal)


def _pawn_reaches(board: bytes, side: int, origin: int, target: int, capture: bool) -> bool:
    if capture:
        return target in PAWN_CAPTURES[side][origin]
    forward, first = (1, 1) if side == 0 else (-1, 6)
    if target == origin + forward:
        return not board[target]
    return origin & 7 == first and target == origin + 2 * forward and not board[origin + forward] and not board[target]


def _is_castling(position: Position, origin: int, target: int, everybody: int) -> bool:
    men, side = position.men, position.side
    if origin != KING_HOMES[side] or target not in CASTLING_PATHS:
        return False
    index = CORNERS.index(target)
    return (
        index // 4 == side
        and bool(position.castling_rights >> index & 1)
        and not attacked(origin, men, 1 - side, everybody)
        and may_castle(men, side, target, everybody)
    )


def why_not(position: Position, square: str) -> str | None:
    """Return why no legal move begins on ``square``; None when one does."""
    if square not in NUMBERS:
        raise MalformedNotation(f"there is no cube {square[:10]}")
    cube, side = NUMBERS[square], position.side
    if not position.board[cube]:
        return f"{square} is empty"
    owner, code = divmod(position.board[cube] - 1, BLACK)
    man = f"the {_TITLES[LETTERS[code]]} on {square}"
    if outcome(position, ()) is not None:
        return "the game is over"
    if owner != side:
        return f"{man} is {_SIDES[owner]}'s, and {_SIDES[side]} is to move"
    if any(origin_of(move) == cube for move in legal_moves(position)):
        return None
    moves = (encode(cube, target, bool(mark)) for target in range(CUBES) for mark in (0, 1))
    promotions = (encode(cube, target, bool(mark), 1) for target in range(CUBES) for mark in (0, 1))
    if not any(reaches(position, move) for move in (*moves, *promotions)):
        if code + 1 == PAWN:
            return f"{man} is blocked, and has nothing to capture"
        return f"{man} is blocked: your own pieces stand wherever it could go"
    if code + 1 == KING:
        return f"{man} has no cube to go to that is not attacked"
    if in_check(position):
        return f"the King is in check, and no move of {man} ends it"
    return f"{man} may not leave: the King would be attacked"


def refusal(position: Position, move: int) -> str:
    """Return why ``move``, which is not legal, is not."""
    board, side = position.board, position.side
    origin, target, promotion = origin_of(move), target_of(move), promotion_of(move)
    start, end = NAMES[origin], NAMES[target]
    promoted = f"={PROMOTIONS[promotion - 1]}" if promotion else ""
    code = board[origin] - side * BLACK
    if not KING <= code <= PAWN:
        return f"no man of yours stands on {start}"
    man = _TITLES[LETTERS[code - 1]]
    own_there = KING <= board[target] - side * BLACK <= PAWN
    if (
        code == KING
        and origin == KING_HOMES[side]
        and target in CASTLING_PATHS
        and target % 8 == origin % 8
        and own_there
    ):
        return _castling_reason(position, move)
    if own_there:
        return f"{end} is held by a man of your own"
    last_rank = target % 8 == (7, 0)[side]
    if code == PAWN and last_rank and not promotion:
        return f"a Pawn that reaches the last rank must promote: add = and one of {', '.join(PROMOTIONS)}"
    if promotion and not (code == PAWN and last_rank):
        return "only a Pawn that reaches the last rank promotes"
    if not move & CAPTURE and reaches(position, move | CAPTURE):
        return f"that is a capture: write {start}x{end}{promoted}"
    passing = code == PAWN and target == position.en_passant
    if not board[target] and move & CAPTURE and not passing:
        return f"there is nothing to capture on {end}"
    if not reaches(position, move):
        return f"a {man} does not move from {start} to {end}, or something stands in the way"
    if in_check(position):
        return f"the King is in check, and {start}-{end} does not end it"
    if code == KING:
        return f"the King may not go to {end}: that cube is attacked"
    return f"the {man} on {start} may not leave: the King would be attacked"


def _castling_reason(position: Position, move: int) -> str:
    """Return why castling is not possible now [TG-16], or is written in another way than ``move``."""
    men, side, corner = position.men, position.side, target_of(move)
    name = NAMES[corner]
    enemy, everybody = 1 - side, occupied(men, 0) | occupied(men, 1)
    path = CASTLING_PATHS[corner]
    if move != encode(origin_of(move), corner, False):
        return f"castling takes no x and no promotion: write {NAMES[KING_HOMES[side]]}-{name}"
    if not position.castling_rights >> CORNERS.index(corner) & 1:
        return f"the right to castle to {name} is gone"
    if in_check(position):
        return "a King in check may not castle"
    if position.board[path]:
        return f"castling to {name} is blocked: {NAMES[path]} is not empty"
    if attacked(path, men, enemy, everybody):
        return f"the King may not castle over {NAMES[path]}: that cube is attacked"
    return f"the King may not castle to {name}: that cube is attacked"
