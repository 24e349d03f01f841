"""All rulesets of all games by name, for tests that every one of them has to pass; rulesets that tests make up."""

from copy import copy
from typing import Any

import pytest

from domain import games
from domain.game import AnyGame
from tests.support.tiny_game import TINY

RULESETS: dict[str, AnyGame] = {
    f"{game.id}-{game.ruleset}": game for rulesets in games.GAMES.rulesets.values() for game in rulesets
}
"""By names such as ``bashni-2``."""

WITH_TINY: dict[str, AnyGame] = {**RULESETS, "tiny-1": TINY}
"""Those and the smallest game, for what the contract promises of every game."""


def variant(game: AnyGame, **changes: Any) -> Any:
    """Return ``game`` with ``changes`` of facts and operations; what it derives from others follows."""
    changed = copy(game)
    vars(changed).update(changes)
    return changed


def register(monkeypatch: pytest.MonkeyPatch, *rulesets: AnyGame) -> None:
    """Make ``rulesets`` known to this process, in the place of those of the same game and version."""
    for game in rulesets:
        others = [known for known in games.GAMES.rulesets.get(game.id, ()) if known.ruleset != game.ruleset]
        known = tuple(sorted((*others, game), key=lambda ruleset: ruleset.ruleset))
        monkeypatch.setitem(games.GAMES.rulesets, game.id, known)


def unregister(monkeypatch: pytest.MonkeyPatch, game_id: str) -> None:
    left = {known: rulesets for known, rulesets in games.GAMES.rulesets.items() if known != game_id}
    monkeypatch.setattr(games.GAMES, "rulesets", left)
