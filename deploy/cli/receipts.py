"""Comparing a receipt with a bundle, offline."""

from pathlib import Path

import click

from deploy.cli.audit import FILE, read_keys, read_limited
from deploy.cli.output import CliError, escape_unprintable
from events.proof.bundle import read_bundle
from events.proof.documents import DocumentError
from events.proof.public_keys import KeySet
from events.proof.receipts import MAX_RECEIPT_BYTES, Comparison, Receipt, compare, read_receipt
from events.proof.verification import verify
from events.runtime.wall_clock import rfc3339


@click.command("receipt")
@click.argument("receipt", type=FILE)
@click.argument("bundle", type=FILE)
@click.option("--keys", "key_file", type=FILE, help="Trusted keys, as /.well-known/rookery-keys.json has them.")
def receipt(receipt: Path, bundle: Path, key_file: Path | None) -> None:
    """Say whether BUNDLE contains what the server has signed in RECEIPT, or tells another story.

    The receipt may be copied out of a mail, with its lines broken and quoted.
    """
    keys = None if key_file is None else read_keys(key_file)
    given = _read_receipt(receipt, keys)
    packed = read_limited(bundle)
    try:
        for _ in verify(packed, keys, rules=False):
            pass
        shown = read_bundle(packed)
        comparison = compare(given, shown)
    except DocumentError as fault:
        raise CliError(escape_unprintable(f"{bundle}: FAULT  {fault}")) from None
    signed = "" if keys is not None else " Give the keys of the server with --keys: no signature has been checked."
    version = given.version
    if comparison is Comparison.CONTAINED:
        click.echo(
            f"CONTAINED  The bundle has version {version} with the digest of the receipt, {given.digest}.{signed}"
        )
        if keys is None:
            raise SystemExit(1)
        return
    if comparison is Comparison.EARLIER:
        words = f"The bundle ends with version {shown.head.version}, before the receipt's {version}, and is no later"
        raise CliError(f"NOT COMPARED  {words}: get a newer one.{signed}")
    if comparison is Comparison.MISSING:
        dated = rfc3339(shown.signature.signed_at), rfc3339(given.signed_at)
        words = f"the bundle of {dated[0]} ends with version {shown.head.version}, the receipt of {dated[1]} is for"
        raise CliError(f"TWO STORIES  {words} version {version}, {given.digest}.{signed}")
    words = f"version {version} has the digest {given.digest} in the receipt and"
    raise CliError(f"TWO STORIES  {words} {shown.events[version - 1].digest} in the bundle.{signed}")


def _read_receipt(path: Path, keys: KeySet | None) -> Receipt:
    """Return the receipt in a file, when one of ``keys`` has signed it; raises CliError."""
    with path.open("rb") as file:
        packed = file.read(MAX_RECEIPT_BYTES + 1)
    try:
        given = read_receipt(packed)
        if keys is not None:
            given.check(keys)
    except DocumentError as fault:
        raise CliError(escape_unprintable(f"{path}: FAULT  {fault}")) from None
    return given
