"""Commands on the store: prove that nothing was altered, compute the read models anew."""

from pathlib import Path

import click

from deploy.cli.arguments import Refusal, in_words, printable, progress
from deploy.cli.everything import audit_logs, tell
from deploy.cli.installation import find, open_installation, store_options
from deploy.local.watermark import MARK, find_missing, read_mark
from events.readmodels import dump
from events.runtime.keys import ReadModelKeys
from events.runtime.wall_clock import now_ms, rfc3339
from events.service.clock_repair import impossible
from events.store.chain import Verified, verify_all
from events.store.contract import DamagedStream
from events.store.redis import RedisStore
from events.store.time import MAX_CLOCK_DIFFERENCE_MS, StoreClock
from workers.fleet.batches import matches_of


@click.command()
@store_options
def verify() -> None:
    """Compute all hash chains again and name the place of any damage.

    So are the logs of checkpoints and of administration, and compared with the matches and with each other.
    What is missing at the end of a history is found by the high-water mark that `rookery up` keeps below --var.
    What is dated in the future by the store's clock is named, too.
    """
    parts = open_installation()
    store = parts.store
    events, present, ahead = 0, 0, list[Verified]()

    def count(verdict: Verified | DamagedStream) -> None:
        nonlocal events
        if isinstance(verdict, Verified):
            events += verdict.head.version
            if verdict.at > present + MAX_CLOCK_DIFFERENCE_MS:
                ahead.append(verdict)
        step()

    with in_words():
        present = StoreClock(store.client, now_ms).store_now()
        streams = matches_of(store)
        with progress(streams, "Verifying") as step:
            damaged = verify_all(store, count)
        logs = audit_logs(parts)
        missing = _missing(store, find().var / MARK)
        future_outages = impossible(parts.heartbeat, present)
    for damage in damaged:
        click.echo(printable(f"DAMAGED {damage}"))
    tell("DAMAGED", logs.findings, logs.checkpoints.unlisted)
    tell("NOT CHECKED", logs.checkpoints.unchecked)
    for each in ahead:
        click.echo(f"DATED IN THE FUTURE {each.stream} at version {each.head.version}: {rfc3339(each.at)}")
    for outage in future_outages:
        click.echo(f"DATED IN THE FUTURE an outage from {rfc3339(outage.since)} to {rfc3339(outage.until)}")
    if ahead or future_outages:
        click.echo("A clock was wrong: see rookery clocks.")
    faults = len(logs.findings) + logs.checkpoints.unlisted
    click.echo(f"{logs}: {faults} faults" if faults else f"{logs}: whole")
    click.echo(
        f"{streams} matches, {events} events whole" if not damaged else f"{len(damaged)} of {streams} matches damaged"
    )
    if damaged or faults or missing or ahead or future_outages:
        raise SystemExit(1)


def _missing(store: RedisStore, path: Path) -> bool:
    """Say what ``store`` lacks of its high-water mark; return whether it lacks anything."""
    try:
        mark = read_mark(path)
    except ValueError as error:
        raise Refusal(str(error)) from error
    if mark is None or mark.installation != store.installation().id:
        click.echo(
            f"No high-water mark of this store is at {path}: events missing at the end were not looked for.", err=True
        )
        return False
    for line in (found := find_missing(store, mark, mark.boot)).lines():
        click.echo(f"MISSING {line}")
    return found.certain


@click.command()
@store_options
def incidents() -> None:
    """List what went wrong with the store, and what each match lost."""
    parts = open_installation()
    with in_words():
        found = parts.incidents.all()
    for incident in found:
        click.echo(f"{rfc3339(incident.at)}  {printable(incident.words)}")
        for match, version in sorted(incident.lost.items()):
            click.echo(f"  {printable(match)}: everything after version {version}")
    if not found:
        click.echo("No incidents.")


@click.command()
@store_options
@click.option("--check", is_flag=True, help="Fail when the new read models differ from the old ones.")
@click.option(
    "--processes", type=click.IntRange(1), default=1, show_default=True, help="More pay off for large stores."
)
def rebuild(check: bool, processes: int) -> None:
    """Delete all read models and make them again from the events.

    It may be done while everything runs. --check finds differences that are none when something happens meanwhile.
    """
    from workers.rebuild import rebuild as rebuild_all

    store = open_installation().store
    with in_words():
        keys = ReadModelKeys(store.prefix, store.shards)
        before = dump(store.client, keys) if check else {}
        with progress(store.shards, "Rebuilding") as step:
            rebuilt = rebuild_all(find().settings, lambda *_: step(), processes)
        after = dump(store.client, keys) if check else {}
    for match, reason in rebuilt.failures:
        click.echo(f"LEFT OUT {match}: {reason}")
    different = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
    for name in different:
        click.echo(f"DIFFERENT {name}")
    click.echo(f"{rebuilt.matches} matches, {rebuilt.events} events")
    if rebuilt.failures or different:
        raise SystemExit(1)
