"""The rules on the command line: look at positions, play moves, count, check vector files."""

from pathlib import Path

import click

from deploy.cli.arguments import Refusal, find_game, find_position, game_argument, progress
from deploy.cli.impact import impact_command
from deploy.cli.vectors import BrokenVectors, Failure, Report, check_cases, game_named, perft, read_cases
from domain.game import AnyGame, RulesError


@click.group()
def rules() -> None:
    """Ask the rules of a game; POSITION is a position string in quotes, or the name of a setup.

    GAME is a game, with the ruleset that a new match gets, or one of its rulesets, such as bashni-2.
    """


rules.add_command(impact_command)


@rules.command("list")
def list_games() -> None:
    """List the games with their setups and seats, and where a game has several rulesets, how they differ."""
    from domain.games import GAMES

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
    """Draw a position, or the start of the first setup, and say how the game stands."""
    standing = find_position(game, position if position is not None else next(iter(game.setups)))
    click.echo(f"{game.diagram(standing)}\n\n{game.format_position(standing)}")
    outcome = game.outcome(standing, ())
    if outcome is not None:
        scores = " - ".join(f"{score:g}" for score in outcome.scores)
        click.echo(f"over: {scores} ({outcome.reason})")


@rules.command()
@game_argument
@click.argument("position")
@click.option("--spelled", is_flag=True, help="As players of the game read them, not canonically.")
def moves(game: AnyGame, position: str, spelled: bool) -> None:
    """List the legal moves, one a line."""
    standing = find_position(game, position)
    write = game.display_move if spelled else game.format_move
    for move in game.legal_moves(standing):
        click.echo(write(standing, move))


@rules.command()
@game_argument
@click.argument("position")
@click.argument("move", nargs=-1, required=True)
def apply(game: AnyGame, position: str, move: tuple[str, ...]) -> None:
    """Play one or more moves and print the position after them."""
    standing = find_position(game, position)
    for number, text in enumerate(move, 1):
        try:
            standing = game.play(standing, game.parse_move(standing, text))
        except RulesError as error:
            place = f"move {number}, " if len(move) > 1 else ""
            raise Refusal(f"{place}{text}: {error}") from error
    click.echo(game.format_position(standing))


@rules.command("perft")
@game_argument
@click.argument("position")
@click.argument("depth", type=click.IntRange(0))
@click.option("--divide", is_flag=True, help="Also count behind each first move.")
def count(game: AnyGame, position: str, depth: int, divide: bool) -> None:
    """Count the sequences of exactly DEPTH legal moves."""
    standing = find_position(game, position)
    if not divide or depth == 0:
        click.echo(perft(game, standing, depth))
        return
    total = 0
    for move in game.legal_moves(standing):
        nodes = perft(game, game.play(standing, move), depth - 1)
        click.echo(f"{game.format_move(standing, move)} {nodes}")
        total += nodes
    click.echo(total)


@rules.command()
@click.argument("file", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--game", "name", help="The game or ruleset that the files are for, if their names do not say so.")
def check(file: tuple[Path, ...], name: str | None) -> None:
    """Run vector files (<game>.public.json); every failure is printed with what was expected and what came."""
    passed = failed = 0
    for path in file:
        report = _checked(path, name)
        for failure in report.failures:
            click.echo(_shown(path, failure))
        passed += report.passed
        failed += report.failed
    click.echo(f"{passed} passed, {failed} failed")
    if failed:
        raise SystemExit(1)


def _checked(path: Path, name: str | None) -> Report:
    try:
        game = find_game(name if name is not None else game_named(path))
        cases = read_cases(path)
    except BrokenVectors as error:
        raise Refusal(str(error)) from error
    with progress(len(cases), path.name) as step:
        return check_cases(game, cases, lambda _: step())


def _shown(path: Path, failure: Failure) -> str:
    return (
        f"FAILED {path.name}: {failure.case}: {failure.key}\n"
        f"    expected: {failure.expected}\n"
        f"    actual:   {failure.actual}"
    )
