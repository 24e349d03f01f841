"""The levels of the opponents: what one may spend and what it fails to see.

Budgets count nodes, never time: the same position, history, level and seed give the same move on every machine and
under every load.
"""

from collections.abc import Mapping
from typing import NamedTuple


class Level(NamedTuple):
    """How strong an opponent is.

    ``nodes`` bounds the positions that a search may visit, ``depth`` the plies that it looks ahead (captures and
    compulsory moves come on top). ``overlooks`` is the share of its own next moves that it does not see, drawn anew at
    every turn; at least one is seen. ``spread`` is the largest whim, in hundredths of the smallest piece, added to each
    of its next moves: it plays any of the moves that differ by less. Certain wins and losses know no whim.
    """

    nodes: int
    depth: int
    overlooks: float
    spread: int


DEEPEST = 64

MAX_GUEST_LEVEL = 5
"""The strongest opponent of a guest: the stronger ones cost most of the time, and guests come without an account."""

LEVELS: Mapping[int, Level] = {
    1: Level(nodes=400, depth=1, overlooks=0.65, spread=500),
    2: Level(nodes=400, depth=1, overlooks=0.50, spread=250),
    3: Level(nodes=600, depth=2, overlooks=0.35, spread=150),
    4: Level(nodes=800, depth=3, overlooks=0.25, spread=80),
    5: Level(nodes=2_000, depth=4, overlooks=0.12, spread=40),
    6: Level(nodes=5_000, depth=5, overlooks=0.04, spread=20),
    7: Level(nodes=10_000, depth=DEEPEST, overlooks=0.0, spread=10),
    8: Level(nodes=24_000, depth=DEEPEST, overlooks=0.0, spread=10),
}
