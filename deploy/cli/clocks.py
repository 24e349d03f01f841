"""The clocks of an installation on the command line: who keeps time, outages, and what corrects a wrong clock."""

from collections.abc import Iterable

import click

from deploy.cli.arguments import Refusal, in_words
from deploy.cli.installation import open_installation, store_options
from domain.match.due import Outage
from domain.match.terms import duration
from events.installation import Installation
from events.people.administration import CONSOLE
from events.runtime.wall_clock import now_ms, rfc3339
from events.service.clock_repair import correct_matches, correct_outages, impossible
from events.store.contract import describe_offset
from events.store.time import MAX_CLOCK_DIFFERENCE_MS, StoreClock


@click.group(invoke_without_command=True)
@store_options
@click.pass_context
def clocks(context: click.Context) -> None:
    """Show who keeps time and how far clocks are off the store's, and the outages."""
    if context.invoked_subcommand is not None:
        return
    parts = open_installation()
    with in_words():
        heartbeat, clock = parts.heartbeat, StoreClock(parts.client, now_ms)
        last = heartbeat.last()
        offset, offsets = clock.offset_ms(), heartbeat.offsets()
        outages, provisional = heartbeat.outages(), heartbeat.provisional()
        wrong = impossible(heartbeat, clock.store_now())
    click.echo("Time was never kept." if last is None else f"Time was last kept at {rfc3339(last)}.")
    for name, ahead in {"this process": offset, **offsets}.items():
        told = "agrees with" if abs(ahead) <= MAX_CLOCK_DIFFERENCE_MS else f"KEEPS NO TIME, is {describe_offset(ahead)}"
        click.echo(f"{name}: its clock {told} the store's")
    click.echo(f"{len(outages)} outages" if outages else "No outages.")
    for outage in outages:
        click.echo(f"  {_shown(outage)}{_asked(outage, provisional, wrong)}")


@clocks.command()
@store_options
@click.argument("since")
def confirm(since: str) -> None:
    """Say that the provisional outage that began SINCE (as it is listed) was one."""
    parts = open_installation()
    with in_words():
        parts.store.check_clock()
        heartbeat, now = parts.heartbeat, now_ms()
        found = [outage for outage in heartbeat.provisional() if rfc3339(outage.since) == since]
        if not found:
            raise Refusal(f"no outage that began at {since} waits to be confirmed")
        if set(found) & set(impossible(heartbeat, now)):
            raise Refusal("an outage that ends in the future cannot be one: rookery clocks repair ends it")
        for outage in found:
            if heartbeat.confirm(outage):
                _log(parts, "outage-confirmed", since=outage.since, until=outage.until)
    click.echo(f"Confirmed: {_shown(found[0])}")


@clocks.command()
@store_options
def repair() -> None:
    """End outages that are said to end in the future, and bring matches back that are dated there.

    What was wrong stays on record; what corrects it is appended to each match concerned. It may be killed and run
    again, and everything else may run meanwhile.
    """
    parts, corrected = open_installation(), 0
    with in_words():
        parts.store.check_clock()
        for outage in correct_outages(parts.heartbeat, now := now_ms()):
            _log(parts, "outage-corrected", since=outage.since, until=outage.until, ended=now)
            click.echo(f"Not an outage until then: {_shown(outage)}")
        for each in correct_matches(parts.store, parts.matches, parts.timekeeper, now_ms):
            _log(parts, "time-corrected", match=each.match, version=each.version, digest=each.digest)
            click.echo(f"{each.match}: time goes on from the present, version {each.version}")
            corrected += 1
    click.echo(f"{corrected} matches corrected.")


def _log(parts: Installation, act: str, **facts: str | int) -> None:
    parts.administration.record(act, CONSOLE, facts)


def _shown(outage: Outage) -> str:
    return f"{rfc3339(outage.since)} to {rfc3339(outage.until)}, {duration(outage.until - outage.since)}"


def _asked(outage: Outage, provisional: Iterable[Outage], wrong: Iterable[Outage]) -> str:
    """Return what the operator has to do about ``outage``."""
    if outage in wrong:
        return ", ENDS IN THE FUTURE: rookery clocks repair"
    return f", provisional: rookery clocks confirm {rfc3339(outage.since)}" if outage in provisional else ""
