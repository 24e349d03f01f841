"""Clocks and outages of an installation, and corrections after a wrong clock."""

from collections.abc import Iterable

import click

from deploy.cli.output import CliError
from deploy.cli.target import open_installation, target_options
from domain.match.due import Outage
from domain.match.terms import duration
from events.installation import Installation
from events.matches.timekeeper import correct_matches, correct_outages, find_future_outages
from events.people.administration import CONSOLE
from events.runtime.wall_clock import now_ms, rfc3339
from events.store.contract import describe_offset
from events.store.time import MAX_CLOCK_DIFFERENCE_MS, StoreClock


@click.group(invoke_without_command=True)
@target_options
@click.pass_context
def clocks(context: click.Context) -> None:
    """Show which processes keep time, how far their clocks are off the store's, and the outages."""
    if context.invoked_subcommand is not None:
        return
    installation = open_installation()
    heartbeat, clock = installation.heartbeat, StoreClock(installation.client, now_ms)
    last = heartbeat.last_beat()
    offset, offsets = clock.offset_ms(), heartbeat.offsets()
    outages, provisional = heartbeat.outages(), heartbeat.provisional()
    wrong = find_future_outages(heartbeat, clock.store_now())
    click.echo("Time has never been kept." if last is None else f"Time was last kept at {rfc3339(last)}.")
    for name, ahead in {"this process": offset, **offsets}.items():
        state = (
            "agrees with" if abs(ahead) <= MAX_CLOCK_DIFFERENCE_MS else f"KEEPS NO TIME, is {describe_offset(ahead)}"
        )
        click.echo(f"{name}: its clock {state} the store's")
    click.echo(f"{len(outages)} outages" if outages else "No outages.")
    for outage in outages:
        click.echo(f"  {_format(outage)}{_format_action(outage, provisional, wrong)}")


@clocks.command()
@target_options
@click.argument("since")
def confirm(since: str) -> None:
    """Confirm that the provisional outage that began SINCE (as it is listed) was an outage."""
    installation = open_installation()
    installation.store.check_clock()
    heartbeat, now = installation.heartbeat, now_ms()
    outages = [outage for outage in heartbeat.provisional() if rfc3339(outage.since) == since]
    if not outages:
        raise CliError(f"no provisional outage began at {since}")
    if set(outages) & set(find_future_outages(heartbeat, now)):
        raise CliError("an outage cannot end in the future: rookery clocks repair ends it")
    for outage in outages:
        if heartbeat.confirm(outage):
            _log(installation, "outage-confirmed", since=outage.since, until=outage.until)
    click.echo(f"Confirmed: {_format(outages[0])}")


@clocks.command()
@target_options
def repair() -> None:
    """End outages that are recorded to end in the future, and correct matches that are dated there.

    The wrong events stay on record; a correction is appended to each of these matches. The command can be
    interrupted and run again, and everything else may keep running.
    """
    installation, corrected = open_installation(), 0
    installation.store.check_clock()
    for outage in correct_outages(installation.heartbeat, now := now_ms()):
        _log(installation, "outage-corrected", since=outage.since, until=outage.until, ended=now)
        click.echo(f"Not an outage until then: {_format(outage)}")
    for correction in correct_matches(installation.store, installation.matches, installation.timekeeper, now_ms):
        _log(
            installation, "time-corrected", match=correction.match, version=correction.version, digest=correction.digest
        )
        click.echo(f"{correction.match}: time continues from now, version {correction.version}")
        corrected += 1
    click.echo(f"{corrected} matches corrected.")


def _log(installation: Installation, act: str, **facts: str | int) -> None:
    installation.administration.record(act, CONSOLE, facts)


def _format(outage: Outage) -> str:
    return f"{rfc3339(outage.since)} to {rfc3339(outage.until)}, {duration(outage.until - outage.since)}"


def _format_action(outage: Outage, provisional: Iterable[Outage], wrong: Iterable[Outage]) -> str:
    """Return the instruction to the operator about ``outage``, to be appended to it."""
    if outage in wrong:
        return ", ENDS IN THE FUTURE: rookery clocks repair"
    return f", provisional: rookery clocks confirm {rfc3339(outage.since)}" if outage in provisional else ""
