"""Search terms: the evaluation of a position, the order of moves and the noisy moves for the quiescence search."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from domain.game import NOISY_GAIN
from domain.tower_game import weights
from domain.tower_game.board import (
    BISHOP_LINES,
    CAPTAIN_SETS,
    CUBES,
    JESTER_SETS,
    KING_SETS,
    KNIGHT_SETS,
    MERCHANT_LINES,
    PAWN_CAPTURE_SETS,
    ROOK_LINES,
)
from domain.tower_game.moves import CAPTURE, PROMOTION, PROMOTION_CODES, king_safety, origin_of, target_of
from domain.tower_game.position import (
    BISHOP,
    BLACK,
    CAPTAIN,
    FOOL,
    JESTER,
    KING,
    KNIGHT,
    MERCHANT,
    PAWN,
    ROOK,
    Position,
    occupied,
)
from domain.tower_game.weights import CONTROL, HANGING, NEAR_KING, PAWN_THREAT, RIDER_AT_KING, TURN

VALUES: Final = (
    *(0, 0, weights.ROOK, weights.BISHOP, weights.MERCHANT, weights.KNIGHT, weights.CAPTAIN, weights.JESTER),
    *(weights.FOOL, weights.PAWN),
)
"""By code: hundredths of a Pawn."""


def _placed_values() -> tuple[tuple[int, ...], ...]:
    """Return by code (both sides) and cube the worth of a man there: value, centre of the level, rank."""
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
                worth = VALUES[PAWN] + weights.PAWN_RANK[rank] + weights.PAWN_CENTRE * centre
            elif kind == KING:
                worth = weights.KING_RANK[rank]
            else:
                worth = VALUES[kind] + weights.CENTRE * centre + weights.RANK[rank]
            row.append(0 if kind == 0 else worth if side == 0 else -worth)
        table.append(tuple(row))
    return tuple(table)


_PLACED: Final = _placed_values()


def evaluate(position: Position, seat: int) -> int:
    """Return how good the position looks for ``seat``, in hundredths of a Pawn; zero-sum."""
    men, side = position.men, position.side
    total = sum(map(_placed, range(19), men)) + (-TURN if side else TURN)
    white, black = occupied(men, 0), occupied(men, 1)
    white_king, black_king = men[KING].bit_length() - 1, men[BLACK + KING].bit_length() - 1
    by_white, by_black = _attacks(men, 0), _attacks(men, 1)
    by_white_pawns, by_black_pawns = _reach(PAWN, men[PAWN]), _reach(BLACK + PAWN, men[BLACK + PAWN])
    total += (
        CONTROL * (by_white.bit_count() - by_black.bit_count())
        + NEAR_KING * ((by_white & KING_SETS[black_king]).bit_count() - (by_black & KING_SETS[white_king]).bit_count())
        + RIDER_AT_KING * (_riders_at(black_king, men, 0) - _riders_at(white_king, men, 1))
        + HANGING * ((by_white & black & ~by_black).bit_count() - (by_black & white & ~by_white).bit_count())
        + PAWN_THREAT
        * (
            (by_white_pawns & black & ~men[BLACK + PAWN]).bit_count()
            - (by_black_pawns & white & ~men[PAWN]).bit_count()
        )
    )
    return total if seat == 0 else -total


# A move changes the sets of one or two kinds of men: the terms of the others are looked up.


@lru_cache(maxsize=1 << 15)
def _placed(code: int, cubes: int) -> int:
    """Return the worth of the men of one code where they stand, good for White."""
    row, total = _PLACED[code], 0
    while cubes:
        cube = cubes & -cubes
        cubes ^= cube
        total += row[cube.bit_length() - 1]
    return total


@lru_cache(maxsize=1 << 15)
def _reach(code: int, cubes: int) -> int:
    """Return the set of cubes that the men of one code attack, riders excepted."""
    sets, reach = _ATTACK_SETS[code], 0
    while cubes:
        cube = cubes & -cubes
        cubes ^= cube
        reach |= sets[cube.bit_length() - 1]
    return reach


_ATTACK_SETS: Final = {
    side * BLACK + kind: sets
    for side in (0, 1)
    for kind, sets in (
        (KNIGHT, KNIGHT_SETS),
        (CAPTAIN, CAPTAIN_SETS),
        (JESTER, JESTER_SETS),
        (FOOL, KING_SETS),
        (KING, KING_SETS),
        (PAWN, PAWN_CAPTURE_SETS[side]),
    )
}


def _attacks(men: tuple[int, ...], side: int) -> int:
    """Return the set of cubes that ``side`` attacks, riders excepted."""
    base = side * BLACK
    return (
        _reach(base + KNIGHT, men[base + KNIGHT])
        | _reach(base + CAPTAIN, men[base + CAPTAIN])
        | _reach(base + JESTER, men[base + JESTER])
        | _reach(base + FOOL, men[base + FOOL])
        | _reach(base + KING, men[base + KING])
        | _reach(base + PAWN, men[base + PAWN])
    )


def _riders_at(king: int, men: tuple[int, ...], side: int) -> int:
    """Return how many riders of ``side`` stand on a line with the King on ``king``."""
    base = side * BLACK
    return (
        ROOK_LINES[king] & men[base + ROOK]
        | BISHOP_LINES[king] & men[base + BISHOP]
        | MERCHANT_LINES[king] & men[base + MERCHANT]
    ).bit_count()


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
            weight = NOISY_GAIN + value - VALUES[kind] // 10
        promotion = move & PROMOTION
        if promotion:
            weight = max(weight, NOISY_GAIN) + VALUES[PROMOTION_CODES[promotion]] - VALUES[PAWN]
        return weight

    return [gain(move) for move in moves]


def is_forced(position: Position) -> bool:
    """Return whether the side to move is in check."""
    return king_safety(position).checkers != 0
