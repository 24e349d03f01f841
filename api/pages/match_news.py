"""The news of a match, and of its rematch, since a page of it was shown."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from flask import request

from api.access.matches import may_see
from api.pages.announcements import Audience, describe_events, describe_rematch, last_move
from api.representations.matches import Match
from api.services import services
from domain.games import find_ruleset
from domain.match.enums import Status
from domain.match.events import Event
from domain.match.state import MatchState
from events.matches.matches import Loaded
from events.people.person import Person
from events.store.codec import event_of
from events.store.contract import EMPTY, VersionTag, tag_of

MAX_EVENTS_DESCRIBED = 60
"""The latest events are described; a page that missed more is told so."""

EARLIER_EVENTS = 10
"""Events before those, which may contain the offers that they answer."""

_MARK = re.compile(r"([^.]*)\.([0-9]{1,9})")


class NewsMark(NamedTuple):
    """The news that a page has announced: the events up to ``tag``, and the number of events of the rematch."""

    tag: VersionTag
    rematch: int

    def __str__(self) -> str:
        """Return the mark in the form that ``parse`` reads."""
        return f"{self.tag}.{self.rematch}"

    @classmethod
    def parse(cls, text: str) -> "NewsMark | None":
        """Return the mark in ``text``, None if it is invalid; "0" is that of a page that has announced nothing."""
        if text == "0":
            return NewsMark(EMPTY.tag, 0)
        matched = _MARK.fullmatch(text)
        tag = VersionTag.parse(matched[1]) if matched else None
        return NewsMark(tag, int(matched[2])) if matched and tag else None


class Rematch(NamedTuple):
    """The rematch, as the page of the match before it shows it.

    ``invited``: the viewer has yet to answer; ``pending``: some player has; ``declined``: it will not take place.
    """

    match_id: str
    proposer: str
    seat: str | None
    invited: bool
    pending: bool
    declined: bool


class News(NamedTuple):
    """The news that a page announces: ``text`` is that since the ``since`` of the query, ``mark`` the next one."""

    mark: str
    text: str
    rematch: Rematch | None
    last_move: str


def describe_news(loaded: Loaded, shown: Match, person: Person | None, spelled: Sequence[str]) -> News:
    """Return the news of a match for ``person``; ``spelled`` are its moves as the page lists them."""
    viewer = person.id if person else None
    players = [seat.player for seat in shown.seats if seat.player]
    names = {player.id: player.name for player in players}
    audience = _audience(loaded.state, viewer, names, spelled)
    rematch = services().matches.load(shown.rematch) if shown.rematch else None
    of_rematch = _audience(rematch.state, viewer, names) if rematch and may_see(rematch.state, person) else None
    mark = NewsMark.parse(request.args.get("since", ""))
    sentences: list[str] = []
    if mark is not None and mark.tag != loaded.head.tag:
        sentences += _news_of(mark.tag, loaded, audience)
    if mark is not None and rematch is not None and of_rematch is not None:
        sentences += describe_rematch(_events_before_start(rematch, mark.rematch), of_rematch)
    return News(
        mark=str(NewsMark(loaded.head.tag, rematch.head.version if rematch else 0)),
        text=" ".join(sentences),
        rematch=None if of_rematch is None else _rematch(of_rematch),
        last_move=last_move(audience),
    )


def _rematch(audience: Audience) -> Rematch:
    state, seat = audience.state, audience.seat
    return Rematch(
        match_id=state.match_id,
        proposer=audience.player(state.creator),
        seat=None if seat is None else audience.seat_names[seat],
        invited=state.status == Status.OPEN and seat is not None and not state.seats[seat].joined,
        pending=state.status == Status.OPEN,
        declined=state.status == Status.ABORTED,
    )


def _news_of(tag: VersionTag, loaded: Loaded, audience: Audience) -> list[str]:
    """Return sentences about the events of a match after ``tag``, or about the latest of them."""
    last = loaded.head.version
    first = max(tag.version, last - MAX_EVENTS_DESCRIBED)
    stored = services().store.read(
        loaded.state.match_id, max(0, first - EARLIER_EVENTS), MAX_EVENTS_DESCRIBED + EARLIER_EVENTS
    )
    lost = any(event.version == tag.version and tag_of(event) != tag for event in stored)
    if lost or tag.version > last:
        return ["Part of this match was lost. The page shows what is left."]
    earlier = [event_of(envelope) for envelope in stored if envelope.version <= first]
    news = [event_of(envelope) for envelope in stored if first < envelope.version <= last]
    sentences = describe_events(earlier, news, audience)
    return ["More has happened before that.", *sentences] if first > tag.version else sentences


def _events_before_start(rematch: Loaded, after: int) -> list[Event]:
    """Return the events of a rematch until its start: its own page announces the others."""
    last = 2 * len(rematch.state.seats) + 1
    if after >= min(last, rematch.head.version):
        return []
    stored = services().store.read(rematch.state.match_id, after, last)
    return [event_of(envelope) for envelope in stored if envelope.version <= rematch.head.version]


def _audience(state: MatchState, viewer: str | None, names: Mapping[str, str], spelled: Sequence[str] = ()) -> Audience:
    seat_names = find_ruleset(state.game, state.ruleset).setups[state.setup].seat_names
    called = tuple(names.get(seat.player or "", "an open seat") for seat in state.seats)
    return Audience(state, state.seat_of(viewer) if viewer else None, called, tuple(seat_names), tuple(spelled))
