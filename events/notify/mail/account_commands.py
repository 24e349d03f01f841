"""The commands of a mail that are about no match, which are understood in every mail."""

from collections.abc import Sequence

from events.notify.addresses import AddressStore, stopped
from events.notify.mail.language import Command, Reading, UnknownLine, Verb
from events.notify.mail.transcript import Effect, Report, Result


def execute_account_commands(addresses: AddressStore, reading: Reading, player: str, now: int) -> Report:
    """Carry out the commands of a mail that is about no match: only ``stop mail`` does something."""
    results = []
    for item in reading.items:
        if isinstance(item, UnknownLine):
            results.append(unknown(item))
        elif item.verb == Verb.STOP_MAIL:
            results.append(stop_mail(addresses, item, player, now))
        elif item.verb == Verb.HELP:
            results.append(Result(line=item.line, effect=Effect.SHOWN, words="All commands are listed below."))
        else:
            words = "The mail that you have answered is about no single match: answer to the mail of a match."
            results.append(Result(line=item.line, effect=Effect.REFUSED, words=words))
    return report_of(reading, results)


def stop_mail(addresses: AddressStore, command: Command, player: str, now: int) -> Result:
    """Stop notices by mail to ``player``."""
    addresses.change(player, lambda stored: stopped(stored, now))
    words = "No more notices are sent by mail. You can have them sent again on the settings page."
    return Result(line=command.line, effect=Effect.DONE, words=words)


def unknown(item: UnknownLine) -> Result:
    """Return the reply to a line that is no command."""
    return Result(line=item.line, effect=Effect.UNKNOWN, words=item.reason.value)


def report_of(reading: Reading, results: Sequence[Result], receipt: str = "") -> Report:
    """Return the outcome of a mail with this ``reading``; with the list of commands if it asks for that."""
    return Report(
        results=tuple(results),
        passed_over=reading.passed_over,
        gave_up=reading.gave_up,
        wants_help=any(command.verb == Verb.HELP for command in reading.commands),
        receipt=receipt,
    )
