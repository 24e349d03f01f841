"""The integrity of the store."""

from pathlib import Path

import click

from deploy.cli.audit_all import audit_logs, print_findings
from deploy.cli.errors import CliError, report_errors
from deploy.cli.output import escape_unprintable, progress_bar
from deploy.cli.target import find_target, open_installation, target_options
from deploy.local.watermark import MARK, find_missing, read_mark
from domain.match.due import Outage
from events.runtime.wall_clock import now_ms, rfc3339
from events.service.clock_repair import find_future_outages
from events.store.chain import Verified, verify_all
from events.store.contract import DamagedStreamError
from events.store.redis import RedisStore
from events.store.time import MAX_CLOCK_DIFFERENCE_MS, StoreClock
from workers.fleet.batches import count_matches


@click.command()
@target_options
def verify() -> None:
    """Recompute all hash chains and report the place of any damage.

    The logs of checkpoints and of administration are recomputed too, and compared with the matches and with each other.
    Events missing at the end of a match are found by the high-water mark that `rookery up` keeps below --var. Whatever
    is dated in the future by the store's clock is reported too.
    """
    installation = open_installation()
    store = installation.store
    with report_errors():
        now = StoreClock(store.client, now_ms).store_now()
        matches = count_matches(store)
        damaged, events, future_matches = _verify_matches(store, matches, now)
        logs = audit_logs(installation)
        missing = _report_missing(store, find_target().var / MARK)
        future_outages = find_future_outages(installation.heartbeat, now)
    for damage in damaged:
        click.echo(escape_unprintable(f"DAMAGED {damage}"))
    print_findings("DAMAGED", logs.findings, logs.checkpoints.unlisted)
    print_findings("NOT CHECKED", logs.checkpoints.unchecked)
    _report_future(future_matches, future_outages)
    faults = len(logs.findings) + logs.checkpoints.unlisted
    click.echo(f"{logs}: {faults} faults" if faults else f"{logs}: intact")
    if damaged:
        click.echo(f"{len(damaged)} of {matches} matches damaged")
    else:
        click.echo(f"{matches} matches, {events} events intact")
    if damaged or faults or missing or future_matches or future_outages:
        raise SystemExit(1)


def _verify_matches(store: RedisStore, matches: int, now: int) -> tuple[list[DamagedStreamError], int, list[Verified]]:
    """Return the damaged matches, the number of events of the others, and which of these are dated in the future."""
    events, future = 0, []
    with progress_bar(matches, "Verifying") as step:

        def add(verdict: Verified | DamagedStreamError) -> None:
            nonlocal events
            if isinstance(verdict, Verified):
                events += verdict.head.version
                if verdict.at > now + MAX_CLOCK_DIFFERENCE_MS:
                    future.append(verdict)
            step()

        damaged = verify_all(store, add)
    return damaged, events, future


def _report_missing(store: RedisStore, path: Path) -> bool:
    """Print what ``store`` lacks of its high-water mark; return whether it lacks anything."""
    try:
        mark = read_mark(path)
    except ValueError as error:
        raise CliError(str(error)) from error
    if mark is None or mark.installation != store.installation().id:
        click.echo(
            f"There is no high-water mark of this store at {path}: events missing at the end were not looked for.",
            err=True,
        )
        return False
    missing = find_missing(store, mark, mark.boot)
    for line in missing.lines():
        click.echo(f"MISSING {line}")
    return missing.certain


def _report_future(matches: list[Verified], outages: list[Outage]) -> None:
    for match in matches:
        click.echo(f"DATED IN THE FUTURE {match.stream} at version {match.head.version}: {rfc3339(match.at)}")
    for outage in outages:
        click.echo(f"DATED IN THE FUTURE an outage from {rfc3339(outage.since)} to {rfc3339(outage.until)}")
    if matches or outages:
        click.echo("A clock was wrong: see rookery clocks.")


@click.command()
@target_options
def incidents() -> None:
    """List what went wrong with the store, and what each match lost."""
    installation = open_installation()
    with report_errors():
        found = installation.incidents.all()
    for incident in found:
        click.echo(f"{rfc3339(incident.at)}  {escape_unprintable(incident.words)}")
        for match_id, version in sorted(incident.lost.items()):
            click.echo(f"  {escape_unprintable(match_id)}: everything after version {version}")
    if not found:
        click.echo("No incidents.")
