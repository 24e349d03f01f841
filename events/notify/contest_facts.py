"""The facts about seeks that people are told of, as a function of a seek and its events.

That a match has begun is told as of every match.
"""

from collections.abc import Iterable

from domain.contest.seek.events import Event, SeekExpired, TableCleared
from domain.contest.seek.state import Seek
from events.notify.facts import Fact
from events.notify.notice import NoticeKind
from events.notify.wording import WORDINGS


def facts_of_seek(seek: Seek, events: Iterable[Event]) -> list[Fact]:
    """Return the facts of a seek, given all its events: that it has expired, and matches that could not begin."""
    facts = []
    for version, event in enumerate(events, 1):
        match event:
            case SeekExpired() if not seek.matches:
                facts.append(_fact("seek-expired", seek, version, event.at, (seek.author,)))
            case TableCleared():
                players = tuple(dict.fromkeys((seek.author, *event.players)))
                facts.append(_fact("seek-cleared", seek, version, event.at, players))
    return facts


def _fact(what: str, seek: Seek, version: int, at: int, players: tuple[str, ...]) -> Fact:
    return Fact(
        name=f"{what}:{seek.id}:{version}",
        kind=NoticeKind.CONTEST,
        match=None,
        version=version,
        at=at,
        players=players,
        summary=WORDINGS[what].summary,
    )
