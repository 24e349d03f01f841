"""Arguments that name a game and a position of it."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from domain.game import AnyGame, RulesError
from domain.games import GAMES

F = TypeVar("F", bound=Callable[..., Any])


def game_argument(command: F) -> F:
    """Give ``command`` an argument ``game``: the game that GAME names, or one ruleset of it such as bashni-2."""
    return click.argument("game", callback=lambda context, _, name: find_game(name, context))(command)


def find_game(name: str, context: click.Context | None = None) -> AnyGame:
    """Return the game ``name``, or the ruleset of a game that a name such as bashni-2 means.

    Raises BadParameter (exit code 2) that lists the known names.
    """
    games = dict(GAMES)
    for id, rulesets in GAMES.rulesets.items():
        if len(rulesets) > 1:
            games |= {f"{id}-{game.ruleset}": game for game in rulesets}
    if name not in games:
        raise click.BadParameter(f"there is no game {name!r}, only {', '.join(games)}", context, param_hint="GAME")
    return games[name]


def parse_position(game: AnyGame, text: str) -> Any:
    """Return the position that ``text`` describes, or the initial position of the setup that it names.

    Raises BadParameter (exit code 2) when it is neither.
    """
    if text in game.setups:
        return game.initial(text)
    try:
        return game.parse_position(text)
    except RulesError as error:
        setups = ", ".join(game.setups)
        raise click.BadParameter(f"{error} (nor is it a setup: {setups})", param_hint="POSITION") from error
