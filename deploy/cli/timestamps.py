"""Timestamps of checkpoints (RFC 3161), checked."""

from pathlib import Path

import click
from cryptography.x509 import load_pem_x509_certificates

from deploy.cli.output import CliError, escape_unprintable
from events.proof.checkpoints import read_checkpoint
from events.proof.documents import DocumentError
from events.runtime.wall_clock import rfc3339
from events.transparency.timestamps import check_timestamp

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command()
@click.argument("checkpoint", type=FILE)
@click.argument("answer", type=FILE)
@click.option("--roots", type=FILE, help="Certificates of timestamp authorities that are trusted, PEM.")
def timestamp(checkpoint: Path, answer: Path, roots: Path | None) -> None:
    """Check that ANSWER, of a timestamp service, is of CHECKPOINT, and print when that existed at the latest."""
    document = checkpoint.read_bytes()
    try:
        stated = read_checkpoint(document)
        trusted = [] if roots is None else load_pem_x509_certificates(roots.read_bytes())
        at = check_timestamp(answer.read_bytes(), document, trusted)
    except DocumentError as fault:
        raise CliError(escape_unprintable(f"NOT PROVED: {fault}")) from None
    except ValueError as error:
        raise CliError(f"{roots}: these are no certificates: {error}") from None
    click.echo(f"The checkpoint of {stated.day} of server {stated.origin} existed at {rfc3339(at)}.")
    if not trusted:
        click.echo("Whose timestamp it is was NOT checked: name the certificates that you trust with --roots.")
        raise SystemExit(1)
