"""Commands on the store: prove that nothing was altered, compute the read models anew."""

import click
from environs import EnvError

from deploy.cli.arguments import Refusal, progress
from events.chain import Verified, verify_all
from events.redis_store import RedisStore
from events.settings import Settings, store_from
from events.store import DamagedStream, StoreError


@click.command()
def verify() -> None:
    """Compute all hash chains again and name the place of any damage; the store is that of REDIS_URL."""
    store = _store()
    events = 0

    def count(verdict: Verified | DamagedStream) -> None:
        nonlocal events
        events += verdict.head.version if isinstance(verdict, Verified) else 0
        step()

    try:
        streams = sum(1 for shard in range(store.shards) for _ in store.streams(shard))
        with progress(streams, "Verifying") as step:
            damaged = verify_all(store, count)
    except StoreError as error:
        raise Refusal(str(error)) from error
    for damage in damaged:
        click.echo(f"DAMAGED {damage}")
    click.echo(
        f"{streams} matches, {events} events whole" if not damaged else f"{len(damaged)} of {streams} matches damaged"
    )
    if damaged:
        raise SystemExit(1)


def _store() -> RedisStore:
    try:
        return store_from(Settings.from_environment())
    except EnvError as error:
        raise Refusal(str(error)) from error
