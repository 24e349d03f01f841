"""The register of all games and their rulesets: the only place that knows which exist."""

from typing import Any

from domain import bashni, four_towers, fourplay, tower_game, towers
from domain.game import Game

GAMES: dict[str, Game[Any, Any]] = {
    game.id: game for game in (bashni.GAME, towers.GAME, tower_game.GAME, fourplay.GAME, four_towers.GAME)
}
"""The games, each with the ruleset that a new match gets when none is asked for."""

RULESETS: dict[str, tuple[Game[Any, Any], ...]] = {
    **{id: (game,) for id, game in GAMES.items()},
    bashni.GAME.id: bashni.RULESETS,
}
"""All rulesets of every game, in the order of their versions."""


class UnknownRulesetError(LookupError):
    """A game, or a version of its rules, that this installation does not have."""


def find_ruleset(game: str, ruleset: int) -> Game[Any, Any]:
    """Return the game ``game`` with the rules of version ``ruleset``; raises UnknownRulesetError."""
    for found in RULESETS.get(game, ()):
        if found.ruleset == ruleset:
            return found
    raise UnknownRulesetError(f"this installation does not know ruleset {ruleset} of {game!r}")
