"""Admission of new matches: limits, invitations, and players who block one another."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import NamedTuple

from api.access.limits import spend, spend_by_address
from api.http.problems import Problem
from api.services import services
from domain.match.commands import CreateMatch
from domain.match.state import Seat
from domain.match.terms import duration
from domain.search.budgets import MAX_SHORT_LEVEL, offered_levels, thinking_time_s
from domain.search.choose import LEVELS, node_budget
from events.notify.notice import WhoMayInvite
from events.people.capacity import ProposedMatch
from events.people.person import Person

MAX_ACTIVE_MATCHES = 2000
"""Active matches of one person, open ones included: each costs time wherever all of them are read."""

MAX_MATCHES_AGAINST_OPPONENTS = 100
MAX_GUEST_MATCHES_AGAINST_OPPONENTS = 5
"""One of each game."""

MAX_MATCHES_AGAINST_LONG_THINKERS = 3
"""Matches of one person against opponents that think for minutes: their searches wait for one another."""

WHO_IS_REFUSED = {
    WhoMayInvite.NO_GUESTS: "guests",
    WhoMayInvite.ACQUAINTED: "people who have finished no match with them",
    WhoMayInvite.NOBODY: "anybody",
}


def admit_match(match_id: str, seats: Sequence[Seat], person: Person) -> None:
    """Count a match that ``person`` creates; raises blocked, not-invitable, too-many-requests and too-many-matches."""
    spend("matches", person.id)
    spend_by_address("all_matches")
    refuse_blocked(person, seats)
    if services().store.head(match_id).version:
        return  # it was created by an earlier request, which counted
    invited = dict.fromkeys(seat.player for seat in seats if not seat.joined and seat.player is not None)
    for player in services().people.persons(invited).values():
        _refuse_unwanted_invitation(person, player)
    for player_id in invited:
        spend("invitations", person.id, player_id)
    if len(services().readmodels.active(person.id)) >= MAX_ACTIVE_MATCHES:
        detail = f"You have {MAX_ACTIVE_MATCHES} matches going: end one before you begin another."
        raise Problem("too-many-matches", detail)


@contextmanager
def match_places(command: CreateMatch, person: Person) -> Iterator[frozenset[str]]:
    """Take the places for a match that ``person`` creates in the block; yield the bots in it that accept at once.

    Bots say how many matches they play. The opponents' time is limited, so the matches that they play with one person
    are, too. Raises BeyondCapacityError and the problems level-not-offered, too-many-requests and too-many-matches.
    """
    players: dict[str, str | None] = {
        seat.player: person.kind for seat in command.seats if seat.player is not None and not seat.joined
    }
    if person.kind == "bot" and any(seat.player == person.id for seat in command.seats):
        players[person.id] = None
    against_opponents = any(seat.level is not None for seat in command.seats)
    if not (players or against_opponents) or services().store.head(command.match).version:
        yield frozenset()
        return
    with ExitStack() as places:
        if against_opponents:
            _refuse_unoffered_levels(command)
            places.enter_context(_place_against_opponents(command, person))
        proposal = ProposedMatch(command.game, command.setup, command.rated, command.private, command.terms)
        yield places.enter_context(services().bot_admission.places(command.match, proposal, players))


def refuse_blocked(person: Person, seats: Iterable[Seat]) -> None:
    """Raise the problem blocked when a player in ``seats``, or one who is invited there, blocks ``person``."""
    others = [seat.player for seat in seats if seat.player is not None and seat.level is None]
    if services().blocks.blocking(others, person.id):
        raise Problem("blocked", "A player of this match has blocked you.")


def _refuse_unwanted_invitation(inviter: Person, invited: Person) -> None:
    """Raise the problem not-invitable when ``invited``, a person, has chosen to take no such invitation."""
    wanted = services().preferences.read(invited.id).who_may_invite
    is_refused = wanted == WhoMayInvite.NOBODY
    if wanted == WhoMayInvite.ACQUAINTED or (wanted == WhoMayInvite.NO_GUESTS and inviter.kind == "guest"):
        is_refused = not services().readmodels.have_met(inviter.id, invited.id)
    if is_refused and invited.kind == "person" and invited.id != inviter.id:
        detail = f"{invited.name} takes no invitations from {WHO_IS_REFUSED[wanted]}."
        raise Problem("not-invitable", f"{detail} Leave the seat open, and send a link to the match instead.")


def _refuse_unoffered_levels(command: CreateMatch) -> None:
    """Raise the problem level-not-offered for an opponent that thinks longer here than an opponent may."""
    offered, errors = offered_levels(command.game), {}
    for number, seat in enumerate(command.seats):
        if seat.level is not None and seat.level in LEVELS and seat.level not in offered:
            time_s = thinking_time_s(command.game, node_budget(command.game, seat.level))
            takes = f"level {seat.level} would think for {duration(1000 * time_s)} about a move on this server"
            errors[f"seats.{number}.level"] = [f"{takes}, which runs plain Python: the strongest here is {offered[-1]}"]
    if errors:
        raise Problem("level-not-offered", f"Opponents of {', '.join(next(iter(errors.values())))}.", errors)


class OpponentLimit(NamedTuple):
    """How many matches a person may play at a time against opponents of the level ``weakest`` and above."""

    maximum: int
    weakest: int

    def counts(self, seats: Iterable[Seat]) -> bool:
        """Return whether a match with ``seats`` is one of these."""
        return any(seat.level is not None and seat.level >= self.weakest for seat in seats)

    def in_words(self, kind: str) -> str:
        """Return the sentence for a person of ``kind`` who has reached the limit."""
        against = "the computer" if self.weakest == 1 else f"levels {self.weakest} and above, which think for long"
        words = f"You are playing {self.maximum} matches against {against}: end one before you begin another"
        return f"{words}, or sign up to play more." if kind == "guest" else f"{words}."


LONG_LIMIT = OpponentLimit(MAX_MATCHES_AGAINST_LONG_THINKERS, MAX_SHORT_LEVEL + 1)


def opponent_limit(kind: str) -> OpponentLimit:
    """Return the limit of a person of ``kind`` for opponents that answer at once."""
    return OpponentLimit(MAX_GUEST_MATCHES_AGAINST_OPPONENTS if kind == "guest" else MAX_MATCHES_AGAINST_OPPONENTS, 1)


@contextmanager
def _place_against_opponents(command: CreateMatch, person: Person) -> Iterator[None]:
    readmodels = services().readmodels
    limit = LONG_LIMIT if LONG_LIMIT.counts(command.seats) else opponent_limit(person.kind)
    if person.kind == "guest":
        spend("guest_matches", person.id)

    def playing() -> list[str]:
        summaries = [
            projected.summary
            for projected in readmodels.projected(readmodels.active(person.id))
            if projected is not None
        ]
        return [summary.match for summary in summaries if limit.counts(summary.seats)]

    with services().bot_admission.place(person.id, command.match, limit.maximum, playing) as is_free:
        if not is_free:
            raise Problem("too-many-matches", limit.in_words(person.kind))
        yield
