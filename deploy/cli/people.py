"""Roles and accounts: suspending, restoring and renaming, resetting passwords."""

from collections.abc import Callable
from datetime import UTC, datetime

import click

from deploy.cli.lazy_group import LazyGroup
from deploy.cli.output import CliError, escape_unprintable
from deploy.cli.target import open_installation, target_options
from events.people.accounts import NameTakenError, People
from events.people.administration import CONSOLE, ROLES, Administration
from events.people.names import InvalidNameError
from events.people.person import Person, Suspension
from events.runtime.wall_clock import now_ms, rfc3339
from events.store.envelope import canonical_json

role_argument = click.argument("role", type=click.Choice(ROLES))


@click.group(cls=LazyGroup)
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
    holders = administration.holders()
    persons = people.persons(holders)
    for person, held in sorted(holders.items()):
        click.echo(f"{persons[person].name if person in persons else person}  {', '.join(sorted(held))}")


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
    if head not in (None, last):
        faults += 1
        click.echo(f"DAMAGED the log ends with entry {last.version}, which its recorded head does not match")
    if faults:
        raise SystemExit(1)


def _change(name: str, role: str, granted: bool) -> None:
    people, administration = open_people()
    open_installation().store.check_clock()
    person = find_account(people, name)
    if granted:
        administration.grant(person.id, role, CONSOLE)
    else:
        administration.revoke(person.id, role, CONSOLE)
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


MAX_REASON_LENGTH = 300


@people.command()
@target_options
@click.argument("name")
@click.option("--reason", required=True, help="Shown to the person when they sign in or act.")
@click.option("--until", help="An instant such as 2027-01-31T12:00Z; default: until `restore`.")
def suspend(name: str, reason: str, until: str | None) -> None:
    """Suspend the person with this NAME: sessions end, tokens only read; their matches and clocks continue."""
    if not 0 < len(reason.strip()) <= MAX_REASON_LENGTH:
        raise CliError(f"--reason must have 1 to {MAX_REASON_LENGTH} characters")
    end = None if until is None else _parse_instant(until)
    if end is not None and end <= now_ms():
        raise CliError("--until is in the past")

    def act(people: People, person: Person) -> str:
        people.suspend(person, Suspension(reason.strip(), end))
        return f"{person.name} is suspended {'until ' + rfc3339(end) if end is not None else 'until restored'}"

    _act_on(name, "person-suspended", {"until": end}, act)


@people.command()
@target_options
@click.argument("name")
def restore(name: str) -> None:
    """Lift the suspension of the person with this NAME."""

    def act(people: People, person: Person) -> str:
        if not people.restore(person):
            raise CliError(f"{person.name} is not suspended")
        return f"{person.name} may act again"

    _act_on(name, "person-restored", {}, act)


@people.command()
@target_options
@click.argument("name")
@click.argument("new_name")
def rename(name: str, new_name: str) -> None:
    """Rename the person with this NAME; sessions and tokens remain valid."""

    def act(people: People, person: Person) -> str:
        try:
            return f"{person.name} is now {people.rename(person, new_name).name}"
        except InvalidNameError as error:
            raise CliError(str(error)) from error
        except NameTakenError as error:
            raise CliError(f"the name {new_name!r} is taken, or looks like one that is taken") from error

    _act_on(name, "person-renamed", {}, act)


@people.command("reset-password")
@target_options
@click.argument("name")
def reset_password(name: str) -> None:
    """Give the person with this NAME a new password, shown once; sessions end, tokens remain valid."""

    def act(people: People, person: Person) -> str:
        return f"The new password of {person.name}, to be changed in the settings:\n{people.reset_password(person)}"

    _act_on(name, "password-reset", {}, act)


def _act_on(name: str, act: str, facts: dict[str, int | None], carry_out: Callable[[People, Person], str]) -> None:
    """Carry out an act on the person with this name and log it, without the reason and the names.

    Crash-safe: a reported act has been carried out and logged. After a crash in between, the act has been carried out
    and not logged; the command has reported nothing, and when it is run again it carries out and logs the same.
    """
    people, administration = open_people()
    open_installation().store.check_clock()
    person = find_account(people, name)
    done = carry_out(people, person)
    administration.record(act, CONSOLE, {"person": person.id, **{k: v for k, v in facts.items() if v is not None}})
    click.echo(done)


def _parse_instant(text: str) -> int:
    try:
        parsed = datetime.fromisoformat(text)
    except ValueError:
        raise CliError(f"{text!r} is not an instant such as 2027-01-31T12:00Z") from None
    if parsed.tzinfo is None:
        parsed = parsed.replace(tzinfo=UTC)
    return int(parsed.timestamp() * 1000)
