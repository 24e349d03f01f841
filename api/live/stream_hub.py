"""The watchers of live streams, and the one reader per process that follows the feeds of all shards for them.

Threads and queues are those of the standard library; the worker of the live stream turns them into greenlets, so that a
watcher costs about 20 kB.
"""

import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from queue import Empty, Full, Queue
from typing import Any, NamedTuple, Protocol

import msgspec
import structlog
from redis.client import PubSub

from api.addresses import rematch_id
from api.http.problems import RETRY_AFTER_S, Problem
from api.representations.matches import represent_event
from events.runtime import beats
from events.runtime.errors import StoreError, StoreUnavailableError
from events.store.contract import EMPTY, EventStore, StaleVersionError, VersionTag, tag_of
from events.store.envelope import Envelope
from events.store.feed import FeedTail

HEARTBEAT_S = 15.0
MAX_STREAMS = 4500
"""Watchers of one process, a few less than the connections that gunicorn accepts: others are refused and retry."""

MAX_STREAMS_PER_ADDRESS = 1000
"""As many as a school behind one address may need, and less than MAX_STREAMS."""

MAX_STREAMS_PER_ACCOUNT = 16

MAX_BACKLOG = 256
"""Batches that a slow watcher may be behind before it is cut off; it reconnects with the last id it has seen."""

BLOCK_MS = 5000
RETRY_PAUSE_S = 0.5
MAX_FEED_ENTRIES = 500
MAX_STORED_EVENTS = 50
"""Events that are read for one watcher before others get their turn: a few milliseconds of work."""

log = structlog.get_logger("rookery.stream")


class StreamMessage(NamedTuple):
    """A server-sent event; ``tag`` is None for news that is not an event of the match."""

    tag: VersionTag | None
    text: str


class Batch(NamedTuple):
    """Messages to hand to watchers; if they are events, those right after the version ``after``.

    ``read_at`` is when the store was read, by the monotonic clock; infinite for news that are not events.
    """

    after: VersionTag | None
    messages: Sequence[StreamMessage]
    read_at: float = math.inf

    def following(self, last: VersionTag) -> Sequence[StreamMessage] | None:
        """Return the messages that follow the event ``last``; None when only the store can tell."""
        if not self.messages or self.after in (None, last):
            return self.messages or None
        tags = [message.tag for message in self.messages]
        return self.messages[tags.index(last) + 1 :] if last in tags else None


WAKE = Batch(None, ())
"""An empty batch: read the store."""

CHAT = Batch(None, (StreamMessage(None, "event: chat\ndata: {}\n\n"),))
"""There is a new chat message. Without an id: a client that reconnects reads the chat anyway."""

REMATCH = Batch(None, (StreamMessage(None, "event: rematch\ndata: {}\n\n"),))
"""A rematch was proposed or answered. Without an id: a client that reconnects reads the match anyway."""

MAX_REMATCH_EVENTS = 9
"""Events that may belong to the proposal of a rematch and the answers to it: later ones concern that match alone."""


class NewsOfAccounts(Protocol):
    """The questions of the hub about watched accounts; ``api.live.account_stream`` implements them."""

    def players_of(self, matches: Sequence[str]) -> Mapping[str, frozenset[str]]:
        """Return the ids of the players that each match concerns. Raises StoreError."""

    def changes(self, match_id: str, first: int, players: Sequence[str]) -> Mapping[str, StreamMessage]:
        """Return a message for each player about the events from version ``first`` on. Raises StoreError."""


class Watcher:
    """One open connection from ``address``: a queue of batches, with news of the chat if it ``reads_chat``."""

    def __init__(self, reads_chat: bool, address: str) -> None:
        self.reads_chat = reads_chat
        self.address = address
        self.batches: Queue[Batch] = Queue(MAX_BACKLOG)
        self.cut_off = False


