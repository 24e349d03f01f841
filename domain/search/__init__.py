"""The opponents: a move is a pure function of game, position, history, level, seed and engine version."""

from domain.search.analyse import Analysis, JudgedMove, analyse
from domain.search.choose import (
    ENGINE_VERSION,
    LEVELS,
    Level,
    accepts_draw,
    choose,
    moves_seen,
    node_budget,
    seed_for,
    strength_of,
)
from domain.search.negamax import Choice
from domain.search.proof import ProvenWin, prove

__all__ = [
    "ENGINE_VERSION", "LEVELS", "Analysis", "Choice", "JudgedMove", "Level", "ProvenWin", "accepts_draw", "analyse",
    "choose", "moves_seen", "node_budget", "prove", "seed_for", "strength_of",
]  # fmt: skip
