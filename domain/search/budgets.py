"""The node budgets of the opponents that think for long, and how long they take.

From the budget of level 8 on the budgets grow in equal ratios, in each game up to the nodes that one core visits in ten
minutes in the compiled build. Plain Python offers the levels that it answers in that time.
"""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from domain.build import COMPILED

MAX_SHORT_LEVEL: Final = 8
"""The strongest opponent that answers within seconds."""

MAX_LEVEL: Final = 12
MAX_THINKING_S: Final = 600
"""The seconds that the strongest opponent thinks about a move."""


class Pace(NamedTuple):
    """The nodes per second of one core, in plain Python and compiled, and the budgets of the levels from 9 on."""

    plain: int
    compiled: int
    budgets: Sequence[int]

    @property
    def nodes_per_second(self) -> int:
        """The nodes per second of this build."""
        return self.compiled if COMPILED else self.plain


PACES: Final[Mapping[str, Pace]] = {
    "bashni": Pace(46_000, 130_000, (180_000, 1_350_000, 10_000_000, 75_000_000)),
    "towers": Pace(16_000, 130_000, (180_000, 1_350_000, 10_000_000, 75_000_000)),
    "tower-game": Pace(7_000, 18_000, (81_000, 410_000, 2_100_000, 10_500_000)),
    "fourplay": Pace(6_500, 20_000, (115_000, 540_000, 2_500_000, 12_000_000)),
}
"""The paces by game, as ``make bench ONLY=search`` measures them, with a reserve for the longer searches."""

COMMON_PACE: Final = Pace(5_000, 10_500, (95_000, 380_000, 1_500_000, 6_000_000))
"""The pace of every other game."""


def pace_of(game_id: str) -> Pace:
    """Return the pace of the search in a game."""
    return PACES.get(game_id, COMMON_PACE)


def thinks_long(level: int) -> bool:
    """Return whether an opponent of ``level`` thinks longer than seconds."""
    return level > MAX_SHORT_LEVEL


def long_budget(game_id: str, level: int) -> int:
    """Return the node budget of an opponent of ``level`` (9 to 12); raises IndexError for a higher one."""
    return pace_of(game_id).budgets[level - MAX_SHORT_LEVEL - 1]


def thinking_time_s(game_id: str, nodes: int) -> int:
    """Return the seconds that a search of ``nodes`` takes on one core of this build."""
    return round(nodes / pace_of(game_id).nodes_per_second)


def offered_levels(game_id: str) -> list[int]:
    """Return the levels that this build answers in MAX_THINKING_S."""
    longer = range(MAX_SHORT_LEVEL + 1, MAX_LEVEL + 1)
    return [
        *range(1, MAX_SHORT_LEVEL + 1),
        *(level for level in longer if thinking_time_s(game_id, long_budget(game_id, level)) <= MAX_THINKING_S),
    ]
