"""Search terms: the evaluation of a position, the order of moves and the noisy moves for the quiescence search."""

from collections.abc import Iterable, Sequence

from domain.four_towers.attacks import BLACK, CODES, KING, LANCER, PAWN
from domain.four_towers.board import ARENAS, COORDINATES, SQUARES, TOWER_SET
from domain.four_towers.legal_moves import MoveGenerator
from domain.four_towers.moves import (
    CAPTURE,
    HEAD_SHIFT,
    HEADS,
    PROMOTED,
    PROMOTIONS,
    RETURN,
    Move,
    MultiMove,
    Rearrangement,
    board_after_rearrangement,
    head_of,
    target_of,
)
from domain.four_towers.outcome import in_check, is_drawn
from domain.four_towers.position import Position
from domain.game import NOISY_GAIN

VALUES = (0, 450, 300, 850, 300, 850, 700, 1250, 0, 350, 100, 220)
"""By code: hundredths of a pawn."""
_BEST_PROMOTION = PROMOTIONS.index("W") + 1


def _placed_values() -> tuple[tuple[int, ...], ...]:
    """Return by code (both sides) and square what a piece is worth there: value, centre, tower, advance of pawns."""
    table = []
    for code in range(CODES):
        kind, side = code & 15, code >> 4
        row = []
        for square in range(SQUARES):
            x, y = COORDINATES[square]
            if side:
                x, y = 12 - x, 12 - y
            centre = 10 - abs(x - 6) - abs(y - 6)
            tower = 25 if TOWER_SET >> square & 1 else 0
            # The board leans: the last squares of all files lie near one line 3y + x.
            advance = max(0, 3 * y + x - 16)
            if kind in (PAWN, LANCER):
                worth = VALUES[kind] + centre // 2 + advance * advance // 4
            elif kind == KING:
                worth = -4 * centre - 3 * advance
            else:
                worth = VALUES[kind] + 3 * centre + tower if 0 < kind < KING or kind == KING + 1 else 0
            row.append(-worth if side else worth)
        table.append(tuple(row) if 0 < kind <= LANCER else (0,) * SQUARES)
    return tuple(table)


PLACED = _placed_values()
"""By code and square, good for White: what the piece is worth there."""
_CONTACTS = tuple(head.mark in (CAPTURE, RETURN) for head in HEADS)
"""By head: whether such a move is noisy."""


def evaluate(position: Position, seat: int) -> int:
    """Return how good the position looks for ``seat``, in hundredths of a pawn, by pieces and their squares."""
    total = 0
    placed = PLACED
    for square, code in enumerate(position.board):
        if code:
            total += placed[code][square]
    code = position.returning[0]
    if code:
        total += -VALUES[code - BLACK] if code > BLACK else VALUES[code]
    return total if seat == 0 else -total


def gains(position: Position, moves: Iterable[Move]) -> list[int]:
    """Return weights: captures of valuable pieces by cheap ones first, promotions and returns, then steps forward."""
    board = position.board
    base = position.side * BLACK
    sign = 1 - 2 * position.side

    def gain(move: Move) -> int:
        if not isinstance(move, int):
            return gain_of_compound_move(position, move)
        head, target = head_of(move), target_of(move)
        if head.mark == RETURN:
            return NOISY_GAIN + sign * PLACED[base + head.part][target]
        kind = head.part or board[head.origin] & 15
        weight = sign * (PLACED[base + kind][target] - PLACED[base + kind][head.origin])
        if head.mark == CAPTURE:
            weight = NOISY_GAIN + (VALUES[board[target] & 15] or VALUES[PAWN]) - VALUES[kind] // 100
        if move & 15:
            weight = max(weight, NOISY_GAIN) + VALUES[PROMOTED[move & 15]] - VALUES[PAWN]
        return weight

    return [gain(move) for move in moves]


def gain_of_compound_move(position: Position, move: MultiMove | Rearrangement) -> int:
    """Return how much better the moved pieces stand after ``move``, for the side that plays it."""
    board, gain = position.board, 0
    if isinstance(move, Rearrangement):
        after = board_after_rearrangement(board, position.side, move)
        gain = sum(PLACED[after[square]][square] - PLACED[board[square]][square] for square in ARENAS[move.arena])
    else:
        squares = bytearray(board)
        for part in move.components:
            gain += step_gain(squares, part)
            origin, target = head_of(part).origin, target_of(part)
            squares[target] = position.side * BLACK + PROMOTED[part & 15] if part & 15 else squares[origin]
            squares[origin] = 0
    return gain if position.side == 0 else -gain


def step_gain(board: bytes | bytearray, move: int) -> int:
    """Return how much better, for White, a piece stands after a plain move."""
    origin, target = head_of(move).origin, target_of(move)
    code = board[origin]
    landing = code & BLACK | PROMOTED[move & 15] if move & 15 else code
    return PLACED[landing][target] - PLACED[code][origin]


def noisy_moves(position: Position) -> Sequence[int]:
    """Return captures, returns and promotions to a wizard."""
    if is_drawn(position):
        return ()
    moves = MoveGenerator(position).moves()
    return [move for move in moves if _CONTACTS[move >> HEAD_SHIFT] or move & 15 == _BEST_PROMOTION]


def is_forced(position: Position) -> bool:
    """Return whether the side to move is in check and the game goes on."""
    return in_check(position) and not is_drawn(position)
