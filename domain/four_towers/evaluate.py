"""Search terms: the evaluation of a position, the order of moves and the noisy moves for the quiescence search."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

from domain.four_towers import weights
from domain.four_towers.attacks import (
    BISHOP,
    BLACK,
    CARDINAL,
    CODES,
    KING,
    KNIGHT,
    LANCER,
    MARSHALL,
    PAWN,
    QUEEN,
    ROOK,
    WIZARD,
)
from domain.four_towers.board import (
    ARENAS,
    COORDINATES,
    DIAGONAL_SOURCES,
    LEAP_SETS,
    PAWN_CAPTURE_SETS,
    SQUARES,
    TOWER_SET,
    members_of,
    set_of,
    surface,
)
from domain.four_towers.legal_moves import generator_of
from domain.four_towers.moves import (
    CAPTURE,
    PROMOTED,
    RETURN,
    Move,
    MultiMove,
    Rearrangement,
    board_after_rearrangement,
    head_of,
    target_of,
)
from domain.four_towers.outcome import in_check, is_drawn
from domain.four_towers.position import Position, occupied_by
from domain.four_towers.weights import CONTROL, HANGING, NEAR_KING, PAWN_THREAT, RIDER_AT_KING, TURN
from domain.game import NOISY_GAIN

VALUES: Final = (
    *(0, weights.ROOK, weights.BISHOP, weights.QUEEN, weights.KNIGHT, weights.MARSHALL, weights.CARDINAL),
    *(weights.WIZARD, 0, weights.DRAGON, weights.PAWN, weights.LANCER),
)
"""By code: hundredths of a pawn."""


def _placed_values() -> tuple[tuple[int, ...], ...]:
    """Return by code (both sides) and square the worth of a piece there: value, centre, tower, advance of pawns."""
    table = []
    for code in range(CODES):
        kind, side = code & 15, code >> 4
        row = []
        for square in range(SQUARES):
            x, y = COORDINATES[square]
            if side:
                x, y = 12 - x, 12 - y
            centre = 10 - abs(x - 6) - abs(y - 6)
            tower = weights.TOWER if TOWER_SET >> square & 1 else 0
            # The board leans: the last squares of all files lie near one line 3y + x.
            advance = max(0, 3 * y + x - 16)
            if kind in (PAWN, LANCER):
                worth = VALUES[kind] + centre // 2 + advance * advance // 4
            elif kind == KING:
                worth = weights.KING_CENTRE * centre + weights.KING_ADVANCE * advance
            else:
                worth = VALUES[kind] + weights.CENTRE * centre + tower if 0 < kind < KING or kind == KING + 1 else 0
            row.append(-worth if side else worth)
        table.append(tuple(row) if 0 < kind <= LANCER else (0,) * SQUARES)
    return tuple(table)


PLACED: Final = _placed_values()
"""By code and square, good for White: the worth of the piece there."""


def evaluate(position: Position, seat: int) -> int:
    """Return how good the position looks for ``seat``, in hundredths of a pawn; zero-sum."""
    men, side = position.men, position.side
    white, black = occupied_by(men, 0), occupied_by(men, 1)
    white_king, black_king = men[KING].bit_length() - 1, men[BLACK + KING].bit_length() - 1
    by_white_pawns, by_black_pawns = _reach(PAWN, men[PAWN]), _reach(BLACK + PAWN, men[BLACK + PAWN])
    by_white, by_black = by_white_pawns | _leaps(men, 0), by_black_pawns | _leaps(men, BLACK)
    by_white_king, by_black_king = _KING_STEPS[white_king], _KING_STEPS[black_king]
    total = _worth(men, 0) + _worth(men, BLACK) + (-TURN if side else TURN)
    total += (
        CONTROL * ((by_white | by_white_king).bit_count() - (by_black | by_black_king).bit_count())
        + NEAR_KING * ((by_white & by_black_king).bit_count() - (by_black & by_white_king).bit_count())
        + RIDER_AT_KING * (_riders_at(black_king, men, 0) - _riders_at(white_king, men, BLACK))
        + HANGING
        * (
            (by_white & black & ~(by_black | by_black_king)).bit_count()
            - (by_black & white & ~(by_white | by_white_king)).bit_count()
        )
        + PAWN_THREAT
        * (
            (by_white_pawns & black & ~men[BLACK + PAWN]).bit_count()
            - (by_black_pawns & white & ~men[PAWN]).bit_count()
        )
    )
    code = position.returning[0]
    if code:
        total += -VALUES[code - BLACK] if code > BLACK else VALUES[code]
    return total if seat == 0 else -total


def _worth(men: tuple[int, ...], base: int) -> int:
    """Return the worth of the pieces of a side where they stand, good for White; codes count from ``base``."""
    worth = 0
    for code in range(base + ROOK, base + LANCER + 1):
        squares = men[code]
        if squares:
            worth += _placed(code, squares)
    return worth


# A move changes the sets of one or two kinds of pieces: the terms of the others are looked up.


@lru_cache(maxsize=1 << 15)
def _placed(code: int, squares: int) -> int:
    """Return the worth of the pieces of one code where they stand, good for White."""
    row = PLACED[code]
    return sum(row[square] for square in members_of(squares))


@lru_cache(maxsize=1 << 15)
def _reach(code: int, squares: int) -> int:
    """Return the set of squares that the pawns of one code capture on, or to which knights leap."""
    sets, reach = _ATTACK_SETS[code], 0
    for square in members_of(squares):
        reach |= sets[square]
    return reach


_ATTACK_SETS: Final = {KNIGHT: LEAP_SETS, PAWN: PAWN_CAPTURE_SETS[0], BLACK + PAWN: PAWN_CAPTURE_SETS[1]}
_KING_STEPS: Final = tuple(map(set_of, surface(0).king_steps))
"""Towers that hold knights change the steps of kings: that is disregarded here."""


def _leaps(men: tuple[int, ...], base: int) -> int:
    """Return the set of squares to which pieces with a knight in them leap; codes count from ``base``."""
    return _reach(KNIGHT, men[base + KNIGHT] | men[base + MARSHALL] | men[base + CARDINAL] | men[base + WIZARD])


def _riders_at(king: int, men: tuple[int, ...], base: int) -> int:
    """Return how many pieces that ride stand on a line with the king on ``king``; codes count from ``base``."""
    orthogonal = men[base + ROOK] | men[base + MARSHALL]
    diagonal = men[base + BISHOP] | men[base + CARDINAL]
    both = men[base + QUEEN] | men[base + WIZARD]
    return (_ROOK_SOURCES[king] & (orthogonal | both) | DIAGONAL_SOURCES[king] & (diagonal | both)).bit_count()


_ROOK_SOURCES: Final = surface(0).rook_sources


def gains(position: Position, moves: Iterable[Move]) -> list[int]:
    """Return weights: captures of valuable pieces by cheap ones first, promotions and returns, then steps forward."""
    board = position.board
    base = position.side * BLACK
    sign = 1 - 2 * position.side

    def gain(move: Move) -> int:
        if not isinstance(move, int):
            return gain_of_compound_move(position, move)
        _, part, origin, mark = head_of(move)
        target = target_of(move)
        if mark == RETURN:
            return NOISY_GAIN + sign * PLACED[base + part][target]
        kind = part or board[origin] & 15
        placed = PLACED[base + kind]
        weight = sign * (placed[target] - placed[origin])
        if mark == CAPTURE:
            weight = NOISY_GAIN + (VALUES[board[target] & 15] or VALUES[PAWN]) - VALUES[kind] // 10
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
    return () if is_drawn(position) else generator_of(position).noisy_moves()


def is_forced(position: Position) -> bool:
    """Return whether the side to move is in check and the game goes on."""
    return in_check(position) and not is_drawn(position)
