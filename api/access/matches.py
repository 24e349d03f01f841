"""Which matches a person may see. A match hidden from the caller is answered exactly like one that does not exist."""

from collections.abc import Sequence

from api.access.auth import current_person
from api.http.problems import Problem, no_such_match
from api.services import services
from domain.match.guards import seat_of
from domain.match.state import MatchState
from events.people.administration import ARBITER
from events.people.person import Person
from events.service.matches import Loaded, UnknownMatchError


def visible_match(match_id: str) -> Loaded:
    """Return the match; raise the problem no-such-match unless it exists and the caller may see it."""
    try:
        loaded = services().matches.load(match_id)
    except UnknownMatchError:
        raise absent_match(match_id) from None
    refuse_stranger(loaded.state)
    return loaded


def absent_match(match_id: str) -> Problem:
    """Return the problem for a match of which the store has nothing; one that was lost is said to be."""
    if services().incidents.losses(match_id):
        return Problem(
            "no-such-match",
            "This match was lost in a failure of the server: nothing of it is left. The operators of the server know "
            "which events there were.",
        )
    return no_such_match()


def own_match(match_id: str) -> Loaded:
    """Return a match in which the caller has a seat.

    Raises the problem no-such-match like ``visible_match``, and not-your-seat in a match that the caller only watches.
    """
    loaded, person = visible_match(match_id), current_person()
    seat_of(loaded.state, person.id if person else "")
    return loaded


def refuse_stranger(state: MatchState) -> None:
    """Raise the problem no-such-match unless the caller may see the match."""
    if state.private and not may_see(state, current_person()):
        raise no_such_match()


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


def listed_for(person: Person | None, match_ids: Sequence[str]) -> set[str]:
    """Return those of ``match_ids`` that are public or in which ``person`` has a part, according to the read models."""
    summaries = (each.summary for each in services().readmodels.projected(match_ids) if each is not None)
    own = person.id if person else ""
    return {
        summary.match
        for summary in summaries
        if not summary.private or own in (summary.creator, *(seat.player for seat in summary.seats))
    }
