"""Entering and leaving tournaments by mail: commands that are understood in every mail."""

from domain.contest.tournament.commands import EnterTournament, LeaveTournament
from domain.match.refusals import CommandError
from events.contests.contests import UnknownContestError
from events.contests.tournaments import Tournaments
from events.notify.mail.language import Command, Verb
from events.notify.mail.transcript import Effect, LineResult
from events.people.person import Person
from events.store.contract import Request


def execute_tournament_command(tournaments: Tournaments, command: Command, person: Person, key: str) -> LineResult:
    """Let ``person`` enter or leave the tournament that ``command`` names; return the outcome.

    Crash-safe: one append under the request key ``key``, so that a repetition finds the first outcome.
    """
    (id,) = command.argument
    try:
        state = tournaments.contests.load(id).state
        wanted: EnterTournament | LeaveTournament = LeaveTournament(player=person.id)
        if command.verb == Verb.ENTER:
            wanted = EnterTournament(player=person.id, facts=tournaments.entry_facts(person, state))
        tournaments.contests.execute(id, wanted, person.id, Request(key, key))
    except UnknownContestError:
        return _refused(command, "There is no such tournament.")
    except CommandError as refusal:
        reason = str(refusal)
        return _refused(command, f"{reason[:1].upper()}{reason[1:]}.")
    after = tournaments.refresh(id)
    entered = person.id in after.entries or after.entrant_of(person.id) is not None
    words = f"You have {'entered' if entered else 'left'} the tournament {after.terms.title}."
    return LineResult(line=command.line, effect=Effect.DONE, words=words)


def _refused(command: Command, words: str) -> LineResult:
    return LineResult(line=command.line, effect=Effect.REFUSED, words=words)
