"""What a change of the rules would mean for the matches in the store."""

import os
import time

import click

from deploy.cli.arguments import in_words, progress
from deploy.cli.installation import find, open_installation, store_options
from domain.games import GAMES
from domain.match.impact import FAULT, ILLEGAL_MOVE, OUTCOME, SETUP, TURN, Difference
from workers.fleet.batches import matches_of
from workers.fleet.impact import Question, replay_all


@click.command("impact")
@store_options
@click.argument("game", type=click.Choice(list(GAMES.rulesets)))
@click.argument("old", type=int)
@click.argument("new", type=int)
@click.option("--processes", type=click.IntRange(1), default=os.cpu_count() or 1, show_default="one for each processor")
def impact_command(game: str, old: int, new: int, processes: int) -> None:
    """Replay under ruleset NEW what was played under ruleset OLD in all matches of GAME; changes nothing.

    Lists those that would have gone otherwise, with the ply where that first shows, and how.
    """
    known = [each.ruleset for each in GAMES.rulesets[game]]
    for name, ruleset in (("OLD", old), ("NEW", new)):
        if ruleset not in known:
            rulesets = ", ".join(map(str, known))
            raise click.BadParameter(f"{game} has no ruleset {ruleset}, only {rulesets}", param_hint=name)
    if old == new:
        raise click.BadParameter(f"it is ruleset {old} itself", param_hint="NEW")
    parted = failed = matches = plies = 0
    began = time.perf_counter()
    store = open_installation().store
    with in_words(), progress(matches_of(store), "Replaying") as step:
        for batch in replay_all(find().settings, Question(game, old, new), processes):
            for match, difference in batch.parted:
                click.echo(f"{match}  {said(difference)}")
            for match, reason in batch.failures:
                click.echo(f"LEFT OUT {match}: {reason}")
            parted, failed = parted + len(batch.parted), failed + len(batch.failures)
            matches, plies = matches + batch.matches, plies + batch.plies
            for _ in range(batch.seen):
                step()
    seconds = time.perf_counter() - began
    click.echo(f"{parted} of {matches} matches of ruleset {old} would have gone otherwise under ruleset {new}")
    click.echo(
        f"{plies} plies replayed in {seconds:.1f} s: {matches / seconds:,.0f} matches/s, {plies / seconds:,.0f} plies/s"
    )
    if failed:
        raise SystemExit(1)


def said(difference: Difference) -> str:
    """Return where a match would have gone otherwise, and how."""
    ply, recorded, instead = difference.ply, difference.recorded, difference.instead
    if difference.kind == SETUP:
        return f"ply 0: it could not begin as {recorded}, only as {instead}"
    if difference.kind == ILLEGAL_MOVE:
        return f"ply {ply}: {recorded} is not legal: {instead}"
    if difference.kind == FAULT:
        return f"after ply {ply}: the rules cannot go on: {instead}"
    what = {OUTCOME: "result", TURN: "seat to move"}.get(difference.kind, "position")
    return f"after ply {ply}: another {what}, {instead} in place of {recorded}"