class Hub:
    """Delivers events to the watchers of their matches. One per process; safe to share between threads."""

    def __init__(
        self,
        store: EventStore,
        open_tail: Callable[[], FeedTail],
        open_chats: Callable[[], PubSub],
        news: NewsOfAccounts | None = None,
    ) -> None:
        self._store = store
        self._open_tail = open_tail
        self._open_chats = open_chats
        self._lock = threading.Lock()
        self._watchers: dict[str, set[Watcher]] = {}
        self._before: dict[str, str] = {}  # the match that is watched, by the id that its rematch has or will have
        self._news = news
        self._accounts: dict[str, set[Watcher]] = {}
        self._changes: Queue[Mapping[str, int | None]] = Queue(MAX_BACKLOG)
        self._count = 0
        self._addresses: Counter[str] = Counter()
        self._reader: threading.Thread | None = None
        self._closed = threading.Event()

    def close(self) -> None:
        """Let the threads end, within a few seconds."""
        self._closed.set()

    def enter(self, match_id: str, reads_chat: bool = False, address: str = "unknown") -> Watcher:
        """Return a new watcher of ``match`` at a network ``address``; raises the problem too-many-streams."""
        watcher = self._enter(self._watchers, match_id, Watcher(reads_chat, address))
        self._before[rematch_id(match_id)] = match_id
        return watcher

    def enter_account(self, player: str, address: str = "unknown") -> Watcher:
        """Return a new watcher of all matches of ``player``; raises the problem too-many-streams."""
        return self._enter(self._accounts, player, Watcher(True, address))

    def _enter(self, among: dict[str, set[Watcher]], name: str, watcher: Watcher) -> Watcher:
        with self._lock:
            if self._count >= MAX_STREAMS:
                raise _too_many("This server has as many live streams open as it can.")
            if self._addresses[watcher.address] >= MAX_STREAMS_PER_ADDRESS:
                raise _too_many(
                    f"Your network address has {MAX_STREAMS_PER_ADDRESS} live streams open: close some first."
                )
            if among is self._accounts and len(among.get(name, ())) >= MAX_STREAMS_PER_ACCOUNT:
                raise _too_many(f"Your account has {MAX_STREAMS_PER_ACCOUNT} live streams open: close some first.")
            if self._reader is None:
                self._reader = threading.Thread(target=self._follow_feed, name="feed", daemon=True)
                self._reader.start()
                threading.Thread(target=self._follow_chats, name="chats", daemon=True).start()
                threading.Thread(target=self._follow_accounts, name="accounts", daemon=True).start()
            among.setdefault(name, set()).add(watcher)
            self._count += 1
            self._addresses[watcher.address] += 1
        return watcher

    def leave(self, name: str, watcher: Watcher) -> None:
        """Forget the watcher of a match or account; does nothing for one that has left already."""
        with self._lock:
            for among in (self._watchers, self._accounts):
                watching = among.get(name, set())
                if watcher in watching:
                    watching.remove(watcher)
                    self._count -= 1
                    self._addresses[watcher.address] -= 1
                    if not self._addresses[watcher.address]:
                        del self._addresses[watcher.address]
                if not watching:
                    among.pop(name, None)
            if name not in self._watchers:
                self._before.pop(rematch_id(name), None)

    def messages(
        self, match_id: str, after: VersionTag, watcher: Watcher, is_admitted: Callable[[], bool]
    ) -> Iterator[str]:
        """Yield the wire text of each event of ``match`` after ``after``, now and as they happen.

        It ends only when the watcher is too slow or, at a heartbeat, no longer ``is_admitted``. A comment at every
        heartbeat makes a closed connection noticed.
        """
        last, due, beat, reset_at = after, WAKE, time.monotonic() + HEARTBEAT_S, -math.inf
        yield f"retry: {RETRY_AFTER_S * 1000}\n\n"
        while not watcher.cut_off:
            # Events read before the reset may be lost, too, although they follow the events that are left.
            following = due.following(last) if due.read_at > reset_at else None
            try:
                for message in self._stored(match_id, last) if following is None else following:
                    last = message.tag or last
                    yield message.text
            except StaleVersionError as stale:
                last, reset_at = stale.current, time.monotonic()
                yield _reset(last)
            try:
                due = watcher.batches.get(timeout=max(0.0, beat - time.monotonic()))
            except Empty:
                due = WAKE
            if time.monotonic() >= beat:
                if not is_admitted():
                    return
                yield ": still here\n\n"
                beat = time.monotonic() + HEARTBEAT_S

    def _stored(self, match_id: str, after: VersionTag) -> Iterator[StreamMessage]:
        while True:
            try:
                page = self._store.read_on(match_id, after, MAX_STORED_EVENTS)
            except StaleVersionError:
                raise
            except StoreError:
                return  # the reader wakes all watchers when the store is back, and so does the next heartbeat
            yield from map(message_of, page)
            if len(page) < MAX_STORED_EVENTS:
                return
            after = tag_of(page[-1])
            time.sleep(0)  # under gevent: let others run

    def _follow_feed(self) -> None:
        tail: FeedTail | None = None
        away = False
        while not self._closed.is_set():
            beats.beat("feed")
            try:
                if tail is None:
                    tail = self._open_tail()
                    self._wake_all()
                deliveries = tail.read(BLOCK_MS, MAX_FEED_ENTRIES)
                if away or tail.lost_end:
                    away = False
                    self._wake_all()
                changed: dict[str, int] = {}
                for match_id, version in sorted((entry.stream, entry.version) for entry in deliveries):
                    changed.setdefault(match_id, version)
                for match_id, version in changed.items():
                    self._publish(match_id, version)
                self._queue_changes(changed)
            except Exception as error:  # whatever it is: without the reader no stream would go on
                if not away:
                    is_store_error = isinstance(error, StoreError)
                    log.error("feed-unreadable", error=str(error), exc_info=None if is_store_error else error)
                away = True
                self._closed.wait(RETRY_PAUSE_S)
        if tail is not None:
            tail.close()

    def _follow_chats(self) -> None:
        while not self._closed.is_set():
            beats.beat("chats")
            try:
                with self._open_chats() as chats:
                    while not self._closed.is_set():
                        beats.beat("chats")
                        received = _next_message(chats)
                        if received is not None:
                            # Messages may have been sent in any chat before the subscription began, or began again.
                            self._announce_chat(received["data"].decode() if received["type"] == "message" else None)
            except Exception as error:  # as above
                if not isinstance(error, StoreError):
                    log.error("chats-unreadable", error=str(error), exc_info=error)
                self._closed.wait(RETRY_PAUSE_S)

    def _announce_chat(self, match_id: str | None) -> None:
        with self._lock:
            matches = list(self._watchers) if match_id is None else [match_id]
            watching = [watcher for name in matches for watcher in self._watchers.get(name, ()) if watcher.reads_chat]
        for watcher in watching:
            self._deliver(watcher, CHAT)
        if match_id is not None:
            self._queue_changes({match_id: None})

    def _queue_changes(self, changed: Mapping[str, int | None]) -> None:
        """Queue matches for watched accounts: those changed from a version on, or (None) with a new chat message."""
        if not changed or not self._accounts:
            return
        try:
            self._changes.put_nowait(changed)
        except Full:
            self._wake(self._accounts)

    def _follow_accounts(self) -> None:
        """Find the players whom changes concern, in a thread of its own, so that watchers of a match need not wait."""
        while not self._closed.is_set():
            beats.beat("accounts")
            try:
                self._notify_accounts(self._changes.get(timeout=BLOCK_MS / 1000))
            except Empty:
                continue
            except Exception as error:  # as in _follow_feed
                if not isinstance(error, StoreError):
                    log.error("accounts-unreadable", error=str(error), exc_info=error)
                self._wake(self._accounts)

    def _notify_accounts(self, changed: Mapping[str, int | None]) -> None:
        if self._news is None:
            return
        for match_id, players in self._news.players_of(list(changed)).items():
            beats.beat("accounts")
            with self._lock:
                concerned = {player: list(self._accounts[player]) for player in players if player in self._accounts}
            if not concerned:
                continue
            first = changed[match_id]
            messages = (
                dict.fromkeys(concerned, chat_in(match_id))
                if first is None
                else self._news.changes(match_id, first, list(concerned))
            )
            for player, watchers in concerned.items():
                for watcher in watchers:
                    self._deliver(watcher, Batch(None, (messages[player],)))

    def _publish(self, match_id: str, first: int) -> None:
        with self._lock:
            watching = list(self._watchers.get(match_id, ()))
            looking_back = (
                list(self._watchers.get(self._before.get(match_id, ""), ())) if first <= MAX_REMATCH_EVENTS else []
            )
        for watcher in looking_back:
            self._deliver(watcher, REMATCH)
        if not watching:
            return
        read_at = time.monotonic()
        try:
            # The event before identifies the history to which these belong.
            events = self._store.read(match_id, max(0, first - 2))
            before = EMPTY.tag if first == 1 else tag_of(events[0])
            batch = Batch(before, [message_of(event) for event in events if event.version >= first], read_at)
        except (StoreError, IndexError):
            batch = WAKE
        for watcher in watching:
            self._deliver(watcher, batch)

    def _wake_all(self) -> None:
        for among in (self._watchers, self._accounts):
            self._wake(among)

    def _wake(self, among: Mapping[str, set[Watcher]]) -> None:
        with self._lock:
            watching = [watcher for watchers in among.values() for watcher in watchers]
        for watcher in watching:
            self._deliver(watcher, WAKE)

    def _deliver(self, watcher: Watcher, batch: Batch) -> None:
        try:
            watcher.batches.put_nowait(batch)
        except Full:
            watcher.cut_off = True


def _too_many(detail: str) -> Problem:
    return Problem("too-many-streams", detail, headers={"Retry-After": str(RETRY_AFTER_S)})


def _next_message(chats: PubSub) -> Any:
    try:
        return chats.get_message(timeout=BLOCK_MS / 1000)
    except TypeError as error:
        # redis-py 8.1 raises this when another thread closes the connection: it waits for a socket that is None.
        raise StoreUnavailableError("the connection was closed") from error


def message_of(envelope: Envelope) -> StreamMessage:
    """Return the event as a server-sent event: id, event and data, each on its line."""
    content = msgspec.json.encode(represent_event(envelope)).decode()
    tag = tag_of(envelope)
    return StreamMessage(tag, f"id: {tag}\nevent: {envelope.type}\ndata: {content}\n\n")


def chat_in(match_id: str) -> StreamMessage:
    """Return the message for an account that there is a new message in the chat of the match."""
    return StreamMessage(None, f"event: chat\ndata: {msgspec.json.encode({'match': match_id}).decode()}\n\n")


def _reset(tag: VersionTag) -> str:
    content = msgspec.json.encode({"version": tag.version, "version_tag": str(tag)}).decode()
    return f"id: {tag}\nevent: reset\ndata: {content}\n\n"
