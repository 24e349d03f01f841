"""The captures of Bashni in machine integers, for the search (section 5).

Sets of squares are those of ``board``. The pieces under a commander are an integer as in ``native``, which is made of
this module.
"""

from typing import Final

from domain.bashni.board import BOARD, LAST_ROWS, Move
from domain.machine_integers import i64
from domain.square_sets import set_of, square_of

NOTHING: Final = 1
"""No pieces under a commander."""

_STEPS: Final[list[int]] = [-5, -4, 4, 5]
_BOARD: Final[i64] = BOARD
_LAST_ROWS: Final[list[int]] = list(LAST_ROWS)


def capturers(own: i64, enemy: i64, kings: i64) -> i64:
    """Return the columns of ``own`` that can capture, as a set (section 5.1)."""
    empty = _BOARD & ~(own | enemy)
    crowned = own & kings
    jumpers = (own ^ crowned) & (
        enemy >> 5 & empty >> 10 | enemy >> 4 & empty >> 8 | enemy << 4 & empty << 8 | enemy << 5 & empty << 10
    )
    while crowned:
        bit = crowned & -crowned
        crowned ^= bit
        if victims(square_of(bit), empty, enemy):
            jumpers |= bit
    return jumpers


def reach(square: i64, empty: i64) -> i64:
    """Return the empty squares that a king on ``square`` can go to, as a set."""
    reach: i64 = 0
    for step in _STEPS:
        there = square + step
        while there >= 0 and empty >> there & 1:
            reach |= set_of(there)
            there += step
    return reach


def victims(square: i64, empty: i64, enemy: i64) -> i64:
    """Return the columns of ``enemy`` that a king on ``square`` can jump, as a set (section 5.1)."""
    jumpable: i64 = 0
    for step in _STEPS:
        there = square + step
        while there >= 0 and empty >> there & 1:
            there += step
        beyond = there + step
        if there >= 0 and beyond >= 0 and enemy >> there & 1 and empty >> beyond & 1:
            jumpable |= set_of(there)
    return jumpable


def capturable(own: i64, enemy: i64, enemy_kings: i64, empty: i64) -> i64:
    """Return the columns of ``own`` that the enemy could capture if it were to move, as a set (section 5.1)."""
    men = enemy ^ enemy_kings
    hanging = own & (men << 5 & empty >> 5 | men >> 5 & empty << 5 | men << 4 & empty >> 4 | men >> 4 & empty << 4)
    while enemy_kings:
        bit = enemy_kings & -enemy_kings
        enemy_kings ^= bit
        hanging |= victims(square_of(bit), empty, own)
    return hanging


class Captures:
    """The captures of a position: the path so far, the columns as it has left them, and the moves that were found."""

    def __init__(self, side: i64, kings: i64, own: i64, enemy: i64, below: list[int], again: bool) -> None:
        self.side = side
        self.kings = kings
        self.own = own
        self.enemy = enemy
        self.below = below
        self.again = again
        self.path: list[int] = []
        self.moves: list[Move] = []

    def all_with(self, jumpers: i64) -> list[Move]:
        """Return the captures with the columns ``jumpers``."""
        while jumpers:
            bit = jumpers & -jumpers
            jumpers ^= bit
            square = square_of(bit)
            self.path.append(square)
            empty = _BOARD & ~(self.own | self.enemy) | bit
            self._add(square, self.kings & bit != 0, empty, self.enemy, 0)
            self.path.pop()
        if len(self.moves) > 1:
            self.moves.sort()
        return self.moves

    def _add(self, square: i64, king: bool, empty: i64, enemy: i64, spared: i64) -> bool:
        """Add the captures that go on from the path with a column on ``square``; return whether there are any.

        ``spared`` is the column jumped last, if it may be jumped again later.
        """
        captured = False
        for step in _STEPS:
            victim = square + step
            while king and victim >= 0 and empty >> victim & 1:
                victim += step
            landing = victim + step
            if victim < 0 or landing < 0 or not enemy >> victim & 1 or not empty >> landing & 1:
                continue
            captured = True

            # The rest of a tower stays in the way, a single piece is gone at once (BA-01).
            bit: i64 = set_of(victim)
            rest: i64 = self.below[victim]
            then_empty = empty | bit if rest == NOTHING else empty
            then_enemy = enemy ^ bit
            then_spared: i64 = 0
            # In ruleset 2 the rest of the tower jumped before this one may be jumped again, unless it is freed (BA-13).
            if self.again:
                then_enemy |= spared
                if rest != NOTHING:
                    self.below[victim] = rest >> 2
                    if rest & 1 != self.side:
                        then_spared = bit
            self._land(landing, step, king, then_empty, then_enemy, then_spared, empty)
            if self.again:
                self.below[victim] = rest
        return captured

    def _land(self, landing: i64, step: i64, king: bool, empty: i64, enemy: i64, spared: i64, before: i64) -> None:
        """Add the captures that land behind a column; a king must land where it can go on, if it can anywhere."""
        went_on = False
        last = landing
        while True:
            crowned = king or _LAST_ROWS[self.side] >> last & 1 != 0
            self.path.append(last)
            if self._add(last, crowned, empty, enemy, spared):
                went_on = True
            self.path.pop()
            last += step
            if not king or last < 0 or not before >> last & 1:
                break
        if not went_on:
            while landing != last:
                self.path.append(landing)
                self.moves.append(tuple(self.path))
                self.path.pop()
                landing += step
