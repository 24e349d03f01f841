"""Commands on the files of the embedded server, while it is stopped."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from deploy.cli.arguments import Refusal
from deploy.cli.installation import find_var
from deploy.local import aof
from deploy.local.embedded import Binary, DataDirectory, EmbeddedError, copy_aside, find_binary

VAR = click.option(
    "--var",
    type=click.Path(file_okay=False, path_type=Path),
    default=find_var,
    show_default="var, here or beside the program",
    help="Where the installation keeps everything.",
)


@click.group("store")
def store_files() -> None:
    """Check and repair the files of the embedded server, while it is stopped."""


@store_files.command()
@VAR
def check(var: Path) -> None:
    """Say how much of the files can be read, and where they are damaged; nothing is changed."""
    with held(var) as (directory, binary):
        damaged = aof.find_base_damage(directory.path, str(binary.path))
        if damaged is not None:
            click.echo(f"DAMAGED {damaged}: put a backup back")
        files = [aof.check_file(path, str(binary.path)) for path in aof.incremental_files(directory.path)]
    for file in files:
        click.echo(
            f"DAMAGED {file.path} at byte {file.valid:,} of {file.size:,}" if file.excess else f"whole {file.path}"
        )
    if damaged is not None or any(file.excess for file in files):
        raise SystemExit(1)


@store_files.command()
@VAR
def repair(var: Path) -> None:
    """Copy the files aside, then cut them off where they are damaged: what was written after that is lost.

    The next `rookery up` names what is missing.
    """
    with held(var) as (directory, binary):
        files = [aof.check_file(path, str(binary.path)) for path in aof.incremental_files(directory.path)]
        if not any(file.excess for file in files):
            click.echo("There is nothing to repair.")
            return
        click.echo(f"The files as they are were copied to {copy_aside(directory.path, var)}")
        for words in aof.truncate_at_first_damage(files, directory.path):
            click.echo(words)
    click.echo("What is missing now is named by: rookery up")


@contextmanager
def held(var: Path) -> Iterator[tuple[DataDirectory, Binary]]:
    """Hold the data directory below ``var``; raises Refusal when there is none or it is in use."""
    if not (var / "redis").is_dir():
        raise Refusal(f"there is no database in {var}: say where it is with --var")
    click.echo(f"Acting on the files in {var.resolve()} (name others: --var).", err=True)
    directory = None
    try:
        binary = find_binary()
        directory = DataDirectory(var / "redis", binary)
        yield directory, binary
    except (EmbeddedError, aof.DamagedFileError, OSError) as error:
        raise Refusal(str(error)) from error
    finally:
        if directory is not None:
            directory.release()
