"""The opponents on the command line: ask one for a move, measure how the levels are graded."""

import os

import click

from deploy.cli.arguments import Refusal, find_position, game_argument, progress
from domain.game import AnyGame


@click.group()
def opponent() -> None:
    """Ask the machine players."""


@opponent.command()
@game_argument
@click.argument("position")
@click.option("--level", type=click.IntRange(1, 8), default=4, show_default=True)
@click.option("--seed", type=int, default=1, show_default=True, help="Another seed may choose another good move.")
@click.option("--history", multiple=True, help="An earlier position of the game, oldest first; may be repeated.")
def move(game: AnyGame, position: str, level: int, seed: int, history: tuple[str, ...]) -> None:
    """Print the move that an opponent plays; the same arguments give the same move everywhere."""
    from domain.game import GameOver
    from domain.search import choose

    standing = find_position(game, position)
    try:
        choice = choose(game, standing, [find_position(game, text) for text in history], level, seed)
    except GameOver as error:
        raise Refusal(str(error)) from error
    click.echo(game.format_move(standing, choice.move))


@opponent.command()
@game_argument
@click.option("--games", type=click.IntRange(1), default=40, show_default=True, help="Games of each pair.")
@click.option("--seed", type=int, default=1, show_default=True)
@click.option("--processes", type=click.IntRange(1), default=os.cpu_count() or 1, show_default=True)
def ladder(game: AnyGame, games: int, seed: int, processes: int) -> None:
    """Let levels play whole games against each other and print how often the higher one wins."""
    from workers.fleet.ladder import PAIRS, play_ladder

    click.echo("setup  level  against  games  score  plies")
    total = games * len(PAIRS) * len(game.setups)
    with progress(total, game.title) as step:
        for row in play_ladder(game, games, seed=seed, processes=processes, on_game=lambda _: step()):
            shown = ", ".join(f"{number} x {score:g}" for score, number in row.by_score)
            click.echo(
                f"{row.setup}  {row.strong}  {row.weak}  {row.games}  {row.score:.3f}  {row.plies:.0f}  ({shown})"
            )
