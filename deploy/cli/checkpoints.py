"""Signing keys and checkpoints."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TypeVar

import click
from cryptography.x509 import load_pem_x509_certificates

from deploy.cli.output import CliError, escape_unprintable
from deploy.cli.target import open_installation, target_options
from events.people.administration import CONSOLE
from events.proof.checkpoint_log import NoCheckpointError
from events.proof.checkpoints import Checkpoint, Consistency, read_checkpoint, read_consistency, write_checkpoint
from events.proof.documents import DocumentError, write_document
from events.proof.keys import record_keys
from events.proof.public_keys import key_set, read_key_set
from events.proof.signed_checkpoints import accept_contradictions_of, accept_rollback_of, sign_checkpoint_of
from events.proof.transparency.cosigning import Cosigning
from events.proof.transparency.timestamps import check_timestamp
from events.runtime.egress import Egress
from events.runtime.wall_clock import now_ms, rfc3339

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)

T = TypeVar("T")


@click.command()
@target_options
@click.option("--day", help="The checkpoint of this day (2026-01-31, UTC) instead of today.")
def checkpoint(day: str | None) -> None:
    """Print today's checkpoint, made if there is none; keep it where the server cannot change it."""
    installation = open_installation()
    log = installation.checkpoints
    try:
        if day is None:
            cosigning = Cosigning(installation.witnesses, log, Egress(installation.settings.egress_allowed))
            shown = sign_checkpoint_of(log, installation.incidents, now_ms(), cosigning)
        else:
            shown = log.of_day(day)
    except NoCheckpointError as error:
        raise CliError(str(error)) from None
    click.echo(write_checkpoint(shown), nl=False)


@click.command("accept-rollback")
@target_options
def accept_rollback() -> None:
    """Let the server sign checkpoints again after a restore from an older backup, or a loss.

    Its next checkpoint will not be consistent with some that it has signed: those who kept them can prove it. The log
    of administration and an incident say so.
    """
    installation = open_installation()
    accepted = accept_rollback_of(installation.checkpoints, installation.incidents, now_ms(), CONSOLE)
    contradicting = accept_contradictions_of(
        installation.witnesses, installation.administration, installation.incidents, now_ms(), CONSOLE
    )
    if accepted is None and not contradicting:
        raise CliError("there is nothing to accept: the log extends the largest tree that was signed")
    for witness in contradicting:
        click.echo(
            f"The tree of {witness.contradicted} leaves that the witness {witness.key.name} has cosigned is given up: "
            "it will cosign no more before its operator sets it up again."
        )
    if accepted is None:
        click.echo("Checkpoints are signed again. The log of administration and rookery incidents say so.")
        return
    click.echo(
        f"Checkpoints are signed again. The tree of {accepted.size} leaves with the root {accepted.root} was signed "
        "and is given up: the log of administration and rookery incidents say so."
    )


@click.command()
@target_options
@click.argument("first", type=FILE)
@click.argument("second", type=FILE)
@click.option(
    "--proof", type=FILE, help="A proof from the server (/api/v1/checkpoints/consistency) instead of the store."
)
@click.option("--keys", "key_file", type=FILE, help="Trusted keys, to check the signatures of the checkpoints too.")
def consistency(first: Path, second: Path, proof: Path | None, key_file: Path | None) -> None:
    """Prove that the log of the checkpoint SECOND extends that of FIRST."""
    older, newer = read_document(first, read_checkpoint), read_document(second, read_checkpoint)
    trusted = None if key_file is None else read_document(key_file, read_key_set)
    proved = _prove(older, newer) if proof is None else read_document(proof, read_consistency)
    try:
        if trusted is not None:
            older.check(trusted)
            newer.check(trusted)
        proved.check(older, newer)
    except DocumentError as fault:
        raise CliError(f"NOT CONSISTENT: {fault}") from None
    click.echo(f"The {newer.size} leaves of {newer.day} extend the {older.size} leaves of {older.day}.")
    if trusted is None:
        click.echo("The signatures of the checkpoints were NOT checked: pass the keys of the server with --keys.")


@click.command()
@target_options
def keys() -> None:
    """Print the public keys of the store as a JSON Web Key Set."""
    installation = open_installation()
    click.echo(write_document(key_set(installation.keys.public())), nl=False)


@click.command("rotate-key")
@target_options
def rotate_key() -> None:
    """Replace the signing key; the private part of the old one is deleted, its public part kept.

    The key of push notices is replaced too if it cannot be decrypted.
    """
    installation = open_installation()
    installation.store.check_clock()
    made = installation.keys.rotate()
    record_keys(installation.administration, installation.keys.known())
    push_replaced = installation.push_key.replace_unreadable()
    click.echo(f"The store signs with key {made.id} from now on.")
    if push_replaced:
        click.echo("Push notices have a new key, too: browsers subscribe again when their owners visit the pages.")


def _parse_instant(context: click.Context, parameter: click.Parameter, text: str) -> int:
    """Return the milliseconds since 1970 UTC of an instant in RFC 3339; raises BadParameter (exit code 2)."""
    try:
        instant = datetime.fromisoformat(text)
    except ValueError:
        instant = None
    if instant is None or instant.tzinfo is None:
        raise click.BadParameter(f"{text!r} is not an instant such as 2026-01-31T12:00:00Z", context, parameter)
    return round(instant.timestamp() * 1000)


# An id may begin with a dash, and have an "h".
@click.command("revoke-key", context_settings={"ignore_unknown_options": True, "help_option_names": ["--help"]})
@target_options
@click.argument("key")
@click.option("--since", required=True, callback=_parse_instant, help="Such as 2026-01-31T12:00:00Z.")
def revoke_key(key: str, since: int) -> None:
    """Declare invalid what KEY has signed since an instant; the published key set says so.

    If KEY is the current one, it is replaced.
    """
    installation = open_installation()
    installation.store.check_clock()
    try:
        made = installation.keys.revoke(key, since)
    except LookupError as error:
        raise CliError(str(error)) from None
    record_keys(installation.administration, installation.keys.known())
    click.echo(f"Key {key} is revoked from {rfc3339(since)} on.")
    if made is not None:
        click.echo(f"The store signs with key {made.id} from now on.")


def read_document(path: Path, read: Callable[[bytes], T]) -> T:
    """Return the result of ``read`` for a file; raises CliError with the place of its first fault."""
    try:
        return read(path.read_bytes())
    except DocumentError as fault:
        raise CliError(escape_unprintable(f"{path}: {fault}")) from None


def _prove(first: Checkpoint, second: Checkpoint) -> Consistency:
    installation = open_installation()
    try:
        return installation.checkpoints.consistency(first.size, second.size)
    except ValueError as error:
        raise CliError(f"NOT CONSISTENT: {error}") from None


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
