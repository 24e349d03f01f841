"""Search terms: the evaluation of a position, the order of moves and the noisy moves for the quiescence search."""

from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise

from domain.bashni.board import BETWEEN, BOARD, LAST_ROWS, LETTERS, MAX_HALFMOVE_CLOCK, NUMBERS, RANKS, Move
from domain.bashni.moves import capturers
from domain.bashni.position import Position
from domain.game import NOISY_GAIN

# All weights are in hundredths of a single man.
MAN = 100
KING = 300
_RESERVES = {"man": 60, "king": 130}
_PRISONERS = {"man": 60, "king": 140}
_ADVANCED = (
    (RANKS[3] | RANKS[4] | RANKS[5] | RANKS[6], RANKS[1] | RANKS[2] | RANKS[3] | RANKS[4]),
    (RANKS[4] | RANKS[5] | RANKS[6], RANKS[1] | RANKS[2] | RANKS[3]),
    (RANKS[5] | RANKS[6], RANKS[1] | RANKS[2]),
    (RANKS[6], RANKS[1]),
)
"""The men on their fourth row or beyond, on their fifth or beyond ..., by seat."""

_ADVANCE = 12
_BACK_ROW = 8
_MOBILITY = 3
_CROWNING = 150
_FREEING = 80
_BITS = tuple(1 << square for square in range(NUMBERS))


def evaluate(position: Position, seat: int) -> int:
    """Return how good the position looks for ``seat``, in hundredths of a single man; zero-sum."""
    white, black, kings, below, _, _ = position
    empty = BOARD ^ (white | black)
    white_men, black_men = white & ~kings, black & ~kings
    worth = (
        MAN * (white_men.bit_count() - black_men.bit_count())
        + KING * ((white & kings).bit_count() - (black & kings).bit_count())
        + _BACK_ROW * ((white_men & LAST_ROWS[1]).bit_count() - (black_men & LAST_ROWS[0]).bit_count())
        + _MOBILITY
        * ((white_men & (empty << 4 | empty >> 5)).bit_count() - (black_men & (empty << 5 | empty >> 4)).bit_count())
    )
    for white_rows, black_rows in _ADVANCED:
        worth += _ADVANCE * ((white_men & white_rows).bit_count() - (black_men & black_rows).bit_count())
    for bit, letters in zip(_BITS, below, strict=True):
        if letters:
            worth += _beneath(letters, 0) if white & bit else -_beneath(letters, 1)
    return -worth if seat else worth


@lru_cache(maxsize=1 << 16)
def _beneath(letters: str, owner: int) -> int:
    """Return the worth of the pieces under a commander to its owner.

    Own pieces are reserves: they command when the one above is captured. A prisoner is worth the more, the more
    captures it takes to set it free; right under a lone commander it counts half.
    """
    own = LETTERS[owner]
    worth = 0
    for depth, letter in enumerate(letters, start=1):
        rank = "king" if letter.isupper() else "man"
        if letter in own:
            worth += _RESERVES[rank]
        else:
            worth += _PRISONERS[rank] - (_PRISONERS[rank] >> depth)
    return worth


def gains(position: Position, moves: Iterable[Move]) -> list[int]:
    """Return the worth of the columns that each move captures or crowns; one jumped twice (ruleset 2) counts once."""
    kings, below, side = position.kings, position.below, position.side
    enemy = position.white if side else position.black
    last_row = LAST_ROWS[side]

    def gain(move: Move) -> int:
        gained = 0
        if not kings >> move[0] & 1 and any(last_row >> square & 1 for square in move[1:]):
            gained += _CROWNING
        jumped = 0
        for square, landing in pairwise(move):
            victim = BETWEEN[square][landing] & enemy & ~jumped
            if victim:
                gained += 0 if jumped else NOISY_GAIN
                jumped |= victim
                gained += KING if kings & victim else MAN
                rest = below[victim.bit_length() - 1]
                if rest and rest[0] in LETTERS[side]:
                    gained += _FREEING
        return gained

    return [gain(move) for move in moves]


def is_forced(position: Position) -> bool:
    """Return whether the player must capture (section 4)."""
    own, enemy = (position.black, position.white) if position.side else (position.white, position.black)
    return position.halfmove_clock < MAX_HALFMOVE_CLOCK and capturers(own, enemy, position.kings) != 0
