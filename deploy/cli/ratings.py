"""Ratings put to the test: against results that are stored, and against strengths that are known."""

from collections.abc import Iterable, Iterator

import click

from deploy.cli.errors import CliError, report_errors
from deploy.cli.target import open_installation, target_options
from domain.games import GAMES
from events.archive.errors import ArchiveUnavailableError, DamagedArchiveError
from events.installation import Installation
from events.readmodels import RatedResult, rated_result
from events.readmodels.forecasts import Judge, Judgement, OpenskillForecaster, make_forecasters
from events.readmodels.league import leagues

MIN_COVERED, MAX_COVERED = 0.93, 0.97
"""Bounds for the part of 95 % intervals that hold the true strength in a league."""

_HEADING = "                       forecasts  log-loss  Brier   intervals  hold"


@click.group()
def ratings() -> None:
    """Examine the ratings."""


@ratings.command()
@target_options
@click.option("--game", type=click.Choice(sorted(GAMES)), help="Only the results of one game.")
@click.option("--league", "seed", type=int, metavar="SEED", help="A simulated league, drawn from SEED, instead.")
def check(game: str | None, seed: int | None) -> None:
    """Compare the forecasts of ratings with the results, and with those of other systems.

    All systems rate the same results from the start. Log-loss and Brier score are means over all pairs of seats that
    were compared, less is better. Intervals are those of 95 %. Of stored results nobody knows the true strengths: there
    an interval holds when the player's rating ten rated days later lies where it said. In a league it holds when it
    contains the true strength; the command fails unless 93 to 97 % of those of version 2 do.
    """
    if seed is not None:
        if game is not None:
            raise CliError("--league plays no game: leave out --game")
        _check_leagues(seed)
        return
    installation = open_installation()
    with report_errors(), report_errors(ArchiveUnavailableError, DamagedArchiveError):
        version = installation.ratings.version()
        judges: dict[str, Judge] = {}
        for result in _results(installation, game):
            judges.setdefault(result.pool, Judge(make_forecasters())).add(result)
    click.echo(f"The ratings that are shown here are of version {version}.")
    for pool, judge in sorted(judges.items()):
        _show(pool, judge.judgements())
    if not judges:
        click.echo("No rated match has ended yet.")
    _mention_openskill()


def _check_leagues(seed: int) -> None:
    missed = []
    for name, league in leagues(seed).items():
        judgements = league.judge(make_forecasters())
        _show(f"League of {name}", judgements)
        covered = judgements[0].covered
        if covered is None or not MIN_COVERED <= covered <= MAX_COVERED:
            missed.append(name)
    _mention_openskill()
    if missed:
        raise CliError(f"not 93 to 97 % of the intervals hold the true strength: {', '.join(missed)}")


def _results(installation: Installation, game: str | None) -> Iterator[RatedResult]:
    for summary in installation.readmodels.rated():
        result = rated_result(summary) if game in (None, summary.game) else None
        if result is not None:
            yield result


def _show(title: str, judgements: Iterable[Judgement]) -> None:
    click.echo(f"\n{title}\n{_HEADING}")
    for each in judgements:
        held = "-" if each.covered is None else f"{100 * each.covered:.1f} %"
        click.echo(
            f"{each.name:<22} {each.forecasts:>9}    {each.log_loss:.4f}  {each.brier:.4f}  {each.intervals:>8}  {held}"
        )


def _mention_openskill() -> None:
    if not any(isinstance(each, OpenskillForecaster) for each in make_forecasters()):
        click.echo("\nThe package openskill is not installed, so it was left out: pip install openskill", err=True)
