"""Simulate and audit a year of play: ``make simulate``, or ``python -m tests.simulation --matches 500``."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from deploy.cli.output import CliError, progress_bar
from events.people.availability import AvailabilityStore
from events.runtime.connections import connect
from events.runtime.errors import StoreError
from events.store.redis import RedisStore
from tests.simulation.audit import Audited, audit
from tests.simulation.server import Backend, in_memory
from tests.simulation.year import Year, simulate
from tests.support.memory_heartbeat import MemoryHeartbeat
from tests.support.server import RealServer

PREFIX = "year:"
SHARDS = 4


@click.command()
@click.option("--matches", type=click.IntRange(1, 100_000), default=500, show_default=True)
@click.option("--seed", type=int, default=1, show_default=True, help="Another seed gives another year.")
@click.option("--redis", "url", metavar="URL", help="Keep it in this empty database instead of in memory.")
@click.option("--twice", is_flag=True, help="Do it again, in memory, and compare all events byte for byte.")
def main(matches: int, seed: int, url: str | None, twice: bool) -> None:
    """Play matches of all games through a year and audit every one of them.

    People in many time zones sleep, take vacations and free days, set conditional moves, make offers and claims, revoke
    flags, abandon matches, play rematches and raise disputes; arbiters rule; the server goes down now and then. They
    are told of all this by mail, push and webhook, over servers that fail now and then. All flags and ratings are
    recomputed independently, and private texts and moves are searched for in everything that others can read. Exit code
    1 when any check fails.
    """
    with _backend(url) as backend:
        audited = _run(backend, matches, seed, verbose=True)
    agrees = not twice or _run(in_memory(), matches, seed, verbose=False).digest == audited.digest
    if twice:
        click.echo(f"A second run gave {'the same events' if agrees else 'OTHER EVENTS'}.")
    if audited.failures or not agrees:
        raise SystemExit(1)


def _run(backend: Backend, matches: int, seed: int, verbose: bool) -> Audited:
    try:
        with progress_bar(matches, "Playing") as step:
            played = simulate(backend, seed, matches, step)
        with progress_bar(matches, "Auditing") as step:
            audited = audit(played, step)
    except StoreError as error:
        raise CliError(f"The server failed: {error}") from error
    if verbose:
        click.echo("\n".join(_report(played, audited)))
    click.echo(f"digest of all events: {audited.digest}")
    return audited


@contextmanager
def _backend(url: str | None) -> Iterator[Backend]:
    if url is None:
        # The matches are in memory; what people are told is on a server, as it always is.
        with TemporaryDirectory() as directory:
            server = RealServer(Path(directory))
            try:
                yield in_memory()._replace(client=server.client(), prefix=PREFIX)
            finally:
                server.close()
        return
    try:
        # The heartbeat stays in memory: it beats a quarter of a million times a year and leaves no trace in events.
        client = connect(url)
        if client.dbsize():
            raise CliError(f"The database at {url} is not empty: the simulation needs one of its own.")
        store = RedisStore(client, PREFIX, SHARDS)
        yield Backend(store, AvailabilityStore(client, PREFIX), MemoryHeartbeat(), client, PREFIX)
    except (StoreError, ValueError) as error:
        raise CliError(f"The database at {url} cannot be used: {error}") from error


def _report(year: Year, audited: Audited) -> Iterable[str]:
    zones = len({person.zone for person in year.people})
    until = datetime.fromtimestamp(year.server.now / 1000, UTC)
    yield f"{len(year.matches)} matches of {len(year.people)} people in {zones} time zones, until {until:%Y-%m-%d}"
    yield ""
    yield from _endings(audited)
    yield ""
    yield from _table("what people did", year.counts)
    yield ""
    yield from _table("events", audited.seen)
    yield ""
    if year.told is not None:
        yield from _table("what people were told", year.told.counts)
        yield ""
    wrong = {rule: sum(failure.startswith(f"{rule}:") for failure in audited.failures) for rule in audited.checks}
    yield f"{'check':<60} {'places':>9} {'failed':>6}"
    for rule, places in sorted(audited.checks.items()):
        yield f"  {rule:<58} {places:>9} {wrong[rule]:>6}"
    for failure in audited.failures:
        yield f"FAILED: {failure}"


def _endings(audited: Audited) -> Iterable[str]:
    reasons = sorted({reason for _, reason in audited.endings})
    widths = [max(len(reason), 5) for reason in reasons]
    yield f"{'how matches ended':<18}" + "".join(f"  {name:>{w}}" for name, w in zip(reasons, widths, strict=True))
    for game in sorted({game for game, _ in audited.endings}):
        numbers = [audited.endings[game, reason] for reason in reasons]
        yield f"  {game:<16}" + "".join(f"  {number:>{w}}" for number, w in zip(numbers, widths, strict=True))


def _table(title: str, counts: Mapping[str, int]) -> Iterable[str]:
    yield title
    for name, number in sorted(counts.items()):
        yield f"  {name:<58} {number:>9}"


if __name__ == "__main__":
    main()
