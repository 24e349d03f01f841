"""The commands of a mail that are about no match, which are understood in every mail."""

from collections.abc import Sequence

from events.notify.addresses import AddressStore, stopped
from events.notify.mail.language import Command, Reading, UnknownLine, Verb
from events.notify.mail.transcript import Effect, LineResult, MailReport


def execute_account_commands(addresses: AddressStore, reading: Reading, player: str, now: int) -> MailReport:
    """Carry out the commands of a mail that is about no match: only ``stop mail`` does something."""
    results = []
    for item in reading.items:
        if isinstance(item, UnknownLine):
            results.append(unknown(item))
        elif item.verb == Verb.STOP_MAIL:
            results.append(stop_mail(addresses, item, player, now))
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
