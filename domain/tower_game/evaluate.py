"""Search terms: the evaluation of a position, the order of moves and the noisy moves for the quiescence search."""

from collections.abc import Iterable, Sequence

from domain.game import NOISY_GAIN
from domain.tower_game.board import CUBES
from domain.tower_game.moves import CAPTURE, PROMOTION, PROMOTION_CODES, legal_moves, origin_of, target_of
from domain.tower_game.position import BLACK, PAWN, ROOK, Position, in_check

VALUES = (0, 0, 560, 480, 260, 420, 400, 340, 300, 100)
"""By code: hundredths of a Pawn, after the average number of cubes that a man reaches on an open board."""


def _placed_values() -> tuple[tuple[int, ...], ...]:
    """Return by code (both sides) and cube what a man is worth there: value, centre of the level, advance of Pawns."""
    table = []
    for code in range(19):
        kind, side = (code - BLACK, 1) if code > BLACK else (code, 0)
        row = []
        for cube in range(CUBES):
            file, z = divmod(cube, 8)
            x, y = divmod(file, 5)
            centre = 4 - abs(x - 2) - abs(y - 2)
            rank = z if side == 0 else 7 - z
            if kind == PAWN:
                worth = VALUES[PAWN] + (0, 0, 4, 12, 26, 50, 90, 0)[rank] + centre
            elif kind == 1:
                worth = (16, 4, -20, -40, -50, -50, -50, -50)[rank]
            else:
                worth = VALUES[kind] + 3 * centre + (0, 6, 12, 16, 16, 12, 8, 4)[rank]
            row.append(0 if kind == 0 else worth if side == 0 else -worth)
        table.append(tuple(row))
    return tuple(table)


_PLACED = _placed_values()
_ROOK = PROMOTION_CODES.index(ROOK)


def evaluate(position: Position, seat: int) -> int:
    """Return how good the position looks for ``seat``, in hundredths of a Pawn: material and placement."""
    total = 0
    placed = _PLACED
    for cube, code in enumerate(position.board):
        if code:
            total += placed[code][cube]
    return total if seat == 0 else -total


def gains(position: Position, moves: Iterable[int]) -> list[int]:
    """Return weights: captures of valuable men by cheap ones first, then promotions, then steps to better cubes."""
    board = position.board
    placed = _PLACED
    sign = 1 if position.side == 0 else -1

    def gain(move: int) -> int:
        origin, target = origin_of(move), target_of(move)
        code = board[origin]
        kind = code - BLACK if code > BLACK else code
        weight = sign * (placed[code][target] - placed[code][origin])
        if move & CAPTURE:
            taken = board[target]
            value = VALUES[taken - BLACK if taken > BLACK else taken] or VALUES[PAWN]
            weight = NOISY_GAIN + value - VALUES[kind] // 100
        promotion = move & PROMOTION
        if promotion:
            weight = max(weight, NOISY_GAIN) + VALUES[PROMOTION_CODES[promotion]] - VALUES[PAWN]
        return weight

    return [gain(move) for move in moves]


def noisy_moves(position: Position) -> Sequence[int]:
    """Return captures and promotions to a Rook."""
    return [move for move in legal_moves(position) if move & CAPTURE or move & PROMOTION == _ROOK]


def is_forced(position: Position) -> bool:
    """Return whether the side to move is in check."""
    return in_check(position)
