"""What another ruleset would change in the matches of the store."""

import time

import click

from deploy.cli.errors import report_errors
from deploy.cli.following import follow_job
from deploy.cli.processes import processes_option
from deploy.cli.target import target_options
from domain.games import GAMES
from domain.match.impact import FAULT, ILLEGAL_MOVE, OUTCOME, SETUP, TURN, Difference
from workers.fleet.impact import ImpactQuery, Replayed
from workers.fleet.kinds import IMPACT


@click.command("impact")
@target_options
@click.argument("game", type=click.Choice(list(GAMES.rulesets)))
@click.argument("old", type=int)
@click.argument("new", type=int)
@processes_option
def impact_command(game: str, old: int, new: int, processes: int) -> None:
    """Replay under ruleset NEW what was played under ruleset OLD in all matches of GAME; nothing is changed.

    Lists the matches that would have gone differently, with the first ply at which they differ, and how.
    """
    known = [each.ruleset for each in GAMES.rulesets[game]]
    for name, ruleset in (("OLD", old), ("NEW", new)):
        if ruleset not in known:
            rulesets = ", ".join(map(str, known))
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

    with report_errors():
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
