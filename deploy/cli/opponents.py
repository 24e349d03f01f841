"""The opponents: asking one for a move, measuring their levels against each other."""

import click

from deploy.cli.following import do_here, follow_job, processes_option
from deploy.cli.output import CliError
from deploy.cli.rules import game_argument, parse_position
from deploy.cli.target import open_if_running, target_options
from domain.game import AnyGame
from domain.search import choose
from domain.search.budgets import MAX_LEVEL
from events.installation import Installation
from events.runtime.settings import Settings
from workers.fleet.kinds import LADDER
from workers.fleet.ladder import LadderGame, LadderQuery, PlayedGames, make_row, pairings


@click.group()
def opponent() -> None:
    """Ask the machine players for moves."""


@opponent.command()
@game_argument
@click.argument("position")
@click.option(
    "--level", type=click.IntRange(1, MAX_LEVEL), default=4, show_default=True, help="Above 8 it takes minutes."
)
@click.option("--nodes", type=click.IntRange(1), help="The node budget that the record has, if not that of the level.")
@click.option("--seed", type=int, default=1, show_default=True, help="Another seed may give another good move.")
@click.option("--history", multiple=True, help="An earlier position of the game, oldest first. May be repeated.")
def move(game: AnyGame, position: str, level: int, nodes: int | None, seed: int, history: tuple[str, ...]) -> None:
    """Print the move that an opponent plays; equal arguments give equal moves on every machine."""
    current = parse_position(game, position)
    earlier = [parse_position(game, text, "--history") for text in history]
    try:
        choice = choose(game, current, earlier, level, seed, nodes)
    except ValueError as error:
        raise CliError(str(error)) from error
    click.echo(game.format_move(current, choice.move))


@opponent.command()
@target_options
@game_argument
@click.option("--games", type=click.IntRange(1), default=40, show_default=True, help="Games per pair.")
@click.option("--seed", type=int, default=1, show_default=True)
@processes_option
def ladder(game: AnyGame, games: int, seed: int, processes: int) -> None:
    """Let levels play complete games against each other and print the scores of the higher one.

    Where no installation runs, this process plays all games.
    """
    rows, played = pairings(game), list[LadderGame]()

    def show(result: PlayedGames) -> None:
        played.extend(result.games)
        if len(played) == games:
            row = make_row(*next(rows), played)
            played.clear()
            scores = ", ".join(f"{number} x {score:g}" for score, number in row.by_score)
            click.echo(
                f"{row.setup}  {row.strong}  {row.weak}  {row.games}  {row.score:.3f}  {row.plies:.0f}  ({scores})"
            )

    query = LadderQuery(game.id, game.ruleset, games, seed)._asdict()
    click.echo("setup  level  against  games  score  plies")
    if open_if_running() is None:
        do_here(Installation(Settings.from_environment()), LADDER, query, game.title, show)
    else:
        follow_job(LADDER, query, processes, game.title, show)
