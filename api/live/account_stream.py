"""The live stream of an account: changes of the matches of a player, and the matches that await the player.

It begins with the matches that await the player, and repeats them whenever they differ: nothing is missed.
"""

import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from queue import Empty
from typing import Any, NamedTuple

import msgspec

from api.http.problems import RETRY_AFTER_S
from api.live import stream_hub
from api.live.stream_hub import StreamMessage, Watcher
from api.operations.lists import AwaitedMatches, owed
from api.services import Services
from domain.match.enums import Status
from domain.match.state import MatchState
from events.matches.matches import UnknownMatchError
from events.matches.readmodels import Summary, summarise
from events.store.codec import UndecodableEventError
from events.store.contract import DamagedStreamError, VersionTag

MAX_KNOWN_MATCHES = 20_000
"""Matches whose players are cached."""

MAX_EVENT_TYPES = 50

MAX_PENDING = 50
"""Matches listed as awaiting a player; ``more`` says whether there are others."""


class Awaiting(NamedTuple):
    """The first matches that await a player, each with its version tag, and whether there are more."""

    matches: Sequence[tuple[Summary, VersionTag]]
    more: bool


class AccountNews:
    """The players whom matches concern: seated, invited or the creator. For one thread."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._players_by_match: OrderedDict[str, frozenset[str]] = OrderedDict()

    def players_of(self, match_ids: Sequence[str]) -> Mapping[str, frozenset[str]]:
        """Return the ids of the players that each match concerns; a match that cannot be read concerns nobody."""
        unknown = [match_id for match_id in match_ids if match_id not in self._players_by_match]
        players = {
            match_id: self._players_by_match[match_id] for match_id in match_ids if match_id in self._players_by_match
        }
        for match_id, projected in zip(unknown, self._services.readmodels.projected(unknown), strict=True):
            if projected is not None and projected.summary.status != Status.OPEN:
                self._remember(match_id, _players(projected.summary))
                players[match_id] = self._players_by_match[match_id]
                continue
            try:
                players[match_id] = _players(self._services.matches.load(match_id).state)
            except (UnknownMatchError, DamagedStreamError, UndecodableEventError):
                players[match_id] = frozenset()
        return players

    def changes(self, match_id: str, first: int, players: Sequence[str]) -> Mapping[str, StreamMessage]:
        """Return a message for each player about the events from version ``first`` on."""
        state, head, *_ = self._services.matches.load(match_id)
        events = self._services.store.read(match_id, first - 1, MAX_EVENT_TYPES)
        summary = summarise(state)
        return {
            player: _message(
                "match", {**_item(summary, head.tag, player), "events": [event.type for event in events]}, head.tag
            )
            for player in players
        }

    def _remember(self, match_id: str, players: frozenset[str]) -> None:
        self._players_by_match[match_id] = players
        if len(self._players_by_match) > MAX_KNOWN_MATCHES:
            self._players_by_match.popitem(last=False)


def awaiting_matches(services: Services, player: str) -> Awaiting:
    """Return the matches that await ``player`` at this moment; raises StoreError."""
    page = AwaitedMatches(player).page("awaiting", None, MAX_PENDING)
    heads = services.store.heads([summary.match for summary in page.items])
    pairs = zip(page.items, heads, strict=True)
    # The feed reports a match that has moved on since: it may not await the player any more.
    unchanged = [(summary, head.tag) for summary, head in pairs if summary.version == head.version]
    return Awaiting(unchanged, page.next is not None)


def messages(
    player: str, watcher: Watcher, awaiting: Callable[[], Awaiting | None], is_admitted: Callable[[], bool]
) -> Iterator[str]:
    """Yield the server-sent events for the account of ``player`` as long as it ``is_admitted``."""
    yield f"retry: {RETRY_AFTER_S * 1000}\n\n"
    sent: set[VersionTag] | None = None
    beat = time.monotonic()
    while not watcher.cut_off:
        if sent is None or time.monotonic() >= beat:
            if not is_admitted():
                return
            yield ": still here\n\n"
            beat = time.monotonic() + stream_hub.HEARTBEAT_S
            present = awaiting()
            if present is not None:
                tags = {tag for _, tag in present.matches}
                if sent is None or not tags <= sent:
                    items = [_item(summary, tag, player) for summary, tag in present.matches]
                    yield _message("pending", {"items": items, "more": present.more}).text
                sent = tags
        try:
            batch = watcher.batches.get(timeout=max(0.0, beat - time.monotonic()))
        except Empty:
            continue
        if not batch.messages:
            sent = None  # something may have been missed
            continue
        for message in batch.messages:
            if message.tag is not None and sent is not None:
                sent.add(message.tag)
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


def _message(event: str, content: dict[str, Any], tag: VersionTag | None = None) -> StreamMessage:
    return StreamMessage(tag, f"event: {event}\ndata: {msgspec.json.encode(content).decode()}\n\n")
