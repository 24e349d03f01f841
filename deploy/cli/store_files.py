"""The servers of the store, and the files of the embedded one while it is stopped."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from deploy.cli.output import CliError
from deploy.cli.target import find_target, find_var, open_installation, target_options
from deploy.local import aof
from deploy.local.embedded import Binary, DataDirectory, EmbeddedError, copy_aside, find_binary
from events.runtime.settings import MAX_WAIT_REPLICAS
from events.runtime.topology import CLUSTER_OF_SERVERS, read_topology
from events.store.archive.store import make_store
from events.store.copies import ALL

VAR = click.option(
    "--var",
    type=click.Path(file_okay=False, path_type=Path),
    default=find_var,
    show_default="var, here or beside the program",
    help="Directory of the installation.",
)


@click.group("store")
def store_files() -> None:
    """Show the servers of the store; check and repair the files of the embedded one while it is stopped."""


@store_files.command()
@target_options
def topology() -> None:
    """Print the servers of the store, and whether slots of a cluster may be moved while Rookery runs."""
    store_topology = read_topology(open_installation().client)
    click.echo(f"The store is {store_topology.kind}:")
    for server in store_topology.servers:
        click.echo(f"  {server}")
    if store_topology.cannot_move_slots:
        click.echo(f"Attention: {store_topology.cannot_move_slots}.")
    elif store_topology.kind == CLUSTER_OF_SERVERS:
        click.echo("Its slots may be moved in one step while Rookery runs (docs/stores.md).")


@store_files.command()
@target_options
def create() -> None:
    """Create the installation in a new store that sentinels watch, or in a new cluster.

    A new single server needs no such command: the first start creates it.
    """
    created = make_store(find_target().settings, creates=True).installation()
    click.echo(f"The store holds installation {created.id}, with {created.shards} shards.")


@store_files.command()
@target_options
@click.argument("number", required=False)
def replicas(number: str | None) -> None:
    """Order how many replicas must have an event before it is acknowledged, or print how many must now.

    NUMBER is a number, `all`, or `default` for what ROOKERY_WAIT_REPLICAS says. All processes follow within seconds. An
    order is needed when a replica is gone for good or for long: until then no append is acknowledged.
    """
    installation = open_installation()
    copies = installation.store.copies
    if number is not None:
        copies.order(_read_number(number))
    for server in installation.client.servers():
        click.echo(
            f"{server.address}: {copies.required(server)} of {copies.configured(server)} configured replicas must "
            "have an event before it is acknowledged"
        )
    for attention in filter(None, [copies.costs(), *copies.shortages()]):
        click.echo(f"Attention: {attention}.")


def _read_number(text: str) -> int | str | None:
    if text in (ALL, "default"):
        return None if text == "default" else text
    if text.isdecimal() and int(text) <= MAX_WAIT_REPLICAS:
        return int(text)
    raise CliError(f"{text!r} is neither a number up to {MAX_WAIT_REPLICAS} nor {ALL} nor default")


@store_files.command()
@VAR
def check(var: Path) -> None:
    """Report how much of the files can be read, and where they are damaged; nothing is changed."""
    with locked(var) as (directory, binary):
        damaged = aof.find_base_damage(directory.path, str(binary.path))
        if damaged is not None:
            click.echo(f"DAMAGED {damaged}: restore a backup")
        files = [aof.check_file(path, str(binary.path)) for path in aof.incremental_files(directory.path)]
    for file in files:
        click.echo(
            f"DAMAGED {file.path} at byte {file.valid:,} of {file.size:,}" if file.excess else f"intact {file.path}"
        )
    if damaged is not None or any(file.excess for file in files):
        raise SystemExit(1)


@store_files.command()
@VAR
def repair(var: Path) -> None:
    """Copy the files aside, then truncate them where they are damaged: all later writes are lost.

    The next `rookery up` reports what is missing.
    """
    with locked(var) as (directory, binary):
        files = [aof.check_file(path, str(binary.path)) for path in aof.incremental_files(directory.path)]
        if not any(file.excess for file in files):
            click.echo("There is nothing to repair.")
            return
        click.echo(f"The files were copied as they are to {copy_aside(directory.path, var)}")
        for message in aof.truncate_at_first_damage(files, directory.path):
            click.echo(message)
    click.echo("The next `rookery up` reports what is missing.")


@contextmanager
def locked(var: Path) -> Iterator[tuple[DataDirectory, Binary]]:
    """Lock the data directory below ``var``; raises CliError when there is none or it is in use."""
    if not (var / "redis").is_dir():
        raise CliError(f"there is no database in {var}: name its directory with --var")
    click.echo(f"Using the files in {var.resolve()} (name others: --var).", err=True)
    directory = None
    try:
        binary = find_binary()
        directory = DataDirectory(var / "redis", binary)
        yield directory, binary
    except (EmbeddedError, aof.DamagedFileError, OSError) as error:
        raise CliError(str(error)) from error
    finally:
        if directory is not None:
            directory.release()
