"""A year of play in minutes: ``make simulate``, or ``python -m tests.simulation --matches 500``."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

import click

from deploy.cli.errors import CommandError
from deploy.cli.output import progress_bar
from events.private.availability import RedisAvailabilityStore
from events.runtime.connections import connect
from events.runtime.errors import StoreError
from events.store.redis import RedisStore
from tests.simulation.audit import Audited, audit
from tests.simulation.server import Kept, in_memory
from tests.simulation.year import Year, simulate
from tests.support.memory_heartbeat import MemoryHeartbeat

PREFIX = "year:"
SHARDS = 4


@click.command()
@click.option("--matches", type=click.IntRange(1, 100_000), default=500, show_default=True)
@click.option("--seed", type=int, default=1, show_default=True, help="Another seed gives another year.")
@click.option("--redis", "url", metavar="URL", help="Keep it in this empty database instead of in memory.")
@click.option("--twice", is_flag=True, help="Do it again, in memory, and compare all events byte for byte.")
def main(matches: int, seed: int, url: str | None, twice: bool) -> None:
    """Play matches of all games through a year and audit every one of them.

    People in many time zones sleep, take holidays and free days, lay lines down, offer, claim, forgive and walk off;
    play again and dispute, arbiters rule; the server is away now and then. All flags are computed a second time, so
    are the ratings, and what was laid down in secret is looked for in all that others can read. Exit code 1 when
    anything was not as it must be.
    """
    audited = _run(_place(url), matches, seed, told=True)
    agrees = not twice or _run(in_memory(), matches, seed, told=False).digest == audited.digest
    if twice:
        click.echo(f"A second run gave {'the same events' if agrees else 'OTHER EVENTS'}.")
    if audited.wanting or not agrees:
        raise SystemExit(1)


def _run(kept: Kept, matches: int, seed: int, told: bool) -> Audited:
    try:
        with progress_bar(matches, "Playing") as step:
            played = simulate(kept, seed, matches, step)
        with progress_bar(matches, "Auditing") as step:
            audited = audit(played, step)
    except StoreError as error:
        raise CommandError(f"The server failed: {error}") from error
    if told:
        click.echo("\n".join(_report(played, audited)))
    click.echo(f"digest of all events: {audited.digest}")
    return audited


def _place(url: str | None) -> Kept:
    if url is None:
        return in_memory()
    try:
        # The heart of a year beats a quarter of a million times, and nothing of it is to be seen in the events.
        client = connect(url)
        if client.dbsize():
            raise CommandError(f"The database at {url} is not empty: a year needs one of its own.")
        store = RedisStore(client, PREFIX, SHARDS)
        return Kept(store, RedisAvailabilityStore(client, PREFIX), MemoryHeartbeat())
    except (StoreError, ValueError) as error:
        raise CommandError(f"The database at {url} cannot be used: {error}") from error


def _report(year: Year, audited: Audited) -> Iterable[str]:
    """Yield the tables of a year, a line each."""
    zones = len({person.zone for person in year.people})
    until = datetime.fromtimestamp(year.house.now / 1000, UTC)
    yield f"{len(year.matches)} matches of {len(year.people)} people in {zones} time zones, until {until:%Y-%m-%d}"
    yield ""
    yield from _endings(audited)
    yield ""
    yield from _table("what people did", year.counted)
    yield ""
    yield from _table("events", audited.seen)
    yield ""
    wrong = {rule: sum(each.startswith(f"{rule}:") for each in audited.wanting) for rule in audited.checks}
    yield f"{'what must be so':<60} {'looked at':>9} {'wrong':>6}"
    for rule, looked_at in sorted(audited.checks.items()):
        yield f"  {rule:<58} {looked_at:>9} {wrong[rule]:>6}"
    for wanting in audited.wanting:
        yield f"WRONG: {wanting}"


def _endings(audited: Audited) -> Iterable[str]:
    reasons = sorted({reason for _, reason in audited.endings})
    widths = [max(len(reason), 5) for reason in reasons]
    yield f"{'how matches ended':<18}" + "".join(f"  {name:>{w}}" for name, w in zip(reasons, widths, strict=True))
    for game in sorted({game for game, _ in audited.endings}):
        numbers = [audited.endings[game, reason] for reason in reasons]
        yield f"  {game:<16}" + "".join(f"  {number:>{w}}" for number, w in zip(numbers, widths, strict=True))


def _table(title: str, counted: Mapping[str, int]) -> Iterable[str]:
    yield title
    for name, number in sorted(counted.items()):
        yield f"  {name:<58} {number:>9}"


if __name__ == "__main__":
    main()
