"""The integrity of the store, and rebuilding the read models."""

from collections.abc import Sequence
from pathlib import Path

import click

from deploy.cli.audit_all import audit_logs, print_findings
from deploy.cli.following import follow_job, processes_option
from deploy.cli.output import CliError, escape_unprintable
from deploy.cli.target import find_target, open_installation, target_options
from domain.match.due import Outage
from events.matches.readmodels import dump
from events.matches.timekeeper import find_future_outages
from events.runtime.wall_clock import now_ms, rfc3339
from events.store.high_water_mark import find_missing
from events.store.mark import MARK, read_mark
from events.store.redis import RedisStore
from events.store.time import StoreClock
from workers.fleet.kinds import REBUILD, VERIFY
from workers.fleet.rebuild import Rebuilt
from workers.fleet.verify import FutureMatch, VerifiedSlice


@click.command()
@target_options
@processes_option
def verify(processes: int) -> None:
    """Recompute all hash chains and report the place of any damage.

    The logs of checkpoints and of administration are recomputed too, and compared with the matches and with each other.
    Events missing at the end of a match are found by the high-water mark, in ROOKERY_MARK_FILE or below --var. Whatever
    is dated in the future by the store's clock is reported too.
    """
    installation = open_installation()
    store, total = installation.store, VerifiedSlice()

    def show(verified: VerifiedSlice) -> None:
        nonlocal total
        total = total.plus(verified)
        for damage in verified.damaged:
            click.echo(escape_unprintable(f"DAMAGED {damage}"))

    now = StoreClock(store.client, now_ms).store_now()
    follow_job(VERIFY, {}, processes, "Verifying", show)
    logs = audit_logs(installation)
    target = find_target()
    missing = _report_missing(store, target.settings.mark_file or target.var / MARK)
    future_outages = find_future_outages(installation.heartbeat, now)
    print_findings("DAMAGED", logs.findings, logs.checkpoints.unlisted)
    print_findings("NOT CHECKED", logs.checkpoints.unchecked)
    _report_future(total.future, future_outages)
    faults = len(logs.findings) + logs.checkpoints.unlisted
    click.echo(f"{logs}: {faults} faults" if faults else f"{logs}: intact")
    if total.damaged:
        click.echo(f"{len(total.damaged)} of {total.matches} matches damaged")
    else:
        click.echo(f"{total.matches} matches, {total.events} events intact")
    if total.damaged or faults or missing or total.future or future_outages:
        raise SystemExit(1)


def _report_missing(store: RedisStore, path: Path) -> bool:
    """Print the events that ``store`` lacks of its high-water mark; return whether there are any."""
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


def _report_future(matches: Sequence[FutureMatch], outages: Sequence[Outage]) -> None:
    for match_id, version, at in matches:
        click.echo(escape_unprintable(f"DATED IN THE FUTURE {match_id} at version {version}: {rfc3339(at)}"))
    for outage in outages:
        click.echo(f"DATED IN THE FUTURE an outage from {rfc3339(outage.since)} to {rfc3339(outage.until)}")
    if matches or outages:
        click.echo("A clock was wrong: see rookery clocks.")


@click.command()
@target_options
def incidents() -> None:
    """List what went wrong with the store, and what each match lost."""
    installation = open_installation()
    records = installation.incidents.all()
    for incident in records:
        click.echo(f"{rfc3339(incident.at)}  {escape_unprintable(incident.words)}")
        for match_id, version in sorted(incident.lost.items()):
            click.echo(f"  {escape_unprintable(match_id)}: everything after version {version}")
    if not records:
        click.echo("No incidents.")


@click.command()
@target_options
@click.option("--check", is_flag=True, help="Fail when the new read models differ from the old ones.")
@processes_option
def rebuild(check: bool, processes: int) -> None:
    """Rebuild all read models from the events, then switch to them.

    Everything else may keep running. --check then also reports what changed meanwhile.
    """
    installation, total = open_installation(), Rebuilt()

    def show(rebuilt: Rebuilt) -> None:
        nonlocal total
        total = total.plus(rebuilt)
        for match_id, reason in rebuilt.left_out:
            click.echo(f"LEFT OUT {match_id}: {reason}")

    running = installation.fleet_jobs.find_running(REBUILD, {})
    if check and running is not None:
        raise CliError(
            f"the job {running.id} is rebuilding the read models already: --check has nothing to compare with "
            "until it has ended"
        )
    keys = installation.readmodels.keys
    before = dump(installation.client, keys) if check else {}
    follow_job(REBUILD, {}, processes, "Rebuilding", show)
    after = dump(installation.client, keys) if check else {}
    different = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
    for name in different:
        click.echo(f"DIFFERENT {name}")
    click.echo(f"{total.matches} matches, {total.events} events")
    if total.left_out or different:
        raise SystemExit(1)
