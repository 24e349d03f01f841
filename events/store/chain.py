"""The hash chain of a stream, computed again: proof that the stored events are those that were appended."""

from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from events.runtime.errors import StoreError, StoreUnavailableError
from events.store.codec import UndecodableEventError, decode
from events.store.contract import EMPTY, DamagedStreamError, EventStore, Head
from events.store.envelope import Envelope, canonical_bytes, chain_digest


class Verified(NamedTuple):
    """A stream whose every event follows from the one before, up to its head, whose event is dated ``at``."""

    stream: str
    head: Head
    at: int = 0


def verified_events(stream: str, events: Iterable[Envelope], withheld: Collection[int] = ()) -> Iterator[Envelope]:
    """Yield ``events`` of ``stream`` from its first as their digests are computed again, unless ``withheld``.

    Raises DamagedStreamError with the first version at fault and the reason.
    """
    digest = EMPTY.digest
    for version, event in enumerate(events, 1):
        if event.version != version:
            raise DamagedStreamError(stream, version, f"version {event.version} is in its place")
        try:
            computed = chain_digest(digest, canonical_bytes(event.draft, stream, version))
        except ValueError as error:
            raise DamagedStreamError(stream, version, f"it has no canonical form ({error})") from error
        if computed != event.digest and version not in withheld:
            raise DamagedStreamError(stream, version, "its content, its digest or an event before it was changed")
        digest = event.digest
        yield event


def verify(store: EventStore, stream: str) -> Verified:
    """Return the head of ``stream``, EMPTY for none, with chain and events verified. Raises DamagedStreamError."""
    opened = store.open(stream)
    head, at = EMPTY, 0
    for event in verified_events(stream, opened.events):
        head, at = Head(event.version, event.digest), event.at
        try:
            decode(event)
        except UndecodableEventError as error:
            raise DamagedStreamError(stream, event.version, f"it cannot be decoded ({error})") from error
    if opened.head != head:
        raise DamagedStreamError(stream, opened.head.version, "the head is not that of the last event")
    return Verified(stream, opened.head, at)


def verify_streams(store: EventStore, streams: Iterable[str]) -> Iterator[Verified | DamagedStreamError]:
    """Yield the verdict on each of ``streams``; one that cannot be read does not keep others from it."""
    for stream in streams:
        verdict: Verified | DamagedStreamError
        try:
            verdict = verify(store, stream)
            if verdict.head == EMPTY:
                raise DamagedStreamError(stream, 1, "the shard lists it, but it has no events")
        except StoreUnavailableError:
            raise
        except DamagedStreamError as damage:
            verdict = damage
        except Exception as error:
            verdict = DamagedStreamError(stream, 0, f"it cannot be read: {error}")
        yield verdict


def readable_streams(store: EventStore) -> Iterator[str]:
    """Yield the names of all streams in shards whose list can be read; ``log_audit`` reports the others."""
    for shard in range(store.shards):
        try:
            yield from store.streams(shard)
        except StoreUnavailableError:
            raise
        except StoreError:
            continue
