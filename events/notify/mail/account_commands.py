"""The commands of a mail that are about no match, which are understood in every mail."""

from collections.abc import Callable, Sequence
from typing import Protocol

from events.contests.tournaments import Tournaments
from events.notify.addresses import AddressStore, stopped
from events.notify.mail.language import Command, Reading, UnknownLine, Verb
from events.notify.mail.tournament_commands import execute_tournament_command
from events.notify.mail.transcript import Effect, LineResult, MailReport
from events.people.accounts import People
from events.people.person import Person, Suspension
from events.runtime.wall_clock import rfc3339


class AccountParts(Protocol):
    """The parts of an installation that commands about no match need."""

    @property
    def addresses(self) -> AddressStore:
        """The mail addresses of players."""

    @property
    def people(self) -> People:
        """The accounts."""

    @property
    def tournaments(self) -> Tournaments:
        """The tournaments."""

    @property
    def now(self) -> Callable[[], int]:
        """The clock, in milliseconds since 1970 UTC."""


def execute_account_commands(parts: AccountParts, reading: Reading, person: Person, mail: str) -> MailReport:
    """Carry out the commands of a mail (a digest names it) that is about no match; return their outcomes."""
    results = []
    suspension = parts.people.suspension(person)
    for number, item in enumerate(reading.items):
        if isinstance(item, UnknownLine):
            results.append(unknown(item))
        elif item.verb == Verb.STOP_MAIL:
            results.append(stop_mail(parts.addresses, item, person.id, parts.now()))
        elif item.verb in (Verb.ENTER, Verb.LEAVE) and suspension is not None:
            results.append(suspended(item, suspension))
        elif item.verb in (Verb.ENTER, Verb.LEAVE):
            key = f"mail:{person.id}:{mail}:{number}"
            results.append(execute_tournament_command(parts.tournaments, item, person, key))
        elif item.verb == Verb.HELP:
            results.append(LineResult(line=item.line, effect=Effect.SHOWN, words="All commands are listed below."))
        else:
            words = "The mail that you have answered is about no single match: answer to the mail of a match."
            results.append(LineResult(line=item.line, effect=Effect.REFUSED, words=words))
    return report_of(reading, results)


def stop_mail(addresses: AddressStore, command: Command, player: str, now: int) -> LineResult:
    """Stop notices by mail to ``player``."""
    addresses.change(player, lambda stored: stopped(stored, now))
    words = "No more notices are sent by mail. You can have them sent again on the settings page."
    return LineResult(line=command.line, effect=Effect.DONE, words=words)


def suspended(item: Command, suspension: Suspension) -> LineResult:
    """Return the reply to a command from a suspended account."""
    until = "" if suspension.until is None else f" until {rfc3339(suspension.until)}"
    words = f"Your account is suspended{until}: {suspension.reason}"
    return LineResult(line=item.line, effect=Effect.REFUSED, words=words)


def unknown(item: UnknownLine) -> LineResult:
    """Return the reply to a line that is no command."""
    return LineResult(line=item.line, effect=Effect.UNKNOWN, words=item.reason.value)


def report_of(reading: Reading, results: Sequence[LineResult], receipt: str = "") -> MailReport:
    """Return the outcome of a mail with this ``reading``; with the list of commands if it asks for that."""
    return MailReport(
        results=tuple(results),
        passed_over=reading.passed_over,
        gave_up=reading.gave_up,
        wants_help=any(command.verb == Verb.HELP for command in reading.commands),
        receipt=receipt,
    )
