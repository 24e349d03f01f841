"""The set-up phase of the start ``draft``: one player places a whole army, then the next (rules, section 2)."""

from domain.fourplay.board import CORNERS, NAMES, NUMBERS, QUADRANT_SQUARES, QUADRANTS
from domain.fourplay.diagram import piece_of
from domain.fourplay.moves import DONE
from domain.fourplay.position import (
    ANT,
    BUDGET,
    KIND_CODES,
    KINDS,
    KING,
    LIMITS,
    MIN_SPENT,
    TITLES,
    VALUES,
    Position,
    army_cost,
    count,
)
from domain.presentation import ArmyDraft, DraftPiece


def placements(position: Position) -> list[str]:
    """Return the legal placements of the side to move, and ``done`` when enough is spent, in ASCII order."""
    board, side = position.board, position.side
    empty = [square for square in QUADRANT_SQUARES[side] if not board[square]]
    if not count(board, side, KING):
        return sorted(f"K@{NAMES[square]}" for square in empty)
    cost = army_cost(board, side)
    moves = [DONE] if cost >= MIN_SPENT else []
    for kind in range(KING + 1, len(VALUES)):
        if cost + VALUES[kind] <= BUDGET and count(board, side, kind) < LIMITS[kind]:
            code = KIND_CODES[kind]
            moves += [f"{code}@{NAMES[square]}" for square in empty if kind != ANT or square not in CORNERS]
    return sorted(moves)


def refusal(position: Position, move: str) -> str | None:
    """Return why ``done`` or a placement (``code@square``) is not legal now, in a player's words; None if it is."""
    board, side = position.board, position.side
    cost = army_cost(board, side)
    if move == DONE:
        if not count(board, side, KING):
            return "place your King first"
        return None if cost >= MIN_SPENT else f"you have spent {cost}: at least {MIN_SPENT} must be spent before done"
    kind, square = parse_placement(move)
    name = NAMES[square]
    if QUADRANTS[square] != side:
        return f"{name} is outside your quadrant"
    if board[square]:
        return f"{name} is occupied"
    if not count(board, side, KING):
        return None if kind == KING else "the King must be placed first"
    if count(board, side, kind) >= LIMITS[kind]:
        return f"you have {LIMITS[kind]} of {TITLES[kind]} already, the most allowed"
    if cost + VALUES[kind] > BUDGET:
        return f"a {TITLES[kind]} costs {VALUES[kind]}, and only {BUDGET - cost} of {BUDGET} is left"
    if kind == ANT and square in CORNERS:
        return "an Ant may not be set up on a corner"
    return None


def draft(position: Position, ready: bytes) -> ArmyDraft:
    """Return the army that the side to move has to set up; ``ready`` is a board with a whole one in its quadrant."""
    board, side = position.board, position.side
    pieces = tuple(
        DraftPiece(
            KIND_CODES[kind],
            TITLES[kind],
            piece_of(side, kind),
            VALUES[kind],
            LIMITS[kind],
            tuple(NAMES[square] for square in QUADRANT_SQUARES[side] if kind != ANT or square not in CORNERS),
        )
        for kind in range(KING, len(VALUES))
    )
    placed = _army(board, side)
    army = () if placed else tuple(f"{code}@{square}" for square, code in _army(ready, side).items())
    return ArmyDraft(pieces, KIND_CODES[KING], BUDGET, MIN_SPENT, placed, army, DONE)


def _army(board: bytes, side: int) -> dict[str, str]:
    """Return the codes of a player's pieces by square, the King first."""
    kinds = {square: board[square] & 15 for square in QUADRANT_SQUARES[side] if board[square]}
    return {NAMES[square]: KIND_CODES[kind] for square, kind in sorted(kinds.items(), key=lambda entry: entry[1])}


def has_begun(position: Position) -> bool:
    """Return whether the side to move has placed a piece; the first one is its King."""
    return count(position.board, position.side, KING) > 0


def parse_placement(move: str) -> tuple[int, int]:
    """Return the kind and the square of a placement."""
    code, _, name = move.partition("@")
    return KINDS[code], NUMBERS[name]


def play_placement(position: Position, move: str) -> Position:
    """Return the position after the legal placement or ``done``; after Green's ``done`` Red begins play."""
    if move == DONE:
        last = position.side == 3
        return position._replace(side=0 if last else position.side + 1, setup=not last)
    kind, square = parse_placement(move)
    board = bytearray(position.board)
    board[square] = (position.side + 1) << 4 | kind
    return position._replace(board=bytes(board))
