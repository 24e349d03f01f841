"""The event store in memory: for tests of what stands above the store, and the measure of the one on Redis."""

from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from threading import Lock
from typing import Any, NamedTuple

from events.store.contract import (
    EMPTY,
    NOTHING_KEPT,
    Appended,
    EventStore,
    Head,
    Kept,
    Opened,
    Pointer,
    Remembered,
    Request,
    RequestMismatch,
    StaleOrders,
    StaleVersion,
)
from events.store.envelope import Draft, Envelope, seal, unpack


class _Entry(NamedTuple):
    packed: bytes
    digest: bytes


class MemoryStore(EventStore):
    """An event store that lives as long as this object; it keeps stored bytes, not the objects it was given."""

    def __init__(self, shards: int = 16) -> None:
        self._shards = shards
        self._lock = Lock()
        self._entries: dict[str, list[_Entry]] = {}
        self._requests: dict[tuple[str, str], tuple[str, Remembered]] = {}
        self._feeds: list[list[Pointer]] = [[] for _ in range(shards)]
        self._deadlines: dict[str, int] = {}
        self._snapshots: dict[str, tuple[int, Mapping[str, Any]]] = {}
        self._orders: dict[str, Kept] = {}

    @property
    def shards(self) -> int:
        """The number of shards."""
        return self._shards

    def check_clock(self) -> None:
        """See EventStore: clocks are not judged."""

    def append(
        self,
        stream: str,
        expected: Head,
        drafts: Sequence[Draft],
        request: Request,
        deadline: int | None = None,
        orders: int | None = None,
        decided_at: int | None = None,  # noqa: ARG002 - there is one clock in one process, and nothing to judge it by
    ) -> Appended:
        """See EventStore."""
        sealed = seal(drafts, stream, expected.version, expected.digest)
        if not sealed:
            raise ValueError("nothing to append")
        with self._lock:
            if (remembered := self._remembered(stream, request)) is not None:
                first, last = remembered
                return Appended(self._between(stream, first, last), self._head(stream, last), True)
            head = self._head(stream)
            if head != expected:
                raise StaleVersion(stream, expected.tag, head.tag)
            if orders not in (None, self._orders.get(stream, NOTHING_KEPT).revision):
                raise StaleOrders(stream)
            feed = self._feeds[self.shard_of(stream)]
            entries = self._entries.setdefault(stream, [])
            for event in sealed:
                entries.append(_Entry(event.packed, event.digest))
                feed.append(Pointer(len(feed) + 1, stream, len(entries)))
            written = Remembered(expected.version + 1, len(entries))
            self._requests[stream, request.key] = (request.fingerprint, written)
            if deadline is None:
                self._deadlines.pop(stream, None)
            else:
                self._deadlines[stream] = deadline
            return Appended([event.envelope for event in sealed], self._head(stream), False)

    def read(self, stream: str, after: int = 0, limit: int | None = None) -> list[Envelope]:
        """See EventStore."""
        with self._lock:
            last = len(self._entries.get(stream, ()))
            return self._between(stream, after + 1, last if limit is None else min(last, after + limit))

    def open(self, stream: str, after: int | None = 0, request: Request | None = None) -> Opened:
        """See EventStore."""
        with self._lock:
            snapshot = None
            if after is None:
                after, snapshot = self._snapshots.get(stream, (0, None))
            head = self._head(stream)
            remembered = None if request is None else self._remembered(stream, request)
            events = self._between(stream, after + 1, head.version)
            return Opened(events, head, remembered, snapshot, self._orders.get(stream, NOTHING_KEPT))

    def head(self, stream: str) -> Head:
        """See EventStore."""
        with self._lock:
            return self._head(stream)

    def streams(self, shard: int) -> Iterator[str]:
        """See EventStore."""
        with self._lock:
            names = [pointer.stream for pointer in self._feeds[shard] if pointer.version == 1]
        yield from names

    def feed(self, shard: int, after: int = 0, limit: int = 1000) -> list[Pointer]:
        """See EventStore."""
        with self._lock:
            return self._feeds[shard][after : after + limit]

    def due(self, until: int, limit: int = 100) -> list[tuple[str, int]]:
        """See EventStore."""
        with self._lock:
            due = [(stream, deadline) for stream, deadline in self._deadlines.items() if deadline <= until]
        return sorted(due, key=itemgetter(1, 0))[:limit]

    def keep_snapshot(self, stream: str, version: int, snapshot: Mapping[str, Any]) -> None:
        """See EventStore."""
        with self._lock:
            kept, _ = self._snapshots.get(stream, (0, None))
            if version >= kept or kept > self._head(stream).version:
                self._snapshots[stream] = (version, snapshot)

    def keep_orders(self, stream: str, seat: int, text: str | None, revision: int, head: Head) -> None:
        """See EventStore."""
        with self._lock:
            kept = self._orders.get(stream, NOTHING_KEPT)
            if (kept.revision, self._head(stream)) != (revision, head):
                raise StaleOrders(stream)
            texts = {other: written for other, written in kept.texts.items() if other != seat}
            if text is not None:
                texts[seat] = text
            self._orders[stream] = Kept(revision + 1, texts)

    def _remembered(self, stream: str, request: Request) -> Remembered | None:
        fingerprint, remembered = self._requests.get((stream, request.key), (request.fingerprint, None))
        if fingerprint != request.fingerprint:
            raise RequestMismatch(stream, request.key)
        return remembered

    def _head(self, stream: str, version: int | None = None) -> Head:
        entries = self._entries.get(stream)
        if not entries:
            return EMPTY
        version = version or len(entries)
        return Head(version, entries[version - 1].digest)

    def _between(self, stream: str, first: int, last: int) -> list[Envelope]:
        entries = self._entries.get(stream, ())[first - 1 : last]
        return [unpack(entry.packed, stream, version, entry.digest) for version, entry in enumerate(entries, first)]
