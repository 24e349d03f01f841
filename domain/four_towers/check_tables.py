"""Lookup tables for the multi-move search: the attackers of the king, and the ways to stop them (rules, section 6.8).

In a multi-move only own pieces move, no piece is captured, and none leaves a tower. The attackers of the king therefore
depend only on its square, on the pieces on towers and on the memory of dragons. These recur in most sequences of
components.
"""

from collections.abc import Iterator
from functools import cache, reduce
from operator import or_
from typing import Final, NamedTuple

from domain.four_towers.attacks import (
    BISHOP,
    BLACK,
    CARDINAL,
    DRAGON,
    KING,
    KNIGHT,
    LANCER,
    MARSHALL,
    PAWN,
    QUEEN,
    ROOK,
    KingAttackers,
    is_shielded,
)
from domain.four_towers.board import (
    DIAGONAL_RAYS,
    LEAPS,
    SQUARE_AT,
    SQUARES,
    TARGET_SHIFT,
    TOWER_SET,
    TOWERS,
    ZONES,
    Rays,
    members_of,
    set_of,
    surface,
)
from domain.four_towers.position import Position, occupied_by

SHIELDS: Final = frozenset((QUEEN, KNIGHT, MARSHALL, CARDINAL))
"""The types that change who attacks a king by coming to a tower."""
LATER_SHIELDS: Final = SHIELDS | {PAWN, LANCER}
"""Those, and the types that can become one of them first."""
_EVERYTHING: Final = ROOK | BISHOP | KNIGHT | KING
"""The fullest memory of a dragon."""

Towers = tuple[int, ...]
"""The piece on each tower."""


@cache
def _lines(kind: int, square: int) -> frozenset[tuple[int, ...]]:
    """Return the lines along which a piece of ``kind`` on ``square`` may move with some pieces on towers."""
    lines: list[tuple[int, ...]] = []
    for tables in map(surface, ZONES):
        if kind in (PAWN, LANCER):
            # A step backward is one forward of the other side.
            lines += (*tables.runs[0][square], *tables.runs[1][square])
        elif kind == KING:
            lines += [(target,) for target in tables.king_steps[square]]
        elif kind & ROOK:
            lines += _swept(tables.rays[square])
    if kind < KING and kind & (BISHOP | KNIGHT):
        # A cardinal on a tower has a simple bishop leap, and a simple knight run.
        lines += _swept(DIAGONAL_RAYS[square])
        lines += [(target,) for target in LEAPS[square]]
    return frozenset(lines)


def _swept(rays: Rays) -> list[tuple[int, ...]]:
    return [tuple(SQUARE_AT[target >> TARGET_SHIFT] for target in ray.targets) for group in rays for ray in group]


@cache
def range_of(kind: int, square: int) -> int:
    """Return the squares that decide where a piece of ``kind`` on ``square`` can move, with any pieces on towers."""
    return set_of([passed for line in _lines(kind, square) for passed in line])


@cache
def squares_with_range_to(kind: int, goals: int) -> int:
    """Return the squares from which a piece of ``kind`` has one of ``goals`` in its range."""
    return set_of([square for square in range(SQUARES) if range_of(kind, square) & goals])


@cache
def paths_to(kind: int, square: int, goals: int) -> frozenset[int]:
    """Return by way the squares that must be vacant for a piece of ``kind`` on ``square`` to reach one of ``goals``."""
    return frozenset(
        set_of(line[: place + 1])
        for line in _lines(kind, square)
        for place, target in enumerate(line)
        if goals >> target & 1
    )


class Attackers(NamedTuple):
    """The attackers of a king on one square: the unblockable ones, and for each other one the squares between."""

    unstoppable: int
    between: tuple[int, ...]


