"""What several commands share: a game, a position of it, the store; refusing, showing progress."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click

from domain.game import AnyGame, RulesError
from events.runtime.errors import StoreError
from workers.fleet.batches import ProcessesKilled

F = TypeVar("F", bound=Callable[..., Any])


class Refusal(click.ClickException):
    """Something that cannot be done as asked: exit code 1 and the reason."""

    def show(self, file: Any = None) -> None:
        """Print the reason alone: it says what is wrong by itself."""
        click.echo(self.message, file=file, err=file is None)


@contextmanager
def in_words() -> Iterator[None]:
    """Turn what the store raises into a Refusal."""
    try:
        yield
    except (StoreError, ProcessesKilled) as error:
        raise Refusal(str(error)) from error


def var_option(command: F) -> F:
    """Give ``command`` the option --var: where an installation keeps everything."""
    kind = click.Path(file_okay=False, path_type=Path)
    return click.option("--var", type=kind, default="var", show_default=True, help="Where everything is kept.")(command)


def game_argument(command: F) -> F:
    """Give ``command`` an argument ``game``: the game that GAME names, or one ruleset of it such as bashni-2."""
    return click.argument("game", callback=lambda context, _, name: find_game(name, context))(command)


def find_game(name: str, context: click.Context | None = None) -> AnyGame:
    """Return the game ``name``, or the ruleset of a game that a name such as bashni-2 means.

    Raises BadParameter (exit code 2) that lists those that there are.
    """
    from domain.games import GAMES

    named = dict(GAMES)
    for id, rulesets in GAMES.rulesets.items():
        if len(rulesets) > 1:
            named |= {f"{id}-{game.ruleset}": game for game in rulesets}
    if name not in named:
        raise click.BadParameter(f"there is no game {name!r}, only {', '.join(named)}", context, param_hint="GAME")
    return named[name]


def find_position(game: AnyGame, text: str) -> Any:
    """Return the position that ``text`` describes, or the start position of the setup that it names.

    Raises BadParameter (exit code 2) when it is neither.
    """
    if text in game.setups:
        return game.initial(text)
    try:
        return game.parse_position(text)
    except RulesError as error:
        setups = ", ".join(game.setups)
        raise click.BadParameter(f"{error} (nor is it a setup: {setups})", param_hint="POSITION") from error


def printable(text: str) -> str:
    """Return ``text`` in one line in which nothing is hidden: what others have written may hold whatever they like.

    Line feeds, escape sequences of terminals and marks that turn the direction of writing are told by their codes.
    """
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape", "backslashreplace").decode() for each in text
    )


@contextmanager
def progress(length: int, label: str) -> Iterator[Callable[[], None]]:
    """Show on standard error how far ``length`` steps have come; yields what is to be called after each step."""
    with click.progressbar(range(length), label=label, file=sys.stderr) as bar:
        yield lambda: bar.update(1)
