"""Finds acknowledged events that the store has lost: by a failover to a replica without them, or by an older file.

What was told of a stream, by this process or by something stored elsewhere, is compared with the stream. What is
missing, or is another event now, is recorded as an incident that names every lost event, before anything else is done
with the match.
"""

import math
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import islice

import structlog

from events.runtime.errors import StoreError
from events.service.incidents import Incident, Incidents
from events.store.contract import DIGEST_DIGITS, DamagedStreamError, Head
from events.store.redis import RedisStore
from events.store.told import Claim, Claims, LostEvent, lost_of

IDENTITY_INTERVAL_S = 2.0
"""Between two looks, while a shard is used, at whether its server is still the same."""

LEFT_INTERVAL_S = 5.0
"""Between two looks at what processes that have ended were told."""

STREAMS_PER_COMPARISON = 200
WORDS = (
    "The store has lost events that it had acknowledged: a server without them has taken over, or has started with an "
    "older file. The matches continue from what is left."
)

log = structlog.get_logger("lost-tails")


class LostTails:
    """Compares what was told of the matches of ``store`` with the store (``events.store.told.Watch``).

    ``now`` returns milliseconds since 1970 UTC, ``monotonic`` seconds. Safe to share between threads.
    """

    def __init__(
        self,
        store: RedisStore,
        incidents: Incidents,
        now: Callable[[], int],
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._incidents = incidents
        self._now = now
        self._monotonic = monotonic
        self._identities: dict[int, str] = {}
        self._looked_at: dict[int, float] = {}
        self._looked_for_left = -math.inf
        self._thread = threading.local()

    def touch(self, shard: int) -> None:
        """Compare all that is remembered of a shard if another server answers for it than before; see Watch.

        It looks every IDENTITY_INTERVAL_S at most. While the store cannot say, nothing is compared: a later look will.
        """
        now = self._monotonic()
        if now - self._looked_at.get(shard, -IDENTITY_INTERVAL_S) < IDENTITY_INTERVAL_S or self._is_examining:
            return
        self._looked_at[shard] = now  # two threads that get here at once look twice, no more
        before = self._identities.get(shard)
        with suppress(StoreError):
            if now - self._looked_for_left >= LEFT_INTERVAL_S:
                self._looked_for_left = now
                self.take_over()
            self.look_at([shard])
            if before not in (None, self._identities[shard]):
                # It may have answered for other shards, too, of which nothing may be used for long.
                self.look_at(list(self._identities))

    def look_at(self, shards: Sequence[int]) -> list[LostEvent]:
        """Compare all that is remembered of those of ``shards`` for which another server answers than before.

        Returns what is lost. Raises StoreUnavailableError; then the next look compares.
        """
        identities = dict(zip(shards, self._store.server_identities(shards), strict=True))
        changed = {
            shard for shard, identity in identities.items() if self._identities.setdefault(shard, identity) != identity
        }
        if not changed:
            return []
        remembered = (stream for stream in self._store.told.streams() if self._store.shard_of(stream) in changed)
        lost = self.compare(
            {stream: {last[0]: last[1]} for stream in remembered if (last := self._store.told.last(stream))}
        )
        self._identities |= {shard: identities[shard] for shard in changed}
        log.warning("another server answers", shards=sorted(changed), lost=len(lost))
        return lost

    def take_over(self) -> None:
        """Compare what processes that have ended were told; what is there this process remembers in their place.

        Raises StoreUnavailableError; then a later look does the rest.
        """
        if self._store.told.files is None:
            return
        for left in self._store.told.files.left():
            claimed = {
                stream: {version: Claim(*kept) for version, kept in events.items()} for stream, events in left.items()
            }
            lost = {(event.match, event.version) for event in self.compare(claimed)}
            for stream, claims in claimed.items():
                there = {version: claim for version, claim in claims.items() if (stream, version) not in lost}
                self._store.told.remember(stream, there)

    def contradiction(self, stream: str) -> None:
        """Find out what a stream has lost, and record it; see Watch."""
        if not self._is_examining:
            self.compare({stream: self._store.told.claims(stream)})

    def compare(self, claimed: Mapping[str, Claims]) -> list[LostEvent]:
        """Record the events of each match that are ``claimed``, or known to this process, and lost; return them.

        Raises StoreUnavailableError.
        """
        lost: list[LostEvent] = []
        with self._examining():
            for claims in _batches(claimed):
                suspects = [match_id for match_id, _ in self._missing(claims)]
                heads = dict(zip(suspects, self._store.heads(suspects), strict=True))
                merged = {match_id: {**self._store.told.claims(match_id), **claims[match_id]} for match_id in suspects}
                for match_id, of_match in self._missing(merged):
                    if self._is_archived(match_id, heads[match_id], merged[match_id]):
                        self._store.told.forget(match_id, list(merged[match_id]))
                    else:
                        self._record(match_id, of_match)
                        lost += of_match
        return lost

    def _missing(self, claimed: Mapping[str, Claims]) -> Iterator[tuple[str, list[LostEvent]]]:
        found = self._store.digests({match_id: list(claims) for match_id, claims in claimed.items() if claims})
        for match_id, (head, digests) in found.items():
            present = {version: digest.hex()[:DIGEST_DIGITS] for version, digest in digests.items()}
            if lost := lost_of(match_id, claimed[match_id], head, present):
                yield match_id, lost

    def _is_archived(self, match_id: str, head: Head, claims: Claims) -> bool:
        """Tell whether a match has all that is claimed where the store reads it, though it is not among the live ones.

        Its ``head`` may spare reading the events: its digest covers all of them.
        """
        try:
            last = claims.get(head.version)
            if last is not None and last.digest == head.tag.digest and max(claims) == head.version:
                return True
            present = {event.version: event.id[:DIGEST_DIGITS] for event in self._store.read(match_id)}
        except DamagedStreamError:
            return False
        return not lost_of(match_id, claims, head, present)

    def _record(self, match_id: str, lost: list[LostEvent]) -> None:
        """Record events as lost. They are forgotten only then: killed or failed before, they are found again."""
        incident = Incident(incident_id(self._store, self._store.shard_of(match_id)), self._now(), WORDS)
        added = self._incidents.record_lost(incident, lost)
        self._store.told.forget(match_id, [event.version for event in lost])
        if added:
            versions = [f"{event.version}-{event.digest}" for event in lost]
            log.error("acknowledged events are lost", match=match_id, events=versions)

    @property
    def _is_examining(self) -> bool:
        return getattr(self._thread, "examining", False)

    @contextmanager
    def _examining(self) -> Iterator[None]:
        before, self._thread.examining = self._is_examining, True
        try:
            yield
        finally:
            self._thread.examining = before


def incident_id(store: RedisStore, shard: int) -> str:
    """Return the id of the incident in which the server that answers for a shard now has lost events.

    It is the same for all processes, until another server takes over or this one starts again.
    """
    return f"lost-{store.server_identities([shard])[0]}"


def _batches(claimed: Mapping[str, Claims]) -> Iterator[dict[str, Claims]]:
    entries: Iterable[tuple[str, Claims]] = iter(claimed.items())
    while batch := dict(islice(entries, STREAMS_PER_COMPARISON)):
        yield batch
