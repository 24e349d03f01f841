"""Roles on the command line: who may judge and who may look after the installation."""

import click
from redis.exceptions import RedisError

from deploy.cli.arguments import Refusal, open_store
from events.administration import CONSOLE, ROLES, Administration
from events.clock import now_ms
from events.people import People, Person
from events.settings import Settings, store_from
from events.store import StoreError

role_argument = click.argument("role", type=click.Choice(ROLES))


@click.group()
def people() -> None:
    """Roles and accounts: who may judge and operate, and who may not act; the store is that of REDIS_URL."""


@people.command()
@click.argument("name")
@role_argument
def grant(name: str, role: str) -> None:
    """Give the person of this NAME a role."""
    _change(name, role, granted=True)


@people.command()
@click.argument("name")
@role_argument
def revoke(name: str, role: str) -> None:
    """Take a role from the person of this NAME."""
    _change(name, role, granted=False)


@people.command()
def roles() -> None:
    """List who has which roles."""
    persons, administration = parts()
    try:
        holders = administration.holders()
        known = persons.persons(holders)
    except RedisError as error:
        raise Refusal(str(error)) from error
    for person, held in sorted(holders.items()):
        click.echo(f"{known[person].name if person in known else person}  {', '.join(sorted(held))}")


def _change(name: str, role: str, granted: bool) -> None:
    persons, administration = parts()
    try:
        open_store().check_clock()
        person = account_of(persons, name)
        if granted:
            administration.grant(person.id, role, CONSOLE)
        else:
            administration.revoke(person.id, role, CONSOLE)
    except (RedisError, StoreError) as error:
        raise Refusal(str(error)) from error
    click.echo(f"{person.name} is {'now' if granted else 'no longer'} {role}")


def account_of(persons: People, name: str) -> Person:
    """Return who has signed up with this name; raises Refusal when nobody has."""
    person = persons.find(name)
    if person is None or person.kind != "person":
        raise Refusal(f"nobody has signed up with the name {name!r}")
    return person


def parts() -> tuple[People, Administration]:
    """Return the people and the administration of the installation that the environment names."""
    settings = Settings.from_environment()
    client = store_from(settings).client
    return People(client, settings.prefix, now_ms), Administration(client, settings.prefix, now_ms)
