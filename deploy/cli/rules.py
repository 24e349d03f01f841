"""The rules: showing positions, playing moves, perft, checking vector files."""

import re
import time
from collections.abc import Callable
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from string import Template
from typing import Any, TypeVar

import click

from deploy.cli.following import follow_job, processes_option
from deploy.cli.output import CliError, progress_bar
from deploy.cli.target import target_options
from deploy.cli.vectors import Failure, VectorFileError, VectorReport, check_cases, game_of_file, perft, read_cases
from domain.errors import RulesError
from domain.game import AnyGame
from domain.games import GAMES
from domain.match.impact import FAULT, ILLEGAL_MOVE, OUTCOME, SETUP, TURN, Difference
from workers.fleet.impact import ImpactQuery, Replayed
from workers.fleet.kinds import IMPACT

F = TypeVar("F", bound=Callable[..., Any])


def game_argument(command: F) -> F:
    """Give ``command`` an argument ``game``: the game that GAME names, or one ruleset of it such as bashni-2."""
    return click.argument("game", callback=lambda context, _, name: find_game(name, context))(command)


def find_game(name: str, context: click.Context | None = None) -> AnyGame:
    """Return the game ``name``, or the ruleset of a game such as bashni-2; raises BadParameter that lists the names."""
    games = dict(GAMES)
    for id, rulesets in GAMES.rulesets.items():
        if len(rulesets) > 1:
            games |= {f"{id}-{game.ruleset}": game for game in rulesets}
    if name not in games:
        raise click.BadParameter(f"there is no game {name!r}, only {', '.join(games)}", context, param_hint="GAME")
    return games[name]


def parse_position(game: AnyGame, text: str, place: str = "POSITION") -> Any:
    """Return the position that ``text`` describes, or the initial one of the setup it names.

    Raises BadParameter, which names the argument or option ``place``.
    """
    if text in game.setups:
        return game.initial(text)
    try:
        return game.parse_position(text)
    except RulesError as error:
        setups = ", ".join(game.setups)
        raise click.BadParameter(f"{error} (nor is it a setup: {setups})", param_hint=place) from error


_NAME = re.compile("[a-z][a-z0-9]*(-[a-z0-9]+)*")

_NEXT_STEPS = """
Next:
  1. make format
  2. Replace the rules of the template, module by module, with those of $title, its row in README.md, its vectors and
     its rules page; keep every test green:
     rookery rules check tests/vectors/$id.public.json
     pytest tests/contract tests/unit/test_rules_pages.py
  3. When they are final: python -m tests.golden $id 1
What is still missing: pytest tests/contract/test_every_game_is_complete.py"""

_OUTSIDE = (
    ("domain/games.py", r"(?m)^(from domain import .+)$", r"\1, $package"),
    ("domain/games.py", r"(?m)^(GAMES = Register\(.+)\)$", r"\1, ($package.GAME,))"),
    ("pyproject.toml", r'"domain.bashni", ', r'"domain.bashni", "domain.$package", '),
    ("tests/bench/rules.py", r"(?m)^TARGETS = {", r'TARGETS = {"$id": 0.1, '),
    ("README.md", r"(?s)(.*\n\| \*\*.+?\n)", r"\1| **$title** | its row, in a few words | 2 |\n"),
)
"""The changes of a new game outside its own files: the file, the place in it, and the text there."""


