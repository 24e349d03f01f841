"""What has happened in a match, and in the rematch after it, since a page of it was shown."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from flask import request

from api.access.matches import may_see
from api.pages.announcements import Audience, describe_events, describe_rematch, last_move
from api.representations.matches import Match
from api.services import services
from domain.games import find_ruleset
from domain.match.enums import Status
from domain.match.events import Event
from domain.match.state import MatchState
from events.people.person import Person
from events.service.matches import Loaded
from events.store.codec import event_of
from events.store.contract import EMPTY, VersionTag, tag_of

MAX_EVENTS_DESCRIBED = 60
"""The latest events that are put into sentences; a page that slept for longer is told that there were more."""

EARLIER_EVENTS = 10
"""Events before those, which may say what is answered now."""

_MARK = re.compile(r"([^.]*)\.([0-9]{1,9})")


class Mark(NamedTuple):
    """What a page has been told: the events up to ``tag``, and how many of the match that follows."""

    tag: VersionTag
    rematch: int

    def __str__(self) -> str:
        """Return the mark as pages carry it."""
        return f"{self.tag}.{self.rematch}"

    @classmethod
    def parse(cls, text: str) -> "Mark | None":
        """Return the mark that ``text`` is, None when it is none; 0 is that of a page that has been told nothing."""
        if text == "0":
            return Mark(EMPTY.tag, 0)
        matched = _MARK.fullmatch(text)
        tag = VersionTag.parse(matched[1]) if matched else None
        return Mark(tag, int(matched[2])) if matched and tag else None


class Rematch(NamedTuple):
    """The match that follows another one, as those who look at the other see it.

    ``proposer`` is the subject of a sentence, and ``seat`` the name of the viewer's seat (None for an onlooker).
    ``invited`` tells that the viewer has not answered yet, ``waits`` that somebody has not, ``off`` that somebody has
    declined.
    """

    match: str
    proposer: str
    seat: str | None
    invited: bool
    waits: bool
    off: bool


def describe_news(loaded: Loaded, shown: Match, person: Person | None, spelled: Sequence[str]) -> dict[str, Any]:
    """Return what the page of a match tells ``person`` beside its board, by the names that its template uses.

    ``shown`` is the match in the words of the API, ``spelled`` its moves as the page lists them. ``news`` is what has
    happened since the ``since`` of the query, ``mark`` what the page asks with next time.
    """
    viewer = person.id if person else None
    players = [seat.player for seat in shown.seats if seat.player]
    names = {player.id: player.name for player in players}
    audience = _audience(loaded.state, viewer, names, spelled)
    rematch = services().matches.load(shown.rematch) if shown.rematch else None
    of_rematch = _audience(rematch.state, viewer, names) if rematch and may_see(rematch.state, person) else None
    known = Mark.parse(request.args.get("since", ""))
    told: list[str] = []
    if known is not None and known.tag != loaded.head.tag:
        told += _news_of(known.tag, loaded, audience)
    if known is not None and rematch is not None and of_rematch is not None:
        told += describe_rematch(_coming_together(rematch, known.rematch), of_rematch)
    return {
        "mark": str(Mark(loaded.head.tag, rematch.head.version if rematch else 0)),
        "news": " ".join(told),
        "rematch": None if of_rematch is None else _rematch(of_rematch),
        "last_move": last_move(audience),
    }


def _rematch(audience: Audience) -> Rematch:
    state, seat = audience.state, audience.seat
    return Rematch(
        match=state.match_id,
        proposer=audience.player(state.creator),
        seat=None if seat is None else audience.seat_names[seat],
        invited=state.status == Status.OPEN and seat is not None and not state.seats[seat].joined,
        waits=state.status == Status.OPEN,
        off=state.status == Status.ABORTED,
    )


def _news_of(known: VersionTag, loaded: Loaded, audience: Audience) -> list[str]:
    """Return the sentences about the events of a match after ``known``, the latest of them if there are many."""
    last = loaded.head.version
    first = max(known.version, last - MAX_EVENTS_DESCRIBED)
    stored = services().store.read(
        loaded.state.match_id, max(0, first - EARLIER_EVENTS), MAX_EVENTS_DESCRIBED + EARLIER_EVENTS
    )
    lost = any(event.version == known.version and tag_of(event) != known for event in stored)
    if lost or known.version > last:
        return ["Part of this match was lost. The page shows how it stands now."]
    earlier = [event_of(envelope) for envelope in stored if envelope.version <= first]
    news = [event_of(envelope) for envelope in stored if first < envelope.version <= last]
    sentences = describe_events(earlier, news, audience)
    return ["More has happened before.", *sentences] if first > known.version else sentences


def _coming_together(rematch: Loaded, after: int) -> list[Event]:
    """Return how the players came together: what happens then is told by the page of the rematch itself."""
    most = 2 * len(rematch.state.seats) + 1
    if after >= min(most, rematch.head.version):
        return []
    stored = services().store.read(rematch.state.match_id, after, most)
    return [event_of(envelope) for envelope in stored if envelope.version <= rematch.head.version]


def _audience(state: MatchState, viewer: str | None, names: Mapping[str, str], spelled: Sequence[str] = ()) -> Audience:
    seat_names = find_ruleset(state.game, state.ruleset).setups[state.setup].seat_names
    called = tuple(names.get(seat.player or "", "an open seat") for seat in state.seats)
    return Audience(state, state.seat_of(viewer) if viewer else None, called, tuple(seat_names), tuple(spelled))
