"""Admission of new matches: limits, invitations, and players who block one another."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from api.access.limits import spend, spend_by_address
from api.http.problems import Problem
from api.services import services
from domain.match.commands import CreateMatch
from domain.match.state import Seat
from events.people.capacity import Proposal
from events.people.person import Person

MAX_ACTIVE_MATCHES = 2000
"""Active matches of one person, open ones included: each costs time wherever all of them are read."""

MAX_MATCHES_AGAINST_OPPONENTS = 100
MAX_GUEST_MATCHES_AGAINST_OPPONENTS = 3


def admit_match(match_id: str, seats: Sequence[Seat], person: Person) -> None:
    """Count a match that ``person`` creates.

    Raises the problems blocked, too-many-requests and too-many-matches.

    The opponents' time is limited, so the matches that they play with one person are, too. The read models count them.
    """
    spend("matches", person.id)
    spend_by_address("all_matches")
    refuse_blocked(person, seats)
    if services().store.head(match_id).version:
        return  # it was created by an earlier request, which counted
    for invited in dict.fromkeys(seat.player for seat in seats if not seat.joined and seat.player is not None):
        spend("invitations", person.id, invited)
    active = services().readmodels.active(person.id)
    if len(active) >= MAX_ACTIVE_MATCHES:
        detail = f"You have {MAX_ACTIVE_MATCHES} matches going: end one before you begin another."
        raise Problem("too-many-matches", detail)
    if _has_opponent(seats):
        _admit_opponents(person, active)


@contextmanager
def bot_places(command: CreateMatch, person: Person) -> Iterator[frozenset[str]]:
    """Take the places of the bots in a match that ``person`` creates in the block; yield those that accept at once.

    Raises BeyondCapacityError.
    """
    players: dict[str, str | None] = {
        seat.player: person.kind for seat in command.seats if seat.player is not None and not seat.joined
    }
    if person.kind == "bot" and any(seat.player == person.id for seat in command.seats):
        players[person.id] = None
    if not players or services().store.head(command.match).version:
        yield frozenset()
        return
    proposal = Proposal(command.game, command.setup, command.rated, command.private, command.terms)
    with services().bot_admission.places(command.match, proposal, players) as accepting:
        yield accepting


def refuse_blocked(person: Person, seats: Iterable[Seat]) -> None:
    """Raise the problem blocked when a player in ``seats``, or one who is invited there, blocks ``person``."""
    others = [seat.player for seat in seats if seat.player is not None and seat.level is None]
    if services().blocks.blocking(others, person.id):
        raise Problem("blocked", "A player of this match has blocked you.")


def _admit_opponents(person: Person, active: Sequence[str]) -> None:
    guest = person.kind == "guest"
    maximum = MAX_GUEST_MATCHES_AGAINST_OPPONENTS if guest else MAX_MATCHES_AGAINST_OPPONENTS
    if guest:
        # The read models lag behind: without this, requests that outrun them could begin any number.
        spend("guest_matches", person.id)
    projected = services().readmodels.projected(active)
    if sum(each is not None and _has_opponent(each.summary.seats) for each in projected) >= maximum:
        detail = f"You are playing {maximum} matches against opponents: end one before you begin another"
        raise Problem("too-many-matches", f"{detail}, or sign up to play more." if guest else f"{detail}.")


def _has_opponent(seats: Iterable[Seat]) -> bool:
    return any(seat.level is not None for seat in seats)
