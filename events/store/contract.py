"""The event store's contract: streams of events, appended atomically, chained by hash, announced on a feed.

A stream has the events of one match, versions 1, 2, 3 ...; a shard's feed announces all its events in order.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from events.runtime.errors import StoreError, StoreUnavailableError
from events.runtime.keys import shard_of
from events.store.envelope import Draft, Envelope

GENESIS = bytes(32)
DIGEST_DIGITS = 16
"""Hexadecimal digits of a digest in a version tag: enough to tell two histories of one stream apart."""

_TAG = re.compile(f"([0-9]{{1,15}})-([0-9a-f]{{{DIGEST_DIGITS}}})")


class VersionTag(NamedTuple):
    """A version of a stream and the history that it belongs to, as clients carry it: ``6-3fa9c1d25b0e7c44``.

    After a failover or restore a version can be another event, so ``digest`` is the beginning of its chain digest.
    """

    version: int
    digest: str

    def __str__(self) -> str:
        """Return the tag as it goes over the wire."""
        return f"{self.version}-{self.digest}"

    @classmethod
    def parse(cls, text: str) -> "VersionTag | None":
        """Return the tag that is written as ``text``, None when it is none."""
        matched = _TAG.fullmatch(text)
        return None if matched is None else cls(int(matched[1]), matched[2])


class Head(NamedTuple):
    """The last event of a stream: its version (0: none yet) and its chain digest (32 bytes)."""

    version: int
    digest: bytes

    @classmethod
    def of(cls, stored: Sequence[bytes | None]) -> "Head":
        """Return the head whose version and digest are ``stored``; EMPTY where there are none."""
        version, digest = stored
        return EMPTY if version is None or digest is None else cls(int(version), digest)

    @property
    def tag(self) -> VersionTag:
        """The version tag that stands for this head."""
        return VersionTag(self.version, self.digest.hex()[:DIGEST_DIGITS])


EMPTY = Head(0, GENESIS)


def tag_of(event: Envelope) -> VersionTag:
    """Return the version tag of the stream right after ``event``."""
    return Head(event.version, event.digest).tag


class Request(NamedTuple):
    """The request that makes an append repeatable: the key names it within its stream, the fingerprint its content."""

    key: str
    fingerprint: str


class Appended(NamedTuple):
    """The events of an append and the head right after them; ``repeated`` if an earlier append wrote them."""

    events: list[Envelope]
    head: Head
    repeated: bool


class RecordedRequest(NamedTuple):
    """An earlier request on a stream: the versions of the first and the last event that it wrote."""

    first: int
    last: int


class StoredConditionalMoves(NamedTuple):
    """The conditional moves beside a stream: text by seat, and a revision that grows with every change."""

    revision: int
    texts: Mapping[int, str]


NO_CONDITIONAL_MOVES = StoredConditionalMoves(0, MappingProxyType({}))


class Opened(NamedTuple):
    """Events after a version or ``snapshot``, the head, the events of a request, conditional moves, at one instant."""

    events: list[Envelope]
    head: Head
    recorded_request: RecordedRequest | None
    snapshot: Mapping[str, Any] | None
    conditional_moves: StoredConditionalMoves = NO_CONDITIONAL_MOVES


class Pointer(NamedTuple):
    """A feed entry: the ``sequence``-th event of its shard (from 1, without gaps) is this version of this stream."""

    sequence: int
    stream: str
    version: int


class StaleVersionError(StoreError):
    """The stream is not at the version that was ``expected``: it has moved on, or has lost its end."""

    def __init__(self, stream: str, expected: VersionTag, current: VersionTag) -> None:
        super().__init__(f"{stream} is at version {current}, not as expected at version {expected}")
        self.stream = stream
        self.expected = expected
        self.current = current


class StaleConditionalMovesError(StoreError):
    """Conditional moves have changed, or the stream has moved on, since the decision was made: decide again."""


class RequestMismatchError(StoreError):
    """A request key was used before for a request with another content."""

    def __init__(self, stream: str, key: str) -> None:
        super().__init__(f"the request key {key!r} was used on {stream} for a request with another content")
        self.stream = stream
        self.key = key


class ClockMismatchError(StoreUnavailableError):
    """The clock of this process is ``offset_ms`` ahead of the store's (negative: behind); nothing was written."""

    def __init__(self, offset_ms: int) -> None:
        super().__init__(f"the clock of this process is {describe_offset(offset_ms)} the store's: it must be set right")
        self.offset_ms = offset_ms


def describe_offset(offset_ms: int) -> str:
    """Return ``offset_ms`` as "110.0 s ahead of", or "2.5 s behind"."""
    return f"{abs(offset_ms) / 1000:.1f} s {'ahead of' if offset_ms > 0 else 'behind'}"


class WrongInstallationError(StoreError):
    """The store was installed with other settings, or by a later Rookery, than it is opened with."""


