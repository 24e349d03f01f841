"""The register of all games: the only place that knows which games exist."""

from typing import Any

from domain import bashni, four_towers, fourplay, tower_game, towers
from domain.game import Game

GAMES: dict[str, Game[Any, Any]] = {
    game.id: game for game in (bashni.GAME, towers.GAME, tower_game.GAME, fourplay.GAME, four_towers.GAME)
}


class UnknownRuleset(LookupError):
    """A game, or a version of its rules, that this installation does not have."""


def find_ruleset(game: str, ruleset: int) -> Game[Any, Any]:
    """Return the game ``game`` with the rules of version ``ruleset``; raises UnknownRuleset."""
    found = GAMES.get(game)
    if found is None or found.ruleset != ruleset:
        raise UnknownRuleset(f"this installation does not know ruleset {ruleset} of {game!r}")
    return found
