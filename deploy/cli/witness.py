"""Witnesses: who cosigns the checkpoints of this installation, and being one for others."""

import click

from deploy.cli.lazy_group import LazyGroup
from deploy.cli.output import CliError, escape_unprintable
from deploy.cli.target import open_installation, target_options
from events.proof.transparency.witnesses import WitnessError, WitnessStanding
from events.proof.tree_heads import note_key
from events.runtime.egress_rules import EgressRefusedError
from events.runtime.wall_clock import rfc3339


@click.group(cls=LazyGroup, locations={"serve": "deploy.cli.witness_server:serve"})
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
        installation.egress_rules.check_url(url)
        key = installation.witnesses.add(url, vkey)
    except (WitnessError, EgressRefusedError) as error:
        raise CliError(str(error)) from None
    click.echo(f"{key.name} is asked to cosign every checkpoint from now on.")


@witness.command()
@target_options
@click.argument("name")
def remove(name: str) -> None:
    """Ask the witness NAME no more; its cosignatures stay."""
    installation = open_installation()
    try:
        installation.witnesses.remove(name)
    except WitnessError as error:
        raise CliError(str(error)) from None
    click.echo(f"{name} is not asked any more.")


@witness.command("list")
@target_options
def list_witnesses() -> None:
    """List the witnesses, and what became of the last request to each."""
    installation = open_installation()
    standings = installation.witnesses.all()
    for standing in standings:
        click.echo(escape_unprintable(f"{standing.key.name}  {standing.url}  {_describe(standing)}"))
    if not standings:
        click.echo("There are no witnesses: add one with rookery witness add URL VKEY")


@witness.command("show-key")
@target_options
def show_key() -> None:
    """Print the verifier key of this installation's log, for those who witness or monitor it."""
    installation = open_installation()
    key = note_key(installation.checkpoints.origin(), installation.keys.signing().public.raw)
    click.echo(key.vkey)


def _describe(standing: WitnessStanding) -> str:
    cosigned = "has cosigned nothing yet"
    if standing.cosigned_at is not None:
        cosigned = f"has cosigned {standing.size} leaves at {rfc3339(standing.cosigned_at)}"
    if standing.contradicts:
        return f"{cosigned}; CONTRADICTS this log: {standing.trouble}"
    if standing.failures:
        times = "once" if standing.failures == 1 else f"{standing.failures} times in a row"
        return f"{cosigned}; has failed {times}: {standing.trouble}; is asked again at {rfc3339(standing.due)}"
    return cosigned
