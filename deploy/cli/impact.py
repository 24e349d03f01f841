"""What another ruleset would change in the matches of the store."""

import os
import time
from collections import Counter

import click

from deploy.cli.errors import report_errors
from deploy.cli.output import progress_bar
from deploy.cli.target import find_target, open_installation, target_options
from domain.games import GAMES
from domain.match.impact import FAULT, ILLEGAL_MOVE, OUTCOME, SETUP, TURN, Difference
from events.runtime.errors import StoreError
from workers.fleet.batches import ProcessesKilledError, count_matches
from workers.fleet.impact import ImpactQuery, replay_matches


@click.command("impact")
@target_options
@click.argument("game", type=click.Choice(list(GAMES.rulesets)))
@click.argument("old", type=int)
@click.argument("new", type=int)
@click.option("--processes", type=click.IntRange(1), default=os.cpu_count() or 1, show_default="one for each processor")
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
    total = Counter[str]()
    start = time.perf_counter()
    store = open_installation().store
    query = ImpactQuery(game, old, new)
    with report_errors(StoreError, ProcessesKilledError), progress_bar(count_matches(store), "Replaying") as step:
        for batch in replay_matches(find_target().settings, query, processes):
            for match_id, difference in batch.differing:
                click.echo(f"{match_id}  {describe(difference)}")
            for match_id, reason in batch.failures:
                click.echo(f"LEFT OUT {match_id}: {reason}")
            total.update(differing=len(batch.differing), failed=len(batch.failures))
            total.update(matches=batch.matches, plies=batch.plies)
            for _ in range(batch.read):
                step()
    seconds = time.perf_counter() - start
    matches, plies = total["matches"], total["plies"]
    click.echo(f"{total['differing']} of {matches} matches of ruleset {old} would differ under ruleset {new}")
    click.echo(
        f"{plies} plies replayed in {seconds:.1f} s: {matches / seconds:,.0f} matches/s, {plies / seconds:,.0f} plies/s"
    )
    if total["failed"]:
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
