"""Search terms: the evaluation of a position, the order of moves and the noisy moves for the quiescence search."""

from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise
from typing import Final

from domain.bashni.board import BETWEEN, BOARD, LAST_ROWS, LETTERS, MAX_HALFMOVE_CLOCK, NUMBERS, RANKS, Move
from domain.bashni.moves import capturers, victims
from domain.bashni.position import Position
from domain.bashni.weights import (
    ADVANCE,
    BACK_ROW,
    FADING_PLIES,
    HANGING,
    KING,
    MAN,
    NEXT_PRISONER,
    PRISONER_KING,
    PRISONER_MAN,
    RESERVE_KING,
    RESERVE_MAN,
    STEPS,
    TURN,
)
from domain.game import NOISY_GAIN

CROWNING: Final = 150
FREEING: Final = 80
"""The gains of a capture beside the column itself, for the order of moves."""

_BITS: Final = tuple(1 << square for square in range(NUMBERS))
AHEAD: Final = tuple((weight, sum(RANKS[row:7]), sum(RANKS[1 : 8 - row])) for row, weight in enumerate(ADVANCE, 3))
"""The rows from the fourth, fifth, sixth and seventh on, the last one excepted, with their weight, by seat."""


def evaluate(position: Position, seat: int) -> int:
    """Return how good the position looks for ``seat``, in hundredths of a single man; zero-sum."""
    white, black, kings, below, side, halfmove_clock = position
    empty = BOARD ^ (white | black)
    white_men, black_men = white & ~kings, black & ~kings
    worth = (
        MAN * (white_men.bit_count() - black_men.bit_count())
        + KING * ((white & kings).bit_count() - (black & kings).bit_count())
        + BACK_ROW * ((white_men & LAST_ROWS[1]).bit_count() - (black_men & LAST_ROWS[0]).bit_count())
        + STEPS
        * ((white_men & (empty << 4 | empty >> 5)).bit_count() - (black_men & (empty << 5 | empty >> 4)).bit_count())
    )
    for weight, white_rows, black_rows in AHEAD:
        worth += weight * ((white_men & white_rows).bit_count() - (black_men & black_rows).bit_count())
    for bit, letters in zip(_BITS, below, strict=True):
        if letters:
            worth += _beneath(letters, 0) if white & bit else -_beneath(letters, 1)
    own, enemy = (black, white) if side else (white, black)
    hanging = _capturable(own, enemy, enemy & kings, empty).bit_count()
    turn = TURN + (HANGING[0] + HANGING[1] * (hanging - 1) if hanging else 0)
    worth += -turn if side else turn
    # Rounded towards zero, so that both colours are judged alike.
    faded = abs(worth) * (FADING_PLIES - halfmove_clock) // FADING_PLIES
    return faded if (worth > 0) == (seat == 0) else -faded


def _capturable(own: int, enemy: int, enemy_kings: int, empty: int) -> int:
    """Return the columns of ``own`` that the enemy could capture if it were to move, as a set (section 5.1)."""
    men = enemy ^ enemy_kings
    hanging = own & (men << 5 & empty >> 5 | men >> 5 & empty << 5 | men << 4 & empty >> 4 | men >> 4 & empty << 4)
    while enemy_kings:
        bit = enemy_kings & -enemy_kings
        enemy_kings ^= bit
        hanging |= victims(bit.bit_length() - 1, own | enemy, own)
    return hanging


@lru_cache(maxsize=1 << 16)
def _beneath(letters: str, owner: int) -> int:
    """Return the worth of the pieces under a commander to its owner: its reserves above, its prisoners below."""
    own_man, own_king = LETTERS[owner]
    men, kings = letters.count(own_man), letters.count(own_king)
    reserves = men + kings
    worth = 0
    if reserves:
        first_is_king = letters[0] == own_king
        worth += RESERVE_KING[0] if first_is_king else RESERVE_MAN[0]
        worth += RESERVE_MAN[1] * (men - (not first_is_king)) + RESERVE_KING[1] * (kings - first_is_king)
    if reserves < len(letters):
        guards = min(reserves, 2)
        enemy_man, enemy_king = LETTERS[1 - owner]
        worth += NEXT_PRISONER[guards]
        worth += PRISONER_MAN[guards] * letters.count(enemy_man) + PRISONER_KING[guards] * letters.count(enemy_king)
    return worth


def gains(position: Position, moves: Iterable[Move]) -> list[int]:
    """Return the worth of the columns that each move captures or crowns; one jumped twice (ruleset 2) counts once."""
    kings, below, side = position.kings, position.below, position.side
    enemy = position.white if side else position.black
    last_row = LAST_ROWS[side]

    def gain(move: Move) -> int:
        gained = 0
        if not kings >> move[0] & 1 and any(last_row >> square & 1 for square in move[1:]):
            gained += CROWNING
        jumped = 0
        for square, landing in pairwise(move):
            victim = BETWEEN[square][landing] & enemy & ~jumped
            if victim:
                gained += 0 if jumped else NOISY_GAIN
                jumped |= victim
                gained += KING if kings & victim else MAN
                rest = below[victim.bit_length() - 1]
                if rest and rest[0] in LETTERS[side]:
                    gained += FREEING
        return gained

    return [gain(move) for move in moves]


def is_forced(position: Position) -> bool:
    """Return whether the player must capture (section 4)."""
    own, enemy = (position.black, position.white) if position.side else (position.white, position.black)
    return position.halfmove_clock < MAX_HALFMOVE_CLOCK and capturers(own, enemy, position.kings) != 0
