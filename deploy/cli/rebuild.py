"""Rebuilding the read models."""

import click

from deploy.cli.errors import report_errors
from deploy.cli.output import progress_bar
from deploy.cli.target import find_target, open_installation, target_options
from events.readmodels import dump
from events.runtime.keys import ReadModelKeys
from workers.rebuild import rebuild as rebuild_all


@click.command()
@target_options
@click.option("--check", is_flag=True, help="Fail when the new read models differ from the old ones.")
@click.option("--processes", type=click.IntRange(1), default=1, show_default=True, help="Use more for a large store.")
def rebuild(check: bool, processes: int) -> None:
    """Rebuild all read models from the events, then switch to them.

    Everything else may keep running. --check then also reports what changed meanwhile.
    """
    store = open_installation().store
    with report_errors():
        keys = ReadModelKeys(store.prefix, store.shards)
        before = dump(store.client, keys) if check else {}
        with progress_bar(store.shards, "Rebuilding") as step:
            rebuilt = rebuild_all(find_target().settings, lambda *_: step(), processes)
        after = dump(store.client, keys) if check else {}
    for match_id, reason in rebuilt.failures:
        click.echo(f"LEFT OUT {match_id}: {reason}")
    different = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
    for name in different:
        click.echo(f"DIFFERENT {name}")
    click.echo(f"{rebuilt.matches} matches, {rebuilt.events} events")
    if rebuilt.failures or different:
        raise SystemExit(1)