@click.command("new")
@click.argument("name")
@click.option("--title", help="What people call the game. Default: NAME in title case.")
@click.option("--root", type=click.Path(file_okay=False, path_type=Path), default=".", help="The source tree.")
def new_game(name: str, title: str | None, root: Path) -> None:
    """Begin the game NAME, such as four-towers: write a package, a vector file and a rules page, and register it."""
    if not _NAME.fullmatch(name):
        raise click.BadParameter(f"{name!r} is not made of lower-case words with hyphens between them")
    if not (root / "domain" / "games.py").is_file():
        raise CliError(f"{root} is not the source tree of rookery: it has no domain/games.py")
    words = name.replace("-", " ").title()
    values = {
        "id": name,
        "package": name.replace("-", "_"),
        "class": words.replace(" ", ""),
        "title": title or words,
        "prefix": f"{name[0]}{name[-1]}".upper(),
    }
    written = {root / _target(path, values): text for path, text in _templates(files("deploy.cli") / "game_template")}
    for path in written:
        if path.exists():
            raise CliError(f"{path} exists already")
    texts = {path: Template(text).substitute(values) for path, text in written.items()}
    for name, place, text in _OUTSIDE:
        path = root / name
        before = texts.get(path) or path.read_text(encoding="utf-8")
        texts[path], replaced = re.subn(place, Template(text).substitute(values), before, count=1)
        if not replaced:
            raise CliError(f"{path} has no place for a new game: {place} is not in it")
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        click.echo(f"wrote {path.relative_to(root)}")
    click.echo(Template(_NEXT_STEPS).substitute(values))


def _templates(folder: Traversable, path: str = "") -> list[tuple[str, str]]:
    """Return the path below ``folder`` and the text of every template."""
    templates: list[tuple[str, str]] = []
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        here = f"{path}{entry.name}"
        templates += _templates(entry, f"{here}/") if entry.is_dir() else [(here, entry.read_text(encoding="utf-8"))]
    return templates


def _target(path: str, values: dict[str, str]) -> str:
    """Return where the template ``path`` goes: "package" and "id" in it stand for the names of the game."""
    target = path.removesuffix(".txt").replace("domain/package/", f"domain/{values['package']}/")
    return target.replace("/id.", f"/{values['id']}.")


@click.command("impact")
@target_options
@click.argument("game", type=click.Choice(list(GAMES.rulesets)))
@click.argument("old", type=int)
@click.argument("new", type=int)
@processes_option
def impact_command(game: str, old: int, new: int, processes: int) -> None:
    """Replay all matches of GAME that were played under ruleset OLD under NEW; nothing is changed.

    Lists the matches that would have gone differently, with the first ply at which they differ, and how.
    """
    numbers = [ruleset.ruleset for ruleset in GAMES.rulesets[game]]
    for name, ruleset in (("OLD", old), ("NEW", new)):
        if ruleset not in numbers:
            rulesets = ", ".join(map(str, numbers))
            raise click.BadParameter(f"{game} has no ruleset {ruleset}, only {rulesets}", param_hint=name)
    if old == new:
        raise click.BadParameter(f"it is ruleset {old} too", param_hint="NEW")
    total = Replayed()
    start = time.perf_counter()

    def show(replayed: Replayed) -> None:
        nonlocal total
        total = total.plus(replayed)
        for match_id, difference in replayed.differing:
            click.echo(f"{match_id}  {describe(difference)}")
        for match_id, reason in replayed.failures:
            click.echo(f"LEFT OUT {match_id}: {reason}")

    follow_job(IMPACT, ImpactQuery(game, old, new)._asdict(), processes, "Replaying", show)
    seconds = time.perf_counter() - start
    matches, plies = total.matches, total.plies
    click.echo(f"{len(total.differing)} of {matches} matches of ruleset {old} would differ under ruleset {new}")
    click.echo(
        f"{plies} plies replayed in {seconds:.1f} s: {matches / seconds:,.0f} matches/s, {plies / seconds:,.0f} plies/s"
    )
    if total.failures:
        raise SystemExit(1)


def describe(difference: Difference) -> str:
    """Return where and how a match would have gone differently."""
    ply, recorded, instead = difference.ply, difference.recorded, difference.instead
    if difference.kind == SETUP:
        return f"ply 0: it would begin as {instead}, not as {recorded}"
    if difference.kind == ILLEGAL_MOVE:
        return f"ply {ply}: {recorded} is not legal: {instead}"
    if difference.kind == FAULT:
        return f"after ply {ply}: the rules fail: {instead}"
    what = {OUTCOME: "result", TURN: "seat to move"}.get(difference.kind, "position")
    return f"after ply {ply}: another {what}, {instead} instead of {recorded}"


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


def _check_file(path: Path, name: str | None) -> VectorReport:
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
