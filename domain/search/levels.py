"""The levels of the opponents: their node budgets, depths and deliberate errors.

Budgets count nodes, never time: the same position, history, level and seed give the same move on every machine and
under every load.
"""

from collections.abc import Mapping
from typing import NamedTuple


class Level(NamedTuple):
    """How strong an opponent is.

    ``nodes`` is the node budget of a search, ``depth`` the plies that it looks ahead (captures and compulsory moves
    come on top). ``blunder_rate`` is the share of its own next moves that it overlooks, drawn again at every turn; it
    always sees at least one. ``noise_amplitude`` is the largest noise, in hundredths of the smallest piece, that is
    added to the value of each of its next moves: it may play any move whose value is within that of the best. Certain
    wins and losses get no noise.
    """

    nodes: int
    depth: int
    blunder_rate: float
    noise_amplitude: int


MAX_DEPTH = 64

MAX_GUEST_LEVEL = 5
"""The strongest opponent of a guest: stronger ones cost the most time, and guests need no account."""

LEVELS: Mapping[int, Level] = {
    1: Level(nodes=400, depth=1, blunder_rate=0.65, noise_amplitude=500),
    2: Level(nodes=400, depth=1, blunder_rate=0.50, noise_amplitude=250),
    3: Level(nodes=600, depth=2, blunder_rate=0.35, noise_amplitude=150),
    4: Level(nodes=800, depth=3, blunder_rate=0.25, noise_amplitude=80),
    5: Level(nodes=2_000, depth=4, blunder_rate=0.12, noise_amplitude=40),
    6: Level(nodes=5_000, depth=5, blunder_rate=0.04, noise_amplitude=20),
    7: Level(nodes=10_000, depth=MAX_DEPTH, blunder_rate=0.0, noise_amplitude=10),
    8: Level(nodes=24_000, depth=MAX_DEPTH, blunder_rate=0.0, noise_amplitude=10),
}
