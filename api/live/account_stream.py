"""The live stream of an account: that a match of a player has changed, and what awaits the player.

Whom a match concerns is read from its summary, or from the match itself while that has no summary or waits for players.
A stream begins with what awaits the player, and tells it again when that has come to differ from what was told: so
nothing is missed, whatever was lost on the way.
"""

import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from queue import Empty
from typing import Any, NamedTuple

import msgspec

from api.http.problems import RETRY_AFTER_S
from api.live import stream_hub
from api.live.stream_hub import Message, Watcher
from api.operations.awaiting import AwaitedMatches, owed
from api.services import Services
from domain.match.enums import Status
from domain.match.state import MatchState
from events.readmodels import Summary, summarise
from events.service.matches import UnknownMatchError
from events.store.codec import UndecodableEventError
from events.store.contract import DamagedStreamError, VersionTag

MAX_KNOWN_MATCHES = 20_000
"""Matches of which it is remembered whom they concern."""

MAX_EVENT_TYPES = 50

MAX_PENDING = 50
"""Matches that are named among what awaits a player; of more it is said that there are more."""


class Awaiting(NamedTuple):
    """The first matches that await a player, each with its version tag, and whether there are more."""

    matches: Sequence[tuple[Summary, VersionTag]]
    more: bool


class ConcernedPlayers:
    """Whom matches concern: those who sit in them, are invited or have created them. For one thread."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._known: OrderedDict[str, frozenset[str]] = OrderedDict()

    def players_of(self, matches: Sequence[str]) -> Mapping[str, frozenset[str]]:
        """See ``stream_hub.Followers``. A match that cannot be read concerns nobody."""
        unknown = [match for match in matches if match not in self._known]
        found = {match: self._known[match] for match in matches if match in self._known}
        for match, projected in zip(unknown, self._services.readmodels.projected(unknown), strict=True):
            if projected is not None and projected.summary.status != Status.OPEN:
                self._remember(match, _players(projected.summary))
                found[match] = self._known[match]
                continue
            try:
                found[match] = _players(self._services.matches.load(match).state)
            except (UnknownMatchError, DamagedStreamError, UndecodableEventError):
                found[match] = frozenset()
        return found

    def changes(self, match: str, first: int, players: Sequence[str]) -> Mapping[str, Message]:
        """See ``stream_hub.Followers``."""
        state, head, *_ = self._services.matches.load(match)
        events = self._services.store.read(match, first - 1, MAX_EVENT_TYPES)
        summary = summarise(state)
        return {
            player: _message(
                "match",
                {**_item(summary, head.tag, player), "events": [event.type for event in events]},
                head.tag,
            )
            for player in players
        }

    def _remember(self, match: str, players: frozenset[str]) -> None:
        self._known[match] = players
        if len(self._known) > MAX_KNOWN_MATCHES:
            self._known.popitem(last=False)


def awaiting_now(services: Services, player: str) -> Awaiting:
    """Return what awaits ``player`` at this moment; raises what the store raises when it is away."""
    page = AwaitedMatches(player).page("awaiting", None, MAX_PENDING)
    heads = services.store.heads([summary.match for summary in page.items])
    pairs = zip(page.items, heads, strict=True)
    # Of a match that has moved on since, the feed tells: what awaited the player is done, perhaps.
    unchanged = [(summary, head.tag) for summary, head in pairs if summary.version == head.version]
    return Awaiting(unchanged, page.next is not None)


def messages(
    player: str, watcher: Watcher, awaiting: Callable[[], Awaiting | None], welcome: Callable[[], bool]
) -> Iterator[str]:
    """Yield the wire text of what is told to the account of ``player``, until it is not ``welcome`` any more.

    ``awaiting`` returns what awaits the player, None while the store is away. It is asked at the beginning and at every
    heartbeat.
    """
    yield f"retry: {RETRY_AFTER_S * 1000}\n\n"
    told: set[VersionTag] | None = None
    beat = time.monotonic()
    while not watcher.cut_off:
        if told is None or time.monotonic() >= beat:
            if not welcome():
                return
            yield ": still here\n\n"
            beat = time.monotonic() + stream_hub.HEARTBEAT_SECONDS
            present = awaiting()
            if present is not None:
                tags = {tag for _, tag in present.matches}
                if told is None or not tags <= told:
                    items = [_item(summary, tag, player) for summary, tag in present.matches]
                    yield _message("pending", {"items": items, "more": present.more}).text
                told = tags
        try:
            batch = watcher.batches.get(timeout=max(0.0, beat - time.monotonic()))
        except Empty:
            continue
        if not batch.messages:
            told = None  # something may have been missed
            continue
        for message in batch.messages:
            if message.tag is not None and told is not None:
                told.add(message.tag)
            yield message.text


def _players(match: MatchState | Summary) -> frozenset[str]:
    seats = (seat.player for seat in match.seats if seat.player is not None and seat.level is None)
    return frozenset((match.creator, *seats))


def _item(summary: Summary, tag: VersionTag, player: str) -> dict[str, Any]:
    return {
        "match": summary.match,
        "version": tag.version,
        "version_tag": str(tag),
        "status": summary.status,
        "owed": owed(summary, player) if player in summary.awaiting else None,
    }


def _message(event: str, content: dict[str, Any], tag: VersionTag | None = None) -> Message:
    return Message(tag, f"event: {event}\ndata: {msgspec.json.encode(content).decode()}\n\n")
