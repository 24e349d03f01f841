"""What somebody outside the store was told of streams: without it nothing shows that a store has lost their ends.

A replica that is promoted, or a file that is restored, may lack events that were acknowledged. Each process remembers
the events that it has seen acknowledged, read or projected, the latest of them, and compares them with what the store
says later.
"""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import NamedTuple, Protocol

from events.store.contract import DIGEST_DIGITS, Head
from events.store.envelope import Envelope
from events.store.told_files import ToldFiles

MAX_TOLD_EVENTS = 20_000
"""Events that a process remembers, about 6 MB: those of the streams that it has used last."""

MAX_TOLD_PER_STREAM = 500
MAX_TOLD_PER_READ = 32
"""Events at the end of a stream that is read as a whole: earlier ones were told longer ago than a replica lags."""


class Claim(NamedTuple):
    """An event that was told: the beginning of its digest (``VersionTag``), and the request that wrote it if known."""

    digest: str
    request: str = ""


Claims = Mapping[int, Claim]
"""What is claimed of one stream, by version."""


class LostEvent(NamedTuple):
    """An event that somebody was told of and that its stream does not have; unknown parts are empty."""

    match: str
    version: int
    digest: str = ""
    request: str = ""


class Watch(Protocol):
    """What is told of the use of a store, to find out what it has lost; ``events.service.lost_tails`` implements it."""

    def touch(self, shard: int) -> None:
        """Note that a shard is used."""

    def contradiction(self, stream: str) -> None:
        """Note that the store does not have of a stream what it had before. Raises StoreUnavailableError."""


class _Stream:
    """What is remembered of one stream; ``last`` is the highest version of ``claims``, 0 without any.

    A claim is kept as one string, the digest and then the request: objects would cost three times the memory, and each
    collection of garbage the time to look at all of them.
    """

    __slots__ = ("claims", "last")

    def __init__(self) -> None:
        self.claims: dict[int, str] = {}
        self.last = 0

    def contradicts(self, events: Sequence[Envelope], head: Head | None) -> bool:
        """Tell whether ``events``, or the present ``head``, are other than what is remembered."""
        claims = self.claims
        if head is not None:
            known = claims.get(head.version)
            if head.version < self.last or (known is not None and not known.startswith(head.tag.digest)):
                return True
        for event in events:
            known = claims.get(event.version)
            if known is not None and known[:DIGEST_DIGITS] != event.id[:DIGEST_DIGITS]:
                return True
        return False

    def add(self, version: int, digest: str, request: str = "") -> None:
        """Remember an event; the request that wrote it stays known."""
        if request or version not in self.claims:
            self.claims[version] = digest + request
            self.last = max(self.last, version)

    def claim(self, version: int) -> Claim:
        """Return what is remembered of an event."""
        kept = self.claims[version]
        return Claim(kept[:DIGEST_DIGITS], kept[DIGEST_DIGITS:])


class ToldEvents:
    """The events that this process knows of, a bounded number of them. Safe to share between threads.

    ``files`` keep them for the case that this process is killed; None for nothing but memory.
    """

    def __init__(self, max_events: int = MAX_TOLD_EVENTS, files: ToldFiles | None = None) -> None:
        self.files = files
        self._max_events = max_events
        self._lock = Lock()
        self._streams: OrderedDict[str, _Stream] = OrderedDict()
        self._count = 0

    def note(self, stream: str, events: Sequence[Envelope], head: Head | None = None, request: str = "") -> bool:
        """Remember ``events``, written by ``request`` if it is known, and the present ``head`` of a stream.

        Returns False, and remembers nothing, when they are other than what was told of it before.
        """
        with self._lock:
            told = self._streams.get(stream)
            if told is None:
                if not events and not (head and head.version):
                    return True
                told = self._streams[stream] = _Stream()
            elif told.contradicts(events, head):
                return False
            before = len(told.claims)
            for event in events[-MAX_TOLD_PER_READ:]:
                self._add(stream, told, event.version, event.id[:DIGEST_DIGITS], request)
            if head is not None and head.version and head.version not in told.claims:
                self._add(stream, told, head.version, head.tag.digest, "")
            self._count += len(told.claims) - before
            self._streams.move_to_end(stream)
            self._drop_oldest(told)
            return True

    def claims(self, stream: str) -> Claims:
        """Return what was told of a stream."""
        with self._lock:
            told = self._streams.get(stream)
            return {} if told is None else {version: told.claim(version) for version in told.claims}

    def streams(self) -> list[str]:
        """Return the streams of which something is remembered."""
        with self._lock:
            return list(self._streams)

    def last(self, stream: str) -> tuple[int, Claim] | None:
        """Return the last event that was told of a stream, None when nothing is remembered."""
        with self._lock:
            told = self._streams.get(stream)
            return None if told is None else (told.last, told.claim(told.last))

    def forget(self, stream: str, versions: Sequence[int]) -> None:
        """Forget events of a stream: they are recorded as lost."""
        with self._lock:
            told = self._streams.get(stream)
            if told is None:
                return
            for version in versions:
                if told.claims.pop(version, None) is not None:
                    self._count -= 1
                    if self.files is not None:
                        self.files.forget(stream, version)
            told.last = max(told.claims, default=0)
            if not told.claims:
                del self._streams[stream]

    def remember(self, stream: str, claims: Claims) -> None:
        """Remember what another process was told, and what the stream has."""
        with self._lock:
            told = self._streams.setdefault(stream, _Stream())
            before = len(told.claims)
            for version, claim in claims.items():
                self._add(stream, told, version, claim.digest, claim.request)
            self._count += len(told.claims) - before
            self._drop_oldest(told)

    def _add(self, stream: str, told: _Stream, version: int, digest: str, request: str) -> None:
        """Remember an event, in the file only where it is news: most are read several times."""
        if self.files is not None and version not in told.claims:
            self.files.add(stream, version, digest, request)
        told.add(version, digest, request)

    def _drop_oldest(self, told: _Stream) -> None:
        if len(told.claims) > MAX_TOLD_PER_STREAM:
            for version in sorted(told.claims)[: len(told.claims) // 2]:
                del told.claims[version]
                self._count -= 1
        while self._count > self._max_events and len(self._streams) > 1:
            _, oldest = self._streams.popitem(last=False)
            self._count -= len(oldest.claims)


def lost_of(match: str, claims: Claims, head: Head, present: Mapping[int, str]) -> list[LostEvent]:
    """Return the events of a match that were told and are lost, in order.

    ``present`` has the digests, cut like those of ``claims``, of the claimed versions that the stream has now. After
    the first event that is lost everything up to the last one that was told is lost too: each digest covers the events
    before it.
    """
    gone = [version for version in sorted(claims) if not _is_there(claims[version], present.get(version))]
    if not gone:
        return []
    kept = max((version for version in claims if version < gone[0]), default=0)
    # Nothing is known of the versions between the last one that is there and the first that is not, unless the stream
    # ends before them.
    first = min(gone[0], max(head.version, kept) + 1)
    return [LostEvent(match, version, *claims.get(version, Claim(""))) for version in range(first, gone[-1] + 1)]


def _is_there(claim: Claim, present: str | None) -> bool:
    """Tell whether an event is the one that was claimed; any is of which only the version is known."""
    return present is not None and claim.digest in ("", present)
