"""Roles on the command line: who may judge and who may look after the installation."""

import click

from deploy.cli.arguments import Refusal, printable
from deploy.cli.commands import Commands
from deploy.cli.installation import open_installation, store_options
from events.people.accounts import People
from events.people.administration import CONSOLE, ROLES, TEXTS, Administration
from events.people.person import Person
from events.runtime.errors import StoreError
from events.runtime.wall_clock import rfc3339
from events.store.envelope import canonical_json

role_argument = click.argument("role", type=click.Choice(ROLES))


PLACES = {
    "suspend": "deploy.cli.accounts:suspend",
    "restore": "deploy.cli.accounts:restore",
    "rename": "deploy.cli.accounts:rename",
    "reset-password": "deploy.cli.accounts:reset_password",
}


@click.group(cls=Commands, places=PLACES)
def people() -> None:
    """Roles and accounts: who may judge and operate, and who may not act."""


@people.command()
@store_options
@click.argument("name")
@role_argument
def grant(name: str, role: str) -> None:
    """Give the person of this NAME a role."""
    _change(name, role, granted=True)


@people.command()
@store_options
@click.argument("name")
@role_argument
def revoke(name: str, role: str) -> None:
    """Take a role from the person of this NAME."""
    _change(name, role, granted=False)


@people.command()
@store_options
def roles() -> None:
    """List who has which roles."""
    persons, administration = parts()
    try:
        holders = administration.holders()
        known = persons.persons(holders)
    except StoreError as error:
        raise Refusal(str(error)) from error
    for person, held in sorted(holders.items()):
        click.echo(f"{known[person].name if person in known else person}  {', '.join(sorted(held))}")


@people.command("log")
@store_options
@click.option("--after", type=click.IntRange(0), default=0, show_default=True, help="Only entries after this number.")
@click.option("--canonical", is_flag=True, help="Print id and canonical JSON of each entry, from which ids follow.")
def show_log(after: int, canonical: bool) -> None:
    """Print the log of what arbiters and operators have done, and check that nothing of it was changed.

    The id of an entry is the SHA-256 of the 32 bytes of the id before it (zeros for the first) and of its canonical
    JSON. What else stands in the store is compared with it by `rookery verify` and `rookery audit all`.
    """
    persons, administration = parts()
    faults = 0
    try:
        for entry in administration.entries():
            if entry.fault is not None:
                faults += 1
                click.echo(printable(f"DAMAGED entry {entry.number}: {entry.fault}"))
            if entry.act is None or entry.number <= after:
                continue
            if canonical:
                click.echo(f"{entry.act.id} {entry.act.canonical}")
                continue
            person = persons.person(entry.act.actor)
            actor = entry.act.actor if person is None else f"{person.name} ({person.id})"
            act, hidden = entry.act, TEXTS if person is None else ()
            facts = canonical_json({name: value for name, value in act.facts.items() if name not in hidden}).decode()
            click.echo(printable(f"{act.number}  {rfc3339(act.at)}  {act.act} by {actor}  {facts}  {act.id}"))
        last, head = administration.last(), administration.head()
    except StoreError as error:
        raise Refusal(str(error)) from error
    if head not in (None, last):
        faults += 1
        click.echo(f"DAMAGED the log ends with entry {last.version}, and the head beside it is another")
    if faults:
        raise SystemExit(1)


def _change(name: str, role: str, granted: bool) -> None:
    persons, administration = parts()
    try:
        open_installation().store.check_clock()
        person = account_of(persons, name)
        if granted:
            administration.grant(person.id, role, CONSOLE)
        else:
            administration.revoke(person.id, role, CONSOLE)
    except StoreError as error:
        raise Refusal(str(error)) from error
    click.echo(f"{person.name} is {'now' if granted else 'no longer'} {role}")


def account_of(persons: People, name: str) -> Person:
    """Return who has signed up with this name; raises Refusal when there is none."""
    person = persons.find(name)
    if person is None or person.kind != "person":
        raise Refusal(f"there is no account with the name {name!r}")
    return person


def parts() -> tuple[People, Administration]:
    """Return the people and the administration of the installation."""
    parts = open_installation()
    return parts.people, parts.administration
