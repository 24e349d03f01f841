"""The servers of the store, and the files of the embedded one while it is stopped."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from deploy.cli.errors import CliError, report_errors
from deploy.cli.target import find_var, open_installation, target_options
from deploy.local import aof
from deploy.local.embedded import Binary, DataDirectory, EmbeddedError, copy_aside, find_binary
from events.runtime.topology import CLUSTER_OF_SERVERS, read_topology

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
    with report_errors():
        found = read_topology(open_installation().client)
    click.echo(f"The store is {found.kind}:")
    for server in found.servers:
        click.echo(f"  {server}")
    if found.cannot_move_slots:
        click.echo(f"Attention: {found.cannot_move_slots}.")
    elif found.kind == CLUSTER_OF_SERVERS:
        click.echo("Its slots may be moved in one step while Rookery runs (docs/stores.md).")


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
    """Copy the files aside, then truncate them where they are damaged: what was written after that is lost.

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
