"""The opponents: a move is a pure function of game, position, history, level, seed and engine version."""

from domain.search.choose import ENGINE, Choice, accepts_draw, choose, seed_for
from domain.search.levels import LEVELS, Level

__all__ = ["ENGINE", "LEVELS", "Choice", "Level", "accepts_draw", "choose", "seed_for"]
