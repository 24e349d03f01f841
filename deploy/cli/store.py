"""Commands on the store: prove that nothing was altered, compute the read models anew."""

import click

from deploy.cli.arguments import in_words, open_store, progress
from deploy.parallel import matches_of
from events.chain import Verified, verify_all
from events.readmodels import Keys, dump
from events.settings import Settings
from events.store import DamagedStream


@click.command()
def verify() -> None:
    """Compute all hash chains again and name the place of any damage; the store is that of REDIS_URL."""
    store = open_store()
    events = 0

    def count(verdict: Verified | DamagedStream) -> None:
        nonlocal events
        events += verdict.head.version if isinstance(verdict, Verified) else 0
        step()

    with in_words():
        streams = matches_of(store)
        with progress(streams, "Verifying") as step:
            damaged = verify_all(store, count)
    for damage in damaged:
        click.echo(f"DAMAGED {damage}")
    click.echo(
        f"{streams} matches, {events} events whole" if not damaged else f"{len(damaged)} of {streams} matches damaged"
    )
    if damaged:
        raise SystemExit(1)


@click.command()
@click.option("--check", is_flag=True, help="Fail when the new read models differ from the old ones.")
@click.option(
    "--processes", type=click.IntRange(1), default=1, show_default=True, help="More pay off for large stores."
)
def rebuild(check: bool, processes: int) -> None:
    """Delete all read models and make them again from the events; the store is that of REDIS_URL.

    It may be done while everything runs. --check finds differences that are none when something happens meanwhile.
    """
    from workers.rebuild import rebuild as rebuild_all

    store = open_store()
    with in_words():
        keys = Keys(store.prefix, store.shards)
        before = dump(store.client, keys) if check else {}
        with progress(store.shards, "Rebuilding") as step:
            rebuilt = rebuild_all(Settings.from_environment(), lambda *_: step(), processes)
        after = dump(store.client, keys) if check else {}
    for match, reason in rebuilt.failures:
        click.echo(f"LEFT OUT {match}: {reason}")
    different = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
    for name in different:
        click.echo(f"DIFFERENT {name}")
    click.echo(f"{rebuilt.matches} matches, {rebuilt.events} events")
    if rebuilt.failures or different:
        raise SystemExit(1)
