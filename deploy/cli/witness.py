"""Witnesses: who cosigns the checkpoints of this installation, and being one for others."""

import sqlite3
import time
from pathlib import Path

import click

from deploy.cli.errors import CliError, report_errors
from deploy.cli.output import escape_unprintable
from deploy.cli.target import open_installation, target_options
from deploy.cli.witness_server import serve_witness
from events.proof.documents import DocumentError
from events.proof.notes import ED25519, NoteKey, check_key_name, parse_vkey
from events.proof.tree_heads import note_key
from events.runtime.egress_rules import EgressRefusedError
from events.runtime.logs import configure
from events.runtime.wall_clock import rfc3339
from events.transparency.witnesses import WitnessError, WitnessStanding
from events.transparency.witnessing import Witness, WitnessState

PORT = 8030


@click.group()
def witness() -> None:
    """Have checkpoints cosigned by others, and cosign those of others."""


@witness.command()
@target_options
@click.argument("url")
@click.argument("vkey")
def add(url: str, vkey: str) -> None:
    """Have every checkpoint cosigned by the witness at URL with the verifier key VKEY.

    A witness on a private address must be allowed by ROOKERY_EGRESS_ALLOWED.
    """
    installation = open_installation()
    try:
        with report_errors():
            installation.egress_rules.check_url(url)
            key = installation.witnesses.add(url, vkey)
    except (WitnessError, EgressRefusedError) as error:
        raise CliError(str(error)) from None
    click.echo(f"{key.name} is asked to cosign every checkpoint from now on.")


@witness.command()
@target_options
@click.argument("name")
def remove(name: str) -> None:
    """Ask the witness NAME no more; what it has cosigned stays."""
    installation = open_installation()
    try:
        with report_errors():
            installation.witnesses.remove(name)
    except WitnessError as error:
        raise CliError(str(error)) from None
    click.echo(f"{name} is not asked any more.")


@witness.command("list")
@target_options
def list_witnesses() -> None:
    """List the witnesses, and what became of the last request to each."""
    installation = open_installation()
    with report_errors():
        witnesses = installation.witnesses.all()
    for each in witnesses:
        click.echo(escape_unprintable(f"{each.key.name}  {each.url}  {_standing(each)}"))
    if not witnesses:
        click.echo("There are no witnesses: add one with rookery witness add URL VKEY")


@witness.command("show-key")
@target_options
def show_key() -> None:
    """Print the verifier key of this installation's log, for those who witness or monitor it."""
    installation = open_installation()
    with report_errors():
        key = note_key(installation.checkpoints.origin(), installation.keys.signing().public.raw)
    click.echo(key.vkey)


@witness.command()
@click.option("--name", required=True, help="The name of this witness: a host and a path, as club.example/witness.")
@click.option("--log", "vkeys", multiple=True, required=True, help="Verifier key of a log; may be repeated.")
@click.option(
    "--state",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Directory of its key and memory. It must never go back to an older state: no backup, no snapshot.",
)
@click.option("--bind", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(1, 65535), default=PORT, show_default=True)
@click.option("--proxy", help="Address of the proxy in front, which is believed who asks.")
def serve(name: str, vkeys: tuple[str, ...], state: Path, bind: str, port: int, proxy: str | None) -> None:
    """Cosign the checkpoints of other logs until SIGTERM (c2sp.org/tlog-witness).

    Its verifier key is printed first, for those logs to add.
    """
    configure()
    logs = [_read_log(vkey) for vkey in vkeys]
    try:
        check_key_name(name)
        memory = WitnessState(state)
        made = Witness(memory.key(name), logs, memory, lambda: int(time.time()))
        server = serve_witness(made, bind, port, proxy)
    except (DocumentError, ValueError) as error:
        raise CliError(str(error)) from None
    except OSError as error:
        raise CliError(f"{error.strerror}: {error.filename or f'port {port} on {bind}'}") from None
    except sqlite3.Error as error:
        raise CliError(f"the memory of the witness in {state} cannot be used: {error}") from None
    click.echo(made.key.public.vkey)
    server.run()


def _read_log(vkey: str) -> NoteKey:
    try:
        key = parse_vkey(vkey)
    except DocumentError as fault:
        raise CliError(f"--log: {fault}") from None
    if key.type != ED25519:
        raise CliError("--log: the verifier key is that of a witness (type 04); a log has one of type 01")
    return key


def _standing(each: WitnessStanding) -> str:
    cosigned = "has cosigned nothing yet"
    if each.cosigned_at is not None:
        cosigned = f"has cosigned {each.size} leaves at {rfc3339(each.cosigned_at)}"
    if each.contradicts:
        return f"{cosigned}; CONTRADICTS this log: {each.trouble}"
    if each.failures:
        times = "once" if each.failures == 1 else f"{each.failures} times in a row"
        return f"{cosigned}; has failed {times}: {each.trouble}; is asked again at {rfc3339(each.due)}"
    return cosigned
