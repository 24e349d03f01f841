"""Roles: who may judge cases and who may operate the installation."""

import click

from deploy.cli.errors import CliError
from deploy.cli.lazy_group import LazyGroup
from deploy.cli.output import escape_unprintable
from deploy.cli.target import open_installation, target_options
from events.people.accounts import People
from events.people.administration import CONSOLE, ROLES, Administration
from events.people.person import Person
from events.runtime.errors import StoreError
from events.runtime.wall_clock import rfc3339
from events.store.envelope import canonical_json

role_argument = click.argument("role", type=click.Choice(ROLES))


COMMANDS = {
    "suspend": "deploy.cli.accounts:suspend",
    "restore": "deploy.cli.accounts:restore",
    "rename": "deploy.cli.accounts:rename",
    "reset-password": "deploy.cli.accounts:reset_password",
}


@click.group(cls=LazyGroup, locations=COMMANDS)
def people() -> None:
    """Roles and accounts."""


@people.command()
@target_options
@click.argument("name")
@role_argument
def grant(name: str, role: str) -> None:
    """Give the person with this NAME a role."""
    _change(name, role, granted=True)


@people.command()
@target_options
@click.argument("name")
@role_argument
def revoke(name: str, role: str) -> None:
    """Take a role from the person with this NAME."""
    _change(name, role, granted=False)


@people.command()
@target_options
def roles() -> None:
    """List the people who have roles."""
    people, administration = open_people()
    try:
        holders = administration.holders()
        known = people.persons(holders)
    except StoreError as error:
        raise CliError(str(error)) from error
    for person, held in sorted(holders.items()):
        click.echo(f"{known[person].name if person in known else person}  {', '.join(sorted(held))}")


@people.command("log")
@target_options
@click.option("--after", type=click.IntRange(0), default=0, show_default=True, help="Only entries after this number.")
@click.option(
    "--canonical",
    is_flag=True,
    help="Print the id and the canonical JSON of each entry, from which the ids are computed.",
)
def show_log(after: int, canonical: bool) -> None:
    """Print the log of what arbiters and operators have done, and check that it was not changed.

    The id of an entry is the SHA-256 of the 32 bytes of the previous id (zeros for the first) and its canonical JSON.
    `rookery verify` and `rookery audit all` compare the log with the rest of the store.
    """
    people, administration = open_people()
    faults = 0
    try:
        for entry in administration.entries():
            if entry.fault is not None:
                faults += 1
                click.echo(escape_unprintable(f"DAMAGED entry {entry.number}: {entry.fault}"))
            if entry.act is None or entry.number <= after:
                continue
            if canonical:
                click.echo(f"{entry.act.id} {entry.act.canonical}")
                continue
            person = people.person(entry.act.actor)
            actor = entry.act.actor if person is None else f"{person.name} ({person.id})"
            act, facts = entry.act, canonical_json(entry.act.facts).decode()
            click.echo(escape_unprintable(f"{act.number}  {rfc3339(act.at)}  {act.act} by {actor}  {facts}  {act.id}"))
        last, head = administration.last(), administration.head()
    except StoreError as error:
        raise CliError(str(error)) from error
    if head not in (None, last):
        faults += 1
        click.echo(f"DAMAGED the log ends with entry {last.version}, which its recorded head does not match")
    if faults:
        raise SystemExit(1)


def _change(name: str, role: str, granted: bool) -> None:
    people, administration = open_people()
    try:
        open_installation().store.check_clock()
        person = find_account(people, name)
        if granted:
            administration.grant(person.id, role, CONSOLE)
        else:
            administration.revoke(person.id, role, CONSOLE)
    except StoreError as error:
        raise CliError(str(error)) from error
    click.echo(f"{person.name} is {'now' if granted else 'no longer'} {role}")


def find_account(people: People, name: str) -> Person:
    """Return the account with this name; raises CliError when there is none."""
    person = people.find(name)
    if person is None or person.kind == "guest":
        raise CliError(f"there is no account with the name {name!r}")
    return person


def open_people() -> tuple[People, Administration]:
    """Return the accounts and the administration of the installation."""
    installation = open_installation()
    return installation.people, installation.administration
