"""Who watches, and what reaches them: one reader per process follows the feeds of all shards.

Threads and queues are the standard library's; the worker of the live stream makes greenlets of them, so that a watcher
costs some 20 kB.
"""

import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from queue import Empty, Full, Queue
from typing import Any, NamedTuple, Protocol

import msgspec
import structlog
from redis.client import PubSub

from api.addresses import rematch_id
from api.http.problems import RETRY_AFTER_S, Problem
from api.representations.events import represent_event
from events.runtime import beats
from events.runtime.errors import StoreError, StoreUnavailableError
from events.store.contract import EMPTY, EventStore, StaleVersionError, VersionTag, tag_of
from events.store.envelope import Envelope
from events.store.feed import FeedTail

HEARTBEAT_SECONDS = 15.0
MOST_STREAMS = 4500
"""Watchers of one process, a few less than gunicorn lets connections in: more are sent away and come back."""

MOST_OF_ONE_ADDRESS = 1000
"""Watchers: as many as a school behind one address may need, and not all that there is room for."""

MAX_STREAMS_PER_ACCOUNT = 16

BACKLOG = 256
"""Batches a slow watcher may be behind before it is cut off, to come back with what it saw last."""

BLOCK_MS = 5000
PAUSE_SECONDS = 0.5
PAGE = 500
STORED_PAGE = 50
"""Events that are read for one watcher before others have their turn: a few milliseconds of work."""

log = structlog.get_logger("rookery.stream")


class Message(NamedTuple):
    """An event as it goes over the wire; ``tag`` None: news that is no event of the match."""

    tag: VersionTag | None
    text: str


class Batch(NamedTuple):
    """Messages to hand to watchers; if they are events, those right after the version ``after``.

    ``read_at`` is when the store was asked for them, by the monotonic clock; news that are no events come from nowhere.
    """

    after: VersionTag | None
    messages: Sequence[Message]
    read_at: float = math.inf

    def following(self, last: VersionTag) -> Sequence[Message] | None:
        """Return the messages that follow the event ``last``; None when only the store can tell.

        There may be more in between, or what was told last may not be part of the match any more.
        """
        if not self.messages or self.after in (None, last):
            return self.messages or None
        tags = [message.tag for message in self.messages]
        return self.messages[tags.index(last) + 1 :] if last in tags else None


WAKE = Batch(None, ())
"""An empty batch: look into the store."""

CHAT = Batch(None, (Message(None, "event: chat\ndata: {}\n\n"),))
"""Something was said beside the match. Without an id: who comes back looks at the chat anyway."""

REMATCH = Batch(None, (Message(None, "event: rematch\ndata: {}\n\n"),))
"""A rematch was proposed, or an answer given. Without an id: who comes back looks at the match anyway."""

COMING_TOGETHER = 9
"""Events, no fewer than the proposal of a rematch and all answers to it: later ones are news of that match alone."""


class Followers(Protocol):
    """What the hub asks about accounts that are watched; ``api.live.account_stream`` answers."""

    def players_of(self, matches: Sequence[str]) -> Mapping[str, frozenset[str]]:
        """Return the ids of the players that each match concerns. Raises StoreError."""

    def changes(self, match: str, first: int, players: Sequence[str]) -> Mapping[str, Message]:
        """Return what to tell each player of what happened from version ``first`` on. Raises like ``players_of``."""


class Watcher:
    """One open connection from ``address``: a queue of batches, with news of the chat if it ``hears`` that."""

    def __init__(self, hears: bool, address: str) -> None:
        self.hears = hears
        self.address = address
        self.batches: Queue[Batch] = Queue(BACKLOG)
        self.cut_off = False


