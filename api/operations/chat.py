"""Who may read and write the chat of a match."""

from api.http.problems import Problem
from api.services import services
from domain.match.state import MatchState
from events.people.person import Person
from events.private.chats import MOST_MESSAGES, Message


def hears(state: MatchState, person: Person | None) -> bool:
    """Tell whether ``person``, who may see the match, may read its chat now."""
    return state.ended or _has_part(state, person)


def speaks(state: MatchState, person: Person | None) -> bool:
    """Tell whether ``person``, who may see the match, may say something now."""
    return person is not None and (_has_part(state, person) or (state.ended and is_open(state)))


def is_open(state: MatchState) -> bool:
    """Tell whether all people who play the match, or have played it, want others to join in when it is over."""
    players = _players(state)
    return bool(players) and players <= services().chats.wanting_others(state.match)


def refuse_deaf(state: MatchState, person: Person | None) -> None:
    """Raise the problem muted when ``person`` does not hear the chat of the match now."""
    if not hears(state, person):
        raise Problem("muted", "Only the players can read the chat until the match is over.")


def message_of(match: str, number: int) -> Message:
    """Return a message of the chat of ``match``; raises the problem no-such-message."""
    found = services().chats.read(match, number - 1, 1) if 0 < number <= MOST_MESSAGES else []
    if not found or found[0].number != number:
        raise Problem("no-such-message", "The chat of this match has no message of this number.")
    return found[0]


def _has_part(state: MatchState, person: Person | None) -> bool:
    return person is not None and state.has_part(person.id)


def _players(state: MatchState) -> set[str]:
    return {seat.player for seat in state.seats if seat.player is not None and seat.level is None and seat.joined}
