"""What a position is worth to the opponents' search, which moves to look at first, and which beyond the horizon."""

from collections.abc import Iterable, Sequence

from domain.four_towers.attack import BLACK, CODES, KING, LANCER, PAWN
from domain.four_towers.board import COORDINATES, SQUARES, TOWER_SET
from domain.four_towers.moves import CAPTURE, PROMOTED, PROMOTIONS, RETURN, Move, head_of, target_of
from domain.four_towers.outcome import checked, drawn
from domain.four_towers.position import Position
from domain.four_towers.turn import Turn

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


_PLACED = _placed_values()


def evaluate(position: Position, seat: int) -> int:
    """Return how good the position looks for ``seat``, in hundredths of a pawn, by pieces and their squares."""
    total = 0
    placed = _PLACED
    for square, code in enumerate(position.board):
        if code:
            total += placed[code][square]
    code = position.returning[0]
    if code:
        total += -VALUES[code - BLACK] if code > BLACK else VALUES[code]
    return total if seat == 0 else -total


def order(position: Position, moves: Iterable[Move]) -> list[Move]:
    """Return captures of dear pieces by cheap ones first, then promotions and returns, then steps to better squares."""
    board = position.board
    base = position.side * BLACK
    sign = 1 - 2 * position.side

    def weight(move: Move) -> int:
        if not isinstance(move, int):
            return 0
        head, target = head_of(move), target_of(move)
        if head.mark == RETURN:
            return -1000 - sign * _PLACED[base + head.part][target]
        kind = head.part or board[head.origin] & 15
        gain = sign * (_PLACED[base + kind][target] - _PLACED[base + kind][head.origin])
        if head.mark == CAPTURE:
            gain += 10_000 + 10 * (VALUES[board[target] & 15] or VALUES[PAWN]) - VALUES[kind]
        if move & 15:
            gain += 5_000 + VALUES[PROMOTED[move & 15]]
        return -gain

    return sorted(moves, key=weight)


def tactics(position: Position) -> tuple[Sequence[int], bool]:
    """Return captures, returns and promotions to a wizard, which may be declined; in check all evasions.

    A check that only a rearrangement or a multi-move can meet leaves no evasion here.
    """
    moves = [] if drawn(position) else Turn(position).moves()
    if checked(position):
        return moves, False
    return [move for move in moves if head_of(move).mark in (CAPTURE, RETURN) or move & 15 == _BEST_PROMOTION], True