class DamagedStreamError(StoreError):
    """The stored bytes of a stream are not those that were appended; ``version`` is where it shows, 0 if nowhere."""

    def __init__(self, stream: str, version: int, reason: str) -> None:
        place = f" at version {version}" if version else ""
        super().__init__(f"{stream} is damaged{place}: {reason}")
        self.stream = stream
        self.version = version
        self.reason = reason


class EventReader(ABC):
    """Reads streams and feeds. Methods raise StoreUnavailableError; those that read events also DamagedStreamError."""

    @property
    @abstractmethod
    def shards(self) -> int:
        """The number of shards, which never changes once the store is installed."""

    def shard_of(self, stream: str) -> int:
        """Return the shard of ``stream``, 0 to shards - 1."""
        return shard_of(stream, self.shards)

    @abstractmethod
    def read(self, stream: str, after: int = 0, limit: int | None = None) -> list[Envelope]:
        """Return the events of ``stream`` with versions above ``after``, in order; none when it does not exist."""

    def read_on(self, stream: str, tag: VersionTag, limit: int | None = None) -> list[Envelope]:
        """Return the events after the one that ``tag`` names; raises StaleVersionError when it is not there."""
        if tag == EMPTY.tag:
            return self.read(stream, 0, limit)
        entries = self.read(stream, tag.version - 1, None if limit is None else limit + 1) if tag.version else []
        if not entries or tag_of(entries[0]) != tag:
            raise StaleVersionError(stream, tag, self.head(stream).tag)
        return entries[1:]

    @abstractmethod
    def open(self, stream: str, after: int | None = 0, request: Request | None = None) -> Opened:
        """Return a stream after a version (None: of the cached snapshot), the events of ``request``, in one round trip.

        Raises RequestMismatchError when the key of ``request`` was used with another fingerprint.
        """

    @abstractmethod
    def head(self, stream: str) -> Head:
        """Return the head of ``stream``; EMPTY when it does not exist."""

    def heads(self, streams: Sequence[str]) -> list[Head]:
        """Return the heads of ``streams``, in their order."""
        return [self.head(stream) for stream in streams]

    @abstractmethod
    def streams(self, shard: int) -> Iterator[str]:
        """Yield the names of all streams of a shard, in the order of their first events."""

    def all_streams(self) -> Iterator[str]:
        """Yield the names of all streams, shard by shard."""
        for shard in range(self.shards):
            yield from self.streams(shard)

    def live_streams(self, shard: int) -> Iterator[str]:
        """Yield the names of those streams of a shard whose events are here: all of them where nothing is archived."""
        return self.streams(shard)

    def all_live_streams(self) -> Iterator[str]:
        """Yield the names of all streams that are not archived, shard by shard."""
        for shard in range(self.shards):
            yield from self.live_streams(shard)

    @abstractmethod
    def feed(self, shard: int, after: int = 0, limit: int = 1000) -> list[Pointer]:
        """Return up to ``limit`` entries above ``after``, in order, as far as they were not trimmed."""


class EventStore(EventReader):
    """Appends to streams, and stores beside them deadlines, snapshots and conditional moves."""

    @abstractmethod
    def check_clock(self) -> None:
        """Raise ClockMismatchError if the store judges clocks and that of this process is wrong."""

    @abstractmethod
    def append(
        self,
        stream: str,
        expected: Head,
        drafts: Sequence[Draft],
        request: Request,
        *,
        deadline: int | None = None,
        conditional_moves: int | None = None,
        decided_at: int | None = None,
    ) -> Appended:
        """Append ``drafts`` (at least one) after ``expected``, all or none, in one atomic step with feed and deadline.

        A request whose key is known returns the events it wrote and writes nothing. ``deadline`` replaces the stream's
        (None removes it). ``conditional_moves`` is the revision decided with (None: any), ``decided_at`` the instant by
        this process's clock.

        Raises, before anything is written: StaleVersionError, StaleConditionalMovesError, RequestMismatchError,
        ClockMismatchError, DamagedStreamError, and ValueError for no drafts or one without canonical form.
        """

    def await_copies(self, shards: Sequence[int]) -> None:
        """Wait until the replicas have all writes to ``shards`` so far; nothing where there are none."""

    @abstractmethod
    def due(self, until: int, limit: int = 100, shards: Collection[int] | None = None) -> list[tuple[str, int]]:
        """Return up to ``limit`` streams of ``shards`` (None: all) with deadlines to ``until``, earliest first."""

    @abstractmethod
    def save_snapshot(self, stream: str, version: int, snapshot: Mapping[str, Any]) -> None:
        """Cache ``snapshot`` (JSON) at ``version``, unless a newer one of this history is; it may vanish."""

    @abstractmethod
    def save_conditional_moves(self, stream: str, seat: int, text: str | None, revision: int, head: Head) -> None:
        """Store the private conditional moves of ``seat`` (None: none); the revision grows by one.

        Raises StaleConditionalMovesError when they are not of ``revision`` or the stream is not at ``head``.
        """