class Hub:
    """Hands events to the watchers of their matches. One per process; safe to share between threads."""

    def __init__(
        self,
        store: EventStore,
        open_tail: Callable[[], FeedTail],
        open_chats: Callable[[], PubSub],
        most: int = MOST_STREAMS,
        most_of_one: int = MOST_OF_ONE_ADDRESS,
        followers: Followers | None = None,
    ) -> None:
        self._store = store
        self._open_tail = open_tail
        self._open_chats = open_chats
        self._most = most
        self._most_of_one = most_of_one
        self._lock = threading.Lock()
        self._watchers: dict[str, set[Watcher]] = {}
        self._before: dict[str, str] = {}  # the match that is watched, by the id that its rematch has or will have
        self._followers = followers
        self._accounts: dict[str, set[Watcher]] = {}
        self._changes: Queue[Mapping[str, int | None]] = Queue(BACKLOG)
        self._count = 0
        self._addresses: Counter[str] = Counter()
        self._reader: threading.Thread | None = None

    def enter(self, match: str, hears: bool = False, address: str = "unknown") -> Watcher:
        """Return a new watcher of ``match`` at a network ``address``; raises the problem too-many-streams."""
        watcher = self._enter(self._watchers, match, Watcher(hears, address))
        self._before[rematch_id(match)] = match
        return watcher

    def enter_account(self, player: str, address: str = "unknown") -> Watcher:
        """Return a new watcher of all matches of ``player``; raises the problem too-many-streams."""
        return self._enter(self._accounts, player, Watcher(True, address))

    def _enter(self, among: dict[str, set[Watcher]], name: str, watcher: Watcher) -> Watcher:
        with self._lock:
            if self._count >= self._most:
                raise _too_many("This server shows as many live streams as it can.")
            if self._addresses[watcher.address] >= self._most_of_one:
                raise _too_many(f"Your network address has {self._most_of_one} live streams open: close some first.")
            if among is self._accounts and len(among.get(name, ())) >= MAX_STREAMS_PER_ACCOUNT:
                raise _too_many(f"Your account has {MAX_STREAMS_PER_ACCOUNT} live streams open: close some first.")
            if self._reader is None:
                self._reader = threading.Thread(target=self._follow, name="feed", daemon=True)
                self._reader.start()
                threading.Thread(target=self._listen, name="chats", daemon=True).start()
                threading.Thread(target=self._follow_accounts, name="accounts", daemon=True).start()
            among.setdefault(name, set()).add(watcher)
            self._count += 1
            self._addresses[watcher.address] += 1
        return watcher

    def leave(self, name: str, watcher: Watcher) -> None:
        """Forget the watcher of a match or account; one that has left already is forgotten."""
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

    def messages(self, match: str, after: VersionTag, watcher: Watcher, welcome: Callable[[], bool]) -> Iterator[str]:
        """Yield the wire text of each event of ``match`` after ``after``, now and as they happen.

        When the event that was sent last is no longer part of the match, ``reset`` is sent and the stream goes on from
        where the match stands. Never ends by itself, unless the watcher is too slow, or not ``welcome`` any more. That
        is asked, and a comment sent, at every heartbeat: so a connection that has gone is noticed, too.
        """
        last, due, beat, reset_at = after, WAKE, time.monotonic() + HEARTBEAT_SECONDS, -math.inf
        yield f"retry: {RETRY_AFTER_S * 1000}\n\n"
        while not watcher.cut_off:
            # What was read before the reset may be lost, too, although it follows what is left.
            following = due.following(last) if due.read_at > reset_at else None
            try:
                for message in self._stored(match, last) if following is None else following:
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
                if not welcome():
                    return
                yield ": still here\n\n"
                beat = time.monotonic() + HEARTBEAT_SECONDS

    def _stored(self, match: str, after: VersionTag) -> Iterator[Message]:
        while True:
            try:
                page = self._store.read_on(match, after, STORED_PAGE)
            except StaleVersionError:
                raise
            except StoreError:
                return  # the reader wakes everybody when the store is back, and so does the next heartbeat
            yield from map(message_of, page)
            if len(page) < STORED_PAGE:
                return
            after = tag_of(page[-1])
            time.sleep(0)  # under gevent: the others first

    def _follow(self) -> None:
        tail: FeedTail | None = None
        away = False
        while True:
            beats.beat("feed")
            try:
                if tail is None:
                    tail = self._open_tail()
                    self._wake_all()
                deliveries = tail.read(BLOCK_MS, PAGE)
                if away or tail.lost_end:
                    away = False
                    self._wake_all()
                changed = {}
                for match, entries in groupby(sorted((entry.stream, entry.version) for entry in deliveries), _stream):
                    changed[match] = next(entries)[1]
                    self._publish(match, changed[match])
                self._pass_on(changed)
            except Exception as error:  # whatever it is: without the reader nobody would hear anything any more
                if not away:
                    known = isinstance(error, StoreError)
                    log.error("feed-unreadable", error=str(error), exc_info=None if known else error)
                away = True
                time.sleep(PAUSE_SECONDS)

    def _listen(self) -> None:
        while True:
            beats.beat("chats")
            try:
                with self._open_chats() as chats:
                    while True:
                        beats.beat("chats")
                        heard = _next_message(chats)
                        if heard is not None:
                            # Something may have been said anywhere before the subscription began, or began again.
                            self._tell(heard["data"].decode() if heard["type"] == "message" else None)
            except Exception as error:  # as above
                if not isinstance(error, StoreError):
                    log.error("chats-unreadable", error=str(error), exc_info=error)
                time.sleep(PAUSE_SECONDS)

    def _tell(self, match: str | None) -> None:
        with self._lock:
            matches = list(self._watchers) if match is None else [match]
            watching = [watcher for name in matches for watcher in self._watchers.get(name, ()) if watcher.hears]
        for watcher in watching:
            self._hand(watcher, CHAT)
        if match is not None:
            self._pass_on({match: None})

    def _pass_on(self, changed: Mapping[str, int | None]) -> None:
        """Have watched accounts told of matches that changed from a version on, or (None) where something was said."""
        if not changed or not self._accounts:
            return
        try:
            self._changes.put_nowait(changed)
        except Full:
            self._wake(self._accounts)

    def _follow_accounts(self) -> None:
        """Look up whom changes concern: in a thread of its own, lest those who watch one match wait for it."""
        while True:
            beats.beat("accounts")
            try:
                self._tell_accounts(self._changes.get(timeout=BLOCK_MS / 1000))
            except Empty:
                continue
            except Exception as error:  # as in _follow
                if not isinstance(error, StoreError):
                    log.error("accounts-unreadable", error=str(error), exc_info=error)
                self._wake(self._accounts)

    def _tell_accounts(self, changed: Mapping[str, int | None]) -> None:
        if self._followers is None:
            return
        for match, players in self._followers.players_of(list(changed)).items():
            beats.beat("accounts")
            with self._lock:
                concerned = {player: list(self._accounts[player]) for player in players if player in self._accounts}
            if not concerned:
                continue
            first = changed[match]
            told = (
                dict.fromkeys(concerned, chat_in(match))
                if first is None
                else self._followers.changes(match, first, list(concerned))
            )
            for player, watchers in concerned.items():
                for watcher in watchers:
                    self._hand(watcher, Batch(None, (told[player],)))

    def _publish(self, match: str, first: int) -> None:
        with self._lock:
            watching = list(self._watchers.get(match, ()))
            looking_back = list(self._watchers.get(self._before.get(match, ""), ())) if first <= COMING_TOGETHER else []
        for watcher in looking_back:
            self._hand(watcher, REMATCH)
        if not watching:
            return
        read_at = time.monotonic()
        try:
            # The event before tells which history these belong to.
            events = self._store.read(match, max(0, first - 2))
            before = EMPTY.tag if first == 1 else tag_of(events[0])
            batch = Batch(before, [message_of(event) for event in events if event.version >= first], read_at)
        except (StoreError, IndexError):
            batch = WAKE
        for watcher in watching:
            self._hand(watcher, batch)

    def _wake_all(self) -> None:
        for among in (self._watchers, self._accounts):
            self._wake(among)

    def _wake(self, among: Mapping[str, set[Watcher]]) -> None:
        with self._lock:
            watching = [watcher for watchers in among.values() for watcher in watchers]
        for watcher in watching:
            self._hand(watcher, WAKE)

    def _hand(self, watcher: Watcher, batch: Batch) -> None:
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
        # What redis-py 8.1 makes of a connection that could not be opened again: it waits for a socket that is none.
        raise StoreUnavailableError(str(error)) from error


def message_of(envelope: Envelope) -> Message:
    """Return the event as a server-sent event: id, event and data, each on its line."""
    content = msgspec.json.encode(represent_event(envelope)).decode()
    tag = tag_of(envelope)
    return Message(tag, f"id: {tag}\nevent: {envelope.type}\ndata: {content}\n\n")


def chat_in(match: str) -> Message:
    """Return what an account is told when something was said in the chat of ``match``."""
    return Message(None, f"event: chat\ndata: {msgspec.json.encode({'match': match}).decode()}\n\n")


def _reset(tag: VersionTag) -> str:
    content = msgspec.json.encode({"version": tag.version, "version_tag": str(tag)}).decode()
    return f"id: {tag}\nevent: reset\ndata: {content}\n\n"


def _stream(pointer: tuple[str, int]) -> str:
    return pointer[0]
