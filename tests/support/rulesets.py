"""All rulesets of all games by name, for tests that every one of them has to pass."""

from typing import Any

from domain import games
from domain.game import Game

RULESETS: dict[str, Game[Any, Any]] = {
    f"{game.id}-{game.ruleset}": game for rulesets in games.RULESETS.values() for game in rulesets
}
"""By names such as ``bashni-2``."""
