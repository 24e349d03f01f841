"""Who may read and write the chat of a match.

Its players always may; everyone else may read it when the match is over, and write then if all its players want that.
"""

from api.http.problems import Problem
from api.services import services
from domain.match.state import MatchState
from events.people.person import Person
from events.private.chats import chat_players


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
