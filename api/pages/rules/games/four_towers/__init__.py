"""The figures of the page of Four Towers."""

from api.pages.rules.figure import Figure
from api.pages.rules.games.four_towers import ending, moves, rare_moves, tower_effects
from api.pages.rules.games.four_towers.claims import Only

_SHOWN = (*moves.SHOWN, *rare_moves.SHOWN, *tower_effects.SHOWN, *ending.SHOWN)

FIGURES: tuple[Figure, ...] = tuple(figure for figure, _ in _SHOWN)
ONLY: dict[str, tuple[Only, ...]] = {figure.id: only for figure, only in _SHOWN if only}
"""The claims of each figure about all moves of some kinds."""
