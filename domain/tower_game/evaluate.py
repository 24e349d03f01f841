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
    RANKS,
    ROOK_LINES,
    SIDE,
)
from domain.tower_game.moves import CAPTURE, PROMOTION, PROMOTION_CODES, king_safety, origin_of, target_of
from domain.tower_game.position import BISHOP, BLACK, KING, MERCHANT, PAWN, ROOK, Position, occupied
from domain.tower_game.weights import (
    CONTROL,
    ESCAPE_TAKEN,
    HANGING,
    KINGS_CLOSE,
    NEAR_KING,
    PAWN_THREAT,
    RIDER_AT_KING,
    TURN,
)

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

MAX_DRIVEN_MEN: Final = 4
"""A side with so few men, its King among them, is driven to mate."""
MIN_DRIVING_LEAD: Final = 300
"""The lead with which a side drives the other to mate, in hundredths of a Pawn."""
_LINES: Final = ((ROOK, ROOK_LINES), (BISHOP, BISHOP_LINES), (MERCHANT, MERCHANT_LINES))
_MAX_ESCAPES: Final = 26
_MAX_DISTANCE: Final = 15


def evaluate(position: Position, seat: int) -> int:
    """Return how good the position looks for ``seat``, in hundredths of a Pawn; zero-sum."""
    men, side = position.men, position.side
    white, black = occupied(men, 0), occupied(men, 1)
    white_king, black_king = men[KING].bit_length() - 1, men[BLACK + KING].bit_length() - 1
    white_worth, by_white, by_white_pawns = _terms_of_side(men, 0)
    black_worth, by_black, by_black_pawns = _terms_of_side(men, BLACK)
    total = white_worth + black_worth + (-TURN if side else TURN)
    total += (
        CONTROL * (by_white.bit_count() - by_black.bit_count())
        + NEAR_KING * ((by_white & KING_SETS[black_king]).bit_count() - (by_black & KING_SETS[white_king]).bit_count())
        + RIDER_AT_KING * (_riders_at(black_king, men, 0) - _riders_at(white_king, men, BLACK))
        + HANGING * ((by_white & black & ~by_black).bit_count() - (by_black & white & ~by_white).bit_count())
        + PAWN_THREAT
        * (
            (by_white_pawns & black & ~men[BLACK + PAWN]).bit_count()
            - (by_black_pawns & white & ~men[PAWN]).bit_count()
        )
    )
    lead = white_worth + black_worth
    if lead >= MIN_DRIVING_LEAD and black.bit_count() <= MAX_DRIVEN_MEN:
        total += _drive(men, 0, by_white, white_king, black_king)
    elif -lead >= MIN_DRIVING_LEAD and white.bit_count() <= MAX_DRIVEN_MEN:
        total -= _drive(men, BLACK, by_black, black_king, white_king)
    return total if seat == 0 else -total


def _terms_of_side(men: tuple[int, ...], base: int) -> tuple[int, int, int]:
    """Return the terms of all men of a side, and the set of cubes that its Pawns attack; codes count from ``base``."""
    king = men[base + KING].bit_length() - 1
    worth, attacks = _PLACED[base + KING][king], KING_SETS[king]
    for code in range(base + ROOK, base + PAWN):
        cubes = men[code]
        if cubes:
            placed, reach = _terms(code, cubes)
            worth += placed
            attacks |= reach
    placed, by_pawns = _terms(base + PAWN, men[base + PAWN])
    return worth + placed, attacks | by_pawns, by_pawns


# A move changes the sets of one or two kinds of men: the terms of the others are looked up.


@lru_cache(maxsize=1 << 15)
def _terms(code: int, cubes: int) -> tuple[int, int]:
    """Return the worth of the men of one code, good for White, and the set of cubes that they attack (riders: none)."""
    row, sets = _PLACED[code], _ATTACK_SETS[code]
    worth = reach = 0
    while cubes:
        cube = cubes & -cubes
        cubes ^= cube
        number = cube.bit_length() - 1
        worth += row[number]
        reach |= sets[number]
    return worth, reach


_NO_ATTACKS: Final = tuple([0] * CUBES)
_ATTACK_SETS: Final = (
    *(_NO_ATTACKS, KING_SETS, _NO_ATTACKS, _NO_ATTACKS, _NO_ATTACKS),
    *(KNIGHT_SETS, CAPTAIN_SETS, JESTER_SETS, KING_SETS, PAWN_CAPTURE_SETS[0]),
    *(KING_SETS, _NO_ATTACKS, _NO_ATTACKS, _NO_ATTACKS),
    *(KNIGHT_SETS, CAPTAIN_SETS, JESTER_SETS, KING_SETS, PAWN_CAPTURE_SETS[1]),
)
"""By code and cube; the Fool steps as a King does."""


def _riders_at(king: int, men: tuple[int, ...], base: int) -> int:
    """Return how many riders stand on a line with the King on ``king``; codes count from ``base``."""
    return (
        ROOK_LINES[king] & men[base + ROOK]
        | BISHOP_LINES[king] & men[base + BISHOP]
        | MERCHANT_LINES[king] & men[base + MERCHANT]
    ).bit_count()


def _drive(men: tuple[int, ...], base: int, attacks: int, own_king: int, king: int) -> int:
    """Return how near to mate a side drives the ``king`` of one with few men left; codes count from ``base``.

    Its own King is to come near, wherever that is.
    """
    for code, lines in _LINES:
        cubes = men[base + code]
        while cubes:
            cube = cubes & -cubes
            cubes ^= cube
            attacks |= lines[cube.bit_length() - 1]
    escapes = (KING_SETS[king] & ~attacks).bit_count()
    placed = _PLACED[base + KING][own_king]
    return (
        ESCAPE_TAKEN * (_MAX_ESCAPES - escapes)
        + KINGS_CLOSE * (_MAX_DISTANCE - _distance(own_king, king))
        + (placed if base else -placed)
    )


def _distance(one: int, other: int) -> int:
    """Return how many cubes lie between two, counted along the columns, the rows and the ranks."""
    file, z = divmod(one, RANKS)
    other_file, other_z = divmod(other, RANKS)
    return abs(file // SIDE - other_file // SIDE) + abs(file % SIDE - other_file % SIDE) + abs(z - other_z)


def gains(position: Position, moves: Iterable[int]) -> list[int]:
    """Return weights: captures of valuable men by cheap ones first, then promotions, then steps to better cubes."""
    board, sign = position.board, 1 if position.side == 0 else -1
    gained = []
    for move in moves:
        origin, target = origin_of(move), target_of(move)
        code = board[origin]
        placed = _PLACED[code]
        weight = sign * (placed[target] - placed[origin])
        if move & CAPTURE:
            value = VALUES[_kind(board[target])] or VALUES[PAWN]
            weight = NOISY_GAIN + value - VALUES[_kind(code)] // 10
        promotion = move & PROMOTION
        if promotion:
            weight = max(weight, NOISY_GAIN) + VALUES[PROMOTION_CODES[promotion]] - VALUES[PAWN]
        gained.append(weight)
    return gained


def _kind(code: int) -> int:
    """Return the code that a White man of the kind has."""
    return code - BLACK if code > BLACK else code


def is_forced(position: Position) -> bool:
    """Return whether the side to move is in check."""
    return king_safety(position).checkers != 0
