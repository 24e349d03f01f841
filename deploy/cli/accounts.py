"""Accounts: suspending, restoring and renaming them, resetting passwords."""

from collections.abc import Callable
from datetime import UTC, datetime

import click

from deploy.cli.errors import CliError
from deploy.cli.people import find_account, open_people
from deploy.cli.target import open_installation, target_options
from events.people.accounts import NameTakenError, People
from events.people.administration import CONSOLE
from events.people.names import InvalidNameError
from events.people.person import Person, Suspension
from events.runtime.errors import StoreError
from events.runtime.wall_clock import now_ms, rfc3339

MAX_REASON_LENGTH = 300


@click.command()
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


@click.command()
@target_options
@click.argument("name")
def restore(name: str) -> None:
    """Lift the suspension of the person with this NAME."""

    def act(people: People, person: Person) -> str:
        if not people.restore(person):
            raise CliError(f"{person.name} is not suspended")
        return f"{person.name} may act again"

    _act_on(name, "person-restored", {}, act)


@click.command()
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


@click.command("reset-password")
@target_options
@click.argument("name")
def reset_password(name: str) -> None:
    """Give the person with this NAME a new password, shown once; sessions end, tokens remain valid."""

    def act(people: People, person: Person) -> str:
        return f"The new password of {person.name}, to be changed in the settings:\n{people.reset_password(person)}"

    _act_on(name, "password-reset", {}, act)


def _act_on(name: str, act: str, facts: dict[str, int | None], carry_out: Callable[[People, Person], str]) -> None:
    """Carry out an act on the person with this name and log it, without the reason and the names.

    Crash-safe: what is reported has been carried out and logged. After a crash in between, the act has been carried out
    and not logged; the command has reported nothing, and when it is run again it carries out and logs the same.
    """
    people, administration = open_people()
    try:
        open_installation().store.check_clock()
        person = find_account(people, name)
        done = carry_out(people, person)
        administration.record(act, CONSOLE, {"person": person.id, **{k: v for k, v in facts.items() if v is not None}})
    except StoreError as error:
        raise CliError(str(error)) from error
    click.echo(done)


def _parse_instant(text: str) -> int:
    try:
        parsed = datetime.fromisoformat(text)
    except ValueError:
        raise CliError(f"{text!r} is not an instant such as 2027-01-31T12:00Z") from None
    if parsed.tzinfo is None:
        parsed = parsed.replace(tzinfo=UTC)
    return int(parsed.timestamp() * 1000)
