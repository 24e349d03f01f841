"""The rules: showing positions, playing moves, perft, checking vector files."""

from pathlib import Path

import click

from deploy.cli.errors import CliError
from deploy.cli.games import find_game, game_argument, parse_position
from deploy.cli.impact import impact_command
from deploy.cli.new_game import new_game
from deploy.cli.output import progress_bar
from deploy.cli.vectors import Failure, Report, VectorFileError, check_cases, game_of_file, perft, read_cases
from domain.game import AnyGame, RulesError
from domain.games import GAMES


@click.group()
def rules() -> None:
    """Apply the rules of a game; POSITION is a position string in quotes, or the name of a setup.

    GAME is a game, with the ruleset of new matches, or one of its rulesets, such as bashni-2.
    """


rules.add_command(impact_command)
rules.add_command(new_game)


@rules.command("list")
def list_games() -> None:
    """List the games with their setups and seats, and how the rulesets of a game differ."""
    for game in GAMES.values():
        click.echo(f"{game.id}  {game.title}, ruleset {game.ruleset}")
        for other in GAMES.rulesets[game.id]:
            if other.distinction:
                click.echo(f"    {other.id}-{other.ruleset}  {other.distinction}")
        for setup in game.setups.values():
            click.echo(f"    {setup.name}  {setup.title}: {', '.join(setup.seat_names)}")


@rules.command()
@game_argument
@click.argument("position", required=False)
def show(game: AnyGame, position: str | None) -> None:
    """Draw a position, or the initial one of the first setup, and print the outcome if the game is over."""
    current = parse_position(game, position if position is not None else next(iter(game.setups)))
    click.echo(f"{game.diagram(current)}\n\n{game.format_position(current)}")
    outcome = game.outcome(current, ())
    if outcome is not None:
        scores = " - ".join(f"{score:g}" for score in outcome.scores)
        click.echo(f"over: {scores} ({outcome.reason})")


@rules.command()
@game_argument
@click.argument("position")
@click.option("--spelled", is_flag=True, help="As players write them, instead of canonically.")
def moves(game: AnyGame, position: str, spelled: bool) -> None:
    """List the legal moves, one per line."""
    current = parse_position(game, position)
    write = game.display_move if spelled else game.format_move
    for move in game.legal_moves(current):
        click.echo(write(current, move))


@rules.command()
@game_argument
@click.argument("position")
@click.argument("move", nargs=-1, required=True)
def apply(game: AnyGame, position: str, move: tuple[str, ...]) -> None:
    """Play one or more moves and print the resulting position."""
    current = parse_position(game, position)
    for number, text in enumerate(move, 1):
        try:
            current = game.play(current, game.parse_move(current, text))
        except RulesError as error:
            place = f"move {number}, " if len(move) > 1 else ""
            raise CliError(f"{place}{text}: {error}") from error
    click.echo(game.format_position(current))


@rules.command("perft")
@game_argument
@click.argument("position")
@click.argument("depth", type=click.IntRange(0))
@click.option("--divide", is_flag=True, help="Also count the sequences after each first move.")
def count(game: AnyGame, position: str, depth: int, divide: bool) -> None:
    """Count the sequences of exactly DEPTH legal moves."""
    current = parse_position(game, position)
    if not divide or depth == 0:
        click.echo(perft(game, current, depth))
        return
    total = 0
    for move in game.legal_moves(current):
        nodes = perft(game, game.play(current, move), depth - 1)
        click.echo(f"{game.format_move(current, move)} {nodes}")
        total += nodes
    click.echo(total)


@rules.command()
@click.argument("file", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--game", "name", help="The game or ruleset of the files, if their names do not give it.")
def check(file: tuple[Path, ...], name: str | None) -> None:
    """Check vector files (<game>.public.json); each failure is printed with the expected and the actual result."""
    passed = failed = 0
    for path in file:
        report = _check_file(path, name)
        for failure in report.failures:
            click.echo(_format_failure(path, failure))
        passed += report.passed
        failed += report.failed
    click.echo(f"{passed} passed, {failed} failed")
    if failed:
        raise SystemExit(1)


def _check_file(path: Path, name: str | None) -> Report:
    try:
        game = find_game(name if name is not None else game_of_file(path))
        cases = read_cases(path)
    except VectorFileError as error:
        raise CliError(str(error)) from error
    with progress_bar(len(cases), path.name) as step:
        return check_cases(game, cases, lambda _: step())


def _format_failure(path: Path, failure: Failure) -> str:
    return (
        f"FAILED {path.name}: {failure.case}: {failure.key}\n"
        f"    expected: {failure.expected}\n"
        f"    actual:   {failure.actual}"
    )
