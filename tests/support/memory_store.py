"""The event store in memory: for tests of the layers above it, and the reference for the one on Redis."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from operator import itemgetter
from threading import Lock
from typing import Any, NamedTuple

from events.store import contract
from events.store.envelope import Draft, Envelope, seal, unpack


class _Entry(NamedTuple):
    packed: bytes
    digest: bytes


class MemoryStore(contract.EventStore):
    """An event store that lives as long as this object; it stores bytes, not the objects it is given."""

    def __init__(self, shards: int = 16) -> None:
        self._shards = shards
        self._lock = Lock()
        self._entries: dict[str, list[_Entry]] = {}
        self._requests: dict[tuple[str, str], tuple[str, contract.RecordedRequest]] = {}
        self._feeds: list[list[contract.Pointer]] = [[] for _ in range(shards)]
        self._deadlines: dict[str, int] = {}
        self._snapshots: dict[str, tuple[int, Mapping[str, Any]]] = {}
        self._conditional_moves: dict[str, contract.StoredConditionalMoves] = {}

    @property
    def shards(self) -> int:
        return self._shards

    def check_clock(self) -> None:
        """See EventStore: clocks are not compared."""

    def append(
        self,
        stream: str,
        expected: contract.Head,
        drafts: Sequence[Draft],
        request: contract.Request,
        *,
        deadline: int | None = None,
        conditional_moves: int | None = None,
        decided_at: int | None = None,
    ) -> contract.Appended:
        sealed = seal(drafts, stream, expected.version, expected.digest)
        if not sealed:
            raise ValueError("nothing to append")
        with self._lock:
            if (recorded := self._recorded_request(stream, request)) is not None:
                first, last = recorded
                return contract.Appended(self._between(stream, first, last), self._head(stream, last), True)
            head = self._head(stream)
            if head != expected:
                raise contract.StaleVersionError(stream, expected.tag, head.tag)
            if conditional_moves not in (
                None,
                self._conditional_moves.get(stream, contract.NO_CONDITIONAL_MOVES).revision,
            ):
                raise contract.StaleConditionalMovesError(stream)
            feed = self._feeds[self.shard_of(stream)]
            entries = self._entries.setdefault(stream, [])
            for event in sealed:
                entries.append(_Entry(event.packed, event.digest))
                feed.append(contract.Pointer(len(feed) + 1, stream, len(entries)))
            written = contract.RecordedRequest(expected.version + 1, len(entries))
            self._requests[stream, request.key] = (request.fingerprint, written)
            if deadline is None:
                self._deadlines.pop(stream, None)
            else:
                self._deadlines[stream] = deadline
            return contract.Appended([event.envelope for event in sealed], self._head(stream), False)

    def read(self, stream: str, after: int = 0, limit: int | None = None) -> list[Envelope]:
        with self._lock:
            last = len(self._entries.get(stream, ()))
            return self._between(stream, after + 1, last if limit is None else min(last, after + limit))

    def open(self, stream: str, after: int | None = 0, request: contract.Request | None = None) -> contract.Opened:
        with self._lock:
            snapshot = None
            if after is None:
                after, snapshot = self._snapshots.get(stream, (0, None))
            head = self._head(stream)
            recorded = None if request is None else self._recorded_request(stream, request)
            events = self._between(stream, after + 1, head.version)
            return contract.Opened(
                events, head, recorded, snapshot, self._conditional_moves.get(stream, contract.NO_CONDITIONAL_MOVES)
            )

    def head(self, stream: str) -> contract.Head:
        with self._lock:
            return self._head(stream)

    def streams(self, shard: int) -> Iterator[str]:
        with self._lock:
            names = [pointer.stream for pointer in self._feeds[shard] if pointer.version == 1]
        yield from names

    def feed(self, shard: int, after: int = 0, limit: int = 1000) -> list[contract.Pointer]:
        with self._lock:
            return self._feeds[shard][after : after + limit]

    def due(self, until: int, limit: int = 100, shards: Collection[int] | None = None) -> list[tuple[str, int]]:
        with self._lock:
            due = [(stream, deadline) for stream, deadline in self._deadlines.items() if deadline <= until]
        due = [each for each in due if shards is None or self.shard_of(each[0]) in shards]
        return sorted(due, key=itemgetter(1, 0))[:limit]

    def save_snapshot(self, stream: str, version: int, snapshot: Mapping[str, Any]) -> None:
        with self._lock:
            cached, _ = self._snapshots.get(stream, (0, None))
            if version >= cached or cached > self._head(stream).version:
                self._snapshots[stream] = (version, snapshot)

    def save_conditional_moves(
        self, stream: str, seat: int, text: str | None, revision: int, head: contract.Head
    ) -> None:
        with self._lock:
            stored = self._conditional_moves.get(stream, contract.NO_CONDITIONAL_MOVES)
            if (stored.revision, self._head(stream)) != (revision, head):
                raise contract.StaleConditionalMovesError(stream)
            texts = {other: written for other, written in stored.texts.items() if other != seat}
            if text is not None:
                texts[seat] = text
            self._conditional_moves[stream] = contract.StoredConditionalMoves(revision + 1, texts)

    def _recorded_request(self, stream: str, request: contract.Request) -> contract.RecordedRequest | None:
        fingerprint, recorded = self._requests.get((stream, request.key), (request.fingerprint, None))
        if fingerprint != request.fingerprint:
            raise contract.RequestMismatchError(stream, request.key)
        return recorded

    def _head(self, stream: str, version: int | None = None) -> contract.Head:
        entries = self._entries.get(stream)
        if not entries:
            return contract.EMPTY
        version = version or len(entries)
        return contract.Head(version, entries[version - 1].digest)

    def _between(self, stream: str, first: int, last: int) -> list[Envelope]:
        entries = self._entries.get(stream, ())[first - 1 : last]
        return [unpack(entry.packed, stream, version, entry.digest) for version, entry in enumerate(entries, first)]
