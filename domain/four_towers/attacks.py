"""Attacks on kings, and how the pieces on towers change them (rules, sections 4.1, 5.1 and 6.5)."""

from collections.abc import Sequence
from typing import Final

from domain.four_towers.board import (
    DIAGONAL_BETWEEN,
    DIAGONAL_SOURCES,
    LEAP_SETS,
    PAWN_SOURCES,
    TOWER_SET,
    ZONES,
    members_of,
    surface,
)

ROOK: Final = 1
BISHOP: Final = 2
QUEEN: Final = 3
KNIGHT: Final = 4
MARSHALL: Final = 5
CARDINAL: Final = 6
WIZARD: Final = 7
"""A piece made of components has their union as its code: rook 1, bishop 2, knight 4."""
KING: Final = 8
DRAGON: Final = 9
PAWN: Final = 10
LANCER: Final = 11
BLACK: Final = 16
"""Added to a White piece's code to make it Black's. Code 0 is an empty square."""
CODES: Final = 28
FREE: Final = frozenset((ROOK, KNIGHT, MARSHALL))
"""The types whose captures a marshall restricts (section 5.1)."""

Sets = Sequence[int]


def on_towers(men: Sets, kind: int) -> int:
    """Return the set of towers that hold a piece of ``kind``, of either colour."""
    return (men[kind] | men[kind + BLACK]) & TOWER_SET


class KingAttackers:
    """The enemies that could attack one king, by how they move; the king's own side is ``1 - by``.

    ``imitated`` is the union of both dragon memories, as components with the king's step as 8.
    """

    __slots__ = ("by", "diagonal", "king", "leaping", "men", "orthogonal", "stepping", "surface")

    def __init__(self, men: Sets, king: int, by: int, imitated: int) -> None:
        base = by << 4
        knight_towers = (men[KNIGHT] | men[KNIGHT + BLACK]) & TOWER_SET
        marshalls = (men[MARSHALL] | men[MARSHALL + BLACK]) & TOWER_SET
        cardinals = (men[CARDINAL] | men[CARDINAL + BLACK]) & TOWER_SET
        rooks, bishops, knights, both = men[base + 1], men[base + 2], men[base + 4], men[base + 5]
        if marshalls:
            # F pieces give no check from or into the zone [FT-14].
            zone = ZONES[marshalls]
            if zone >> king & 1:
                rooks = knights = both = 0
            else:
                rooks, knights, both = rooks & ~zone, knights & ~zone, both & ~zone
        if cardinals:
            zone = ZONES[cardinals]
            bishops, knights = bishops & ~zone | knights & zone, knights & ~zone | bishops & zone
        queens, cardinals, wizards = men[base + 3], men[base + 6], men[base + 7]
        kings, dragons = men[base + KING], men[base + DRAGON]
        orthogonal = rooks | both | queens | wizards
        diagonal = bishops | queens | cardinals | wizards
        leaping = knights | both | cardinals | wizards
        stepping = kings
        if dragons and imitated:
            if imitated & ROOK:
                orthogonal |= dragons
            if imitated & BISHOP:
                diagonal |= dragons
            if imitated & KNIGHT:
                leaping |= dragons
            if imitated & KING:
                stepping |= dragons
        if kings & TOWER_SET:
            orthogonal |= kings
            diagonal |= kings
        self.men = men
        self.king = king
        self.by = by
        self.surface = surface(knight_towers)
        self.orthogonal = orthogonal & self.surface.rook_sources[king]
        self.diagonal = diagonal & DIAGONAL_SOURCES[king]
        self.leaping = leaping & LEAP_SETS[king]
        self.stepping = stepping & self.surface.king_sources[king] | men[base + PAWN] & PAWN_SOURCES[by][king]

    def give_check(self, occupied: int) -> bool:
        """Return whether the king is attacked while pieces stand on ``occupied``."""
        if self.leaping or self.stepping:
            return True
        king, by = self.king, self.by
        if self.orthogonal:
            between = self.surface.rook_between[king]
            for source in members_of(self.orthogonal):
                if not between[source] & occupied:
                    return True
        if self.diagonal:
            between = DIAGONAL_BETWEEN[king]
            for source in members_of(self.diagonal):
                if not between[source] & occupied:
                    return True
        lancers = self.men[(by << 4) + LANCER] & self.surface.lancer_sources[by][king]
        if lancers:
            between = self.surface.lancer_between[by][king]
            for source in members_of(lancers):
                if not between[source] & occupied:
                    return True
        return False

    def lines(self) -> list[tuple[int, int]]:
        """Return the attackers that could be blocked, each with the set of squares between it and the king."""
        king, by = self.king, self.by
        between = self.surface.rook_between[king]
        lines = [(source, between[source]) for source in members_of(self.orthogonal)]
        between = DIAGONAL_BETWEEN[king]
        lines += [(source, between[source]) for source in members_of(self.diagonal)]
        between = self.surface.lancer_between[by][king]
        lancers = self.men[(by << 4) + LANCER] & self.surface.lancer_sources[by][king]
        return lines + [(source, between[source]) for source in members_of(lancers)]


def is_shielded(men: Sets, side: int, king: int) -> bool:
    """Return whether a queen of ``side`` on a tower keeps its king on ``king`` from every check (section 6.5)."""
    queens = men[(side << 4) + QUEEN] & TOWER_SET
    return bool(queens) and bool(ZONES[queens] >> king & 1)


def king_in_check(men: Sets, side: int, imitated: int, occupied: int) -> bool:
    """Return whether the king of ``side`` is in check (section 4, no. 3)."""
    king = men[(side << 4) + KING].bit_length() - 1
    return not is_shielded(men, side, king) and KingAttackers(men, king, 1 - side, imitated).give_check(occupied)
