"""The opponents: asking one for a move, measuring their levels against each other."""

import os

import click

from deploy.cli.errors import CliError
from deploy.cli.games import game_argument, parse_position
from deploy.cli.output import progress_bar
from domain.game import AnyGame, GameOver
from domain.search import choose
from workers.fleet.ladder import PAIRS, play_ladder


@click.group()
def opponent() -> None:
    """Ask the machine players for moves."""


@opponent.command()
@game_argument
@click.argument("position")
@click.option("--level", type=click.IntRange(1, 8), default=4, show_default=True)
@click.option("--seed", type=int, default=1, show_default=True, help="Another seed may give another good move.")
@click.option("--history", multiple=True, help="An earlier position of the game, oldest first. May be repeated.")
def move(game: AnyGame, position: str, level: int, seed: int, history: tuple[str, ...]) -> None:
    """Print the move that an opponent plays; equal arguments give equal moves on every machine."""
    current = parse_position(game, position)
    try:
        choice = choose(game, current, [parse_position(game, text) for text in history], level, seed)
    except GameOver as error:
        raise CliError(str(error)) from error
    click.echo(game.format_move(current, choice.move))


@opponent.command()
@game_argument
@click.option("--games", type=click.IntRange(1), default=40, show_default=True, help="Games per pair.")
@click.option("--seed", type=int, default=1, show_default=True)
@click.option("--processes", type=click.IntRange(1), default=os.cpu_count() or 1, show_default=True)
def ladder(game: AnyGame, games: int, seed: int, processes: int) -> None:
    """Let levels play complete games against each other and print the scores of the higher one."""
    click.echo("setup  level  against  games  score  plies")
    total = games * len(PAIRS) * len(game.setups)
    with progress_bar(total, game.title) as step:
        for row in play_ladder(game, games, seed=seed, processes=processes, on_game=lambda _: step()):
            scores = ", ".join(f"{number} x {score:g}" for score, number in row.by_score)
            click.echo(
                f"{row.setup}  {row.strong}  {row.weak}  {row.games}  {row.score:.3f}  {row.plies:.0f}  ({scores})"
            )