class CheckTables:
    """The attacks on the king of the side to move in one position, on any square and with any pieces on towers."""

    def __init__(self, position: Position) -> None:
        self.position = position
        self.base = position.side * BLACK
        self.enemies = occupied_by(position.men, 1 - position.side)
        white, black = position.memories
        own, other = (white, black) if position.side == 0 else (black, white)
        dragons = position.men[BLACK - self.base + DRAGON]
        self.remembering = bool(dragons and own & ~other)
        """Whether a dragon of the enemy knows something only by the moves of this side."""
        away = [squares & ~TOWER_SET for squares in position.men[self.base : self.base + LANCER + 1]]
        self.arriving = SHIELDS if away[PAWN] | away[LANCER] else {kind for kind in SHIELDS if away[kind]}
        self._attackers_by_king: dict[tuple[int, Towers, int], Attackers] = {}
        self._reliefs: dict[tuple[int, Towers, int], dict[int, int] | None] = {}
        self._refuges: dict[tuple[int, Towers, int, bool], int] = {}
        self._all_lines: dict[tuple[int, Towers], frozenset[int]] = {}

    def attackers(self, king: int, towers: Towers, memory: int) -> Attackers:
        """Return who attacks the own king on ``king`` once its side has shown ``memory`` to dragons."""
        key = (king, towers, memory)
        attackers = self._attackers_by_king.get(key)
        if attackers is None:
            attackers = self._attackers_by_king[key] = self._attackers(king, towers, memory)
        return attackers

    def _attackers(self, king: int, towers: Towers, memory: int) -> Attackers:
        position, side = self.position, self.position.side
        men = [0 if code >> 4 == side else squares for code, squares in enumerate(position.men)]
        for tower, code in zip(TOWERS, towers, strict=True):
            if code and code >> 4 == side:
                men[code] |= 1 << tower
        if is_shielded(men, side, king):
            return Attackers(0, ())
        attackers = KingAttackers(men, king, 1 - side, memory | position.memories[1 - side])
        lines = attackers.lines()
        near = reduce(or_, (1 << source for source, between in lines if not between), 0)
        return Attackers(
            attackers.leaping | attackers.stepping | near, tuple(between for _, between in lines if between)
        )

    def relief(self, king: int, towers: Towers, memory: int) -> dict[int, int] | None:
        """Return by type the towers where a piece that arrives stops an unblockable attacker; None if nothing helps.

        Such an attacker is stopped only by an own piece that comes to a tower. The effects of towers add up: several
        arrivals stop nothing that no single one stops. The memory of dragons only grows with further components.
        """
        key = (king, towers, memory)
        if key not in self._reliefs:
            attackers = remaining = self.attackers(king, towers, memory).unstoppable
            relief: dict[int, int] = {}
            for tower, kind, arrived in self._arrivals(towers) if attackers else ():
                left = self.attackers(king, arrived, memory).unstoppable
                if attackers & ~left:
                    relief[kind] = relief.get(kind, 0) | 1 << tower
                    remaining &= left
            self._reliefs[key] = None if remaining else relief
        return self._reliefs[key]

    def lines(self, king: int, towers: Towers) -> frozenset[int]:
        """Return the squares between the king and each possible attacker, now or with one more piece on a tower."""
        key = (king, towers)
        squares = self._all_lines.get(key)
        if squares is None:
            attacks = [self.attackers(king, towers, _EVERYTHING)]
            attacks += [self.attackers(king, arrived, _EVERYTHING) for _, _, arrived in self._arrivals(towers)]
            squares = self._all_lines[key] = frozenset(
                between for attackers in attacks for between in attackers.between
            )
        return squares

    def _arrivals(self, towers: Towers) -> Iterator[tuple[int, int, Towers]]:
        """Yield each vacant tower, a type that can change something there, and the towers once it has come."""
        for index, code in enumerate(towers):
            for kind in self.arriving if not code else ():
                yield TOWERS[index], kind, (*towers[:index], self.base + kind, *towers[index + 1 :])

    def refuges(self, king: int, towers: Towers, memory: int, at_once: bool = False) -> int:
        """Return the squares one step away where the king may be safe in the end, own pieces disregarded.

        With ``at_once``: where no unblockable attacker attacks it.
        """
        key = (king, towers, memory, at_once)
        refuges = self._refuges.get(key)
        if refuges is None:
            shown = memory | KING
            refuges = self._refuges[key] = set_of(
                [
                    square
                    for square in members_of(range_of(KING, king) & ~self.enemies)
                    if (
                        self.relief(square, towers, shown) == {}
                        if at_once
                        else self.relief(square, towers, shown) is not None
                    )
                ]
            )
        return refuges
