"""What operators do with accounts: suspend, restore and rename them, reset passwords."""

from collections.abc import Callable
from datetime import UTC, datetime

import click

from deploy.cli.arguments import Refusal
from deploy.cli.installation import open_installation, store_options
from deploy.cli.people import account_of, parts
from events.people.accounts import NameTaken, People
from events.people.administration import CONSOLE
from events.people.names import InvalidName
from events.people.person import Person, Suspension
from events.runtime.errors import StoreError
from events.runtime.wall_clock import now_ms, rfc3339

MAX_REASON_LENGTH = 300


@click.command()
@store_options
@click.argument("name")
@click.option("--reason", required=True, help="Shown to the person when signing in or acting.")
@click.option("--until", help="An instant such as 2027-01-31T12:00Z; without it, until `restore`.")
def suspend(name: str, reason: str, until: str | None) -> None:
    """Let the person of this NAME not act: sessions end, tokens only read; matches go on with their clocks."""
    if not 0 < len(reason.strip()) <= MAX_REASON_LENGTH:
        raise Refusal(f"--reason has 1 to {MAX_REASON_LENGTH} characters")
    end = None if until is None else _instant(until)
    if end is not None and end <= now_ms():
        raise Refusal("--until is in the past")

    def act(persons: People, person: Person) -> str:
        persons.suspend(person, Suspension(reason.strip(), end))
        return f"{person.name} is suspended {'until ' + rfc3339(end) if end is not None else 'until restored'}"

    _act_on(name, "person-suspended", {"until": end}, act)


@click.command()
@store_options
@click.argument("name")
def restore(name: str) -> None:
    """Let a suspended person of this NAME act again."""

    def act(persons: People, person: Person) -> str:
        if not persons.restore(person):
            raise Refusal(f"{person.name} is not suspended")
        return f"{person.name} may act again"

    _act_on(name, "person-restored", {}, act)


@click.command()
@store_options
@click.argument("name")
@click.argument("new_name")
def rename(name: str, new_name: str) -> None:
    """Give the person of this NAME another one; sessions and tokens go on."""

    def act(persons: People, person: Person) -> str:
        try:
            return f"{person.name} is now {persons.rename(person, new_name).name}"
        except InvalidName as error:
            raise Refusal(str(error)) from error
        except NameTaken as error:
            raise Refusal(f"the name {new_name!r} is taken, or looks like one that is taken") from error

    _act_on(name, "person-renamed", {}, act)


@click.command("reset-password")
@store_options
@click.argument("name")
def reset_password(name: str) -> None:
    """Give the person of this NAME a new password, shown this once; sessions end, tokens stay."""

    def act(persons: People, person: Person) -> str:
        return f"The new password of {person.name}, to be changed in the settings:\n{persons.reset_password(person)}"

    _act_on(name, "password-reset", {}, act)


def _act_on(name: str, act: str, facts: dict[str, int | None], carry_out: Callable[[People, Person], str]) -> None:
    """Carry an act out on the person of this name and log it; the reason and the names are not in the log.

    Crash-safe: what is reported as done has been done and logged. Killed in between, the act has been done and is not
    logged; the command reported nothing, and run again it does and logs the same.
    """
    persons, administration = parts()
    try:
        open_installation().store.check_clock()
        person = account_of(persons, name)
        done = carry_out(persons, person)
        administration.record(act, CONSOLE, {"person": person.id, **{k: v for k, v in facts.items() if v is not None}})
    except StoreError as error:
        raise Refusal(str(error)) from error
    click.echo(done)


def _instant(text: str) -> int:
    try:
        parsed = datetime.fromisoformat(text)
    except ValueError:
        raise Refusal(f"{text!r} is no instant such as 2027-01-31T12:00Z") from None
    if parsed.tzinfo is None:
        parsed = parsed.replace(tzinfo=UTC)
    return int(parsed.timestamp() * 1000)
