"""Backups, made while everything runs, and their way back into an empty store."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from deploy.cli.following import processes_option
from deploy.cli.output import CliError, progress_bar, report_errors
from deploy.cli.store import rebuild, verify
from deploy.cli.target import find_var, named_var, names_store, open_installation, target_options
from deploy.local.installation import InstallationError, LocalInstallation
from events.installation import Installation
from events.operations.backup.copying import make_backup
from events.operations.backup.files import SealedWriter, new_file, open_records, read_secret
from events.operations.backup.records import BackupError, Begin, Manifest, pack_record
from events.operations.backup.restoring import restore_backup, verify_backup
from events.runtime.wall_clock import rfc3339

KEY = click.option(
    "--key",
    "key_file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A file with 64 hexadecimal digits, by which the backup is encrypted.",
)


@click.command()
@target_options
@click.argument("destination")
@KEY
@click.option("--verify", "only_verify", is_flag=True, help="Make none: read the backup that is there.")
def backup(destination: str, key_file: Path | None, only_verify: bool) -> None:
    """Write a backup to DESTINATION, a file or URL, while everything runs, and read it back.

    Read models are not part of it, nor the files of the archive and the secret that ROOKERY_KEY_FILE names: keep both
    as long as the backup.
    """
    with report_errors(BackupError):
        secret = None if key_file is None else read_secret(key_file)
        if not only_verify:
            _write(open_installation(), destination, secret)
        begin, manifest = _verify(destination, secret)
    _describe(begin, manifest)


@click.command()
@target_options
@click.argument("source")
@KEY
@processes_option
@click.pass_context
def restore(context: click.Context, source: str, key_file: Path | None, processes: int) -> None:
    """Write the backup SOURCE, a file or URL, into an empty store, then verify it and rebuild the read models.

    Without --redis and REDIS_URL that is an embedded server below --var, which runs for as long as this takes. All of
    the backup is read and checked before anything is written.
    """
    with report_errors(BackupError):
        secret = None if key_file is None else read_secret(key_file)
        begin, manifest = _verify(source, secret)
        _describe(begin, manifest)
        with _empty_store(source, secret, begin, manifest):
            is_intact = _succeeds(context, verify, processes=processes)
            is_rebuilt = _succeeds(context, rebuild, check=False, processes=processes)
    if not (is_intact and is_rebuilt):
        raise SystemExit(1)
    click.echo("The backup is restored. Erase again everyone whom the log of administration lists since it was made.")


def _write(installation: Installation, destination: str, secret: bytes | None) -> None:
    store = installation.store
    live = sum(1 for _ in store.all_live_streams())
    with new_file(destination) as file, progress_bar(live, "Backing up") as step:
        sealed = SealedWriter(file, secret)
        make_backup(store, installation.now, lambda record: sealed.write(pack_record(record)), step)
        sealed.close()


def _verify(source: str, secret: bytes | None) -> tuple[Begin, Manifest]:
    with open_records(source, secret) as records:
        return verify_backup(records)


def _describe(begin: Begin, manifest: Manifest) -> None:
    click.echo(f"Backup of the installation {begin.installation}, begun at {rfc3339(begin.began_at)}, intact:")
    click.echo(f"{manifest.matches} matches with {manifest.events} events, {manifest.keys} other keys or parts of them")
    click.echo(f"{manifest.leaves} leaves of the log of checkpoints, {manifest.acts} acts of administration")
    if manifest.archived:
        click.echo(f"{manifest.archived} archived matches: their files in the archive are NOT part of the backup")


@contextmanager
def _empty_store(source: str, secret: bytes | None, begin: Begin, manifest: Manifest) -> Iterator[None]:
    """Restore into the store that the command names, or into an embedded one, which runs within the block."""

    def fill(installation: Installation) -> None:
        if installation.settings.shards not in (None, begin.shards):
            raise BackupError(
                f"the backup has {begin.shards} shards: set ROOKERY_SHARDS={begin.shards}, or do not set it"
            )
        with open_records(source, secret) as records, progress_bar(manifest.matches, "Restoring") as step:
            restore_backup(installation.store, begin, installation.checkpoints, records, step)

    if names_store():
        fill(open_installation())
        yield
        return
    try:
        local = LocalInstallation(
            named_var() or find_var(), embedded=True, on_message=lambda text: click.echo(text, err=True)
        )
        with local.store_alone(lambda settings: fill(Installation(settings))):
            yield
    except InstallationError as error:
        raise CliError(str(error)) from error


def _succeeds(context: click.Context, command: click.Command, **options: object) -> bool:
    try:
        context.invoke(command, **options)
    except SystemExit as end:
        return not end.code
    return True
