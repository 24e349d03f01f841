"""Who may see a match, and read and write its chat. A match hidden from the caller is answered like an unknown one."""

from collections.abc import Sequence
from contextlib import suppress

from api.access.auth import current_person
from api.http.problems import Problem, no_such_match
from api.services import services
from domain.match.decisions.cases import refuse_involved, refuse_party
from domain.match.guards import seat_of
from domain.match.refusals import CommandError
from domain.match.state import MatchState
from events.matches.matches import Loaded, UnknownMatchError
from events.people.administration import ARBITER
from events.people.chats import chat_players
from events.people.person import Person


def visible_match(match_id: str) -> Loaded:
    """Return the match; raise the problem no-such-match unless it exists and the caller may see it."""
    try:
        loaded = services().matches.load(match_id)
    except UnknownMatchError:
        raise no_such_match() from None
    if loaded.state.private and not may_see(loaded.state, current_person()):
        raise no_such_match()
    return loaded


def own_match(match_id: str) -> Loaded:
    """Return a match in which the caller has a seat; raises the problems no-such-match and not-your-seat."""
    loaded, person = visible_match(match_id), current_person()
    seat_of(loaded.state, person.id if person else "")
    return loaded


def may_see(state: MatchState, person: Person | None) -> bool:
    """Return whether ``person`` may see the match.

    A private match is visible to its creator, its players and those invited, and to arbiters once it has had a case.
    """
    if not state.private:
        return True
    if person is None:
        return False
    if state.has_part(person.id):
        return True
    return bool(state.cases.disputes) and ARBITER in services().administration.roles_of(person.id)


def is_sole_arbiter(state: MatchState, person: Person) -> bool:
    """Return whether nobody but ``person`` holds the office of arbiter and may rule on the open case of the match."""
    dispute = state.cases.open
    if dispute is None:
        return False
    for other, roles in services().administration.holders().items():
        if ARBITER not in roles or other == person.id:
            continue
        with suppress(CommandError):
            refuse_party(state, other)
            refuse_involved(state, dispute, other)
            return False
    return True


def listed_for(person: Person | None, match_ids: Sequence[str]) -> set[str]:
    """Return those of ``match_ids`` that are public or in which ``person`` has a part, according to the read models."""
    summaries = (projected.summary for projected in services().readmodels.projected(match_ids) if projected is not None)
    own = person.id if person else ""
    return {
        summary.match
        for summary in summaries
        if not summary.private or own in (summary.creator, *(seat.player for seat in summary.seats))
    }


def may_read_chat(state: MatchState, person: Person | None) -> bool:
    """Return whether ``person``, who may see the match, may read its chat now."""
    return state.ended or _has_part(state, person)


def may_write_chat(state: MatchState, person: Person | None) -> bool:
    """Return whether ``person``, who may see the match, may write in its chat now."""
    return person is not None and (_has_part(state, person) or (state.ended and is_chat_open(state)))


def is_chat_open(state: MatchState) -> bool:
    """Return whether all people who play the match, or have played it, want others to join in when it is over."""
    players = chat_players(state)
    return bool(players) and players <= services().chats.players_open_to_others(state.match_id)


def refuse_chat_reader(state: MatchState, person: Person | None) -> None:
    """Raise the problem chat-closed when ``person`` may not read the chat of the match now."""
    if not may_read_chat(state, person):
        raise Problem("chat-closed", "Only the players can read the chat until the match is over.")


def refuse_chat_writer(state: MatchState, person: Person) -> None:
    """Raise the problem chat-closed or blocked when ``person`` may not write in the chat of the match now."""
    refuse_chat_reader(state, person)
    if not may_write_chat(state, person):
        raise Problem("chat-closed", "Only the players of this match can write here, unless all of them allow others.")
    others = chat_players(state) - {person.id}
    if others and services().blocks.blocking(others, person.id) == others:
        raise Problem("blocked", "The players of this match have blocked you.")


def _has_part(state: MatchState, person: Person | None) -> bool:
    return person is not None and state.has_part(person.id)
