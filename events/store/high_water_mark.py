"""Finds events that the store has lost, by its high-water mark (``events.store.mark``), which is outside it.

The mark covers events that were acknowledged by all required replicas.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from operator import lt
from pathlib import Path
from typing import NamedTuple

from events.runtime.keys import ShardKeys
from events.runtime.topology import CLUSTER_OF_SERVERS
from events.runtime.wall_clock import now_ms
from events.store.contract import DamagedStreamError, Head
from events.store.incidents import Incident, Incidents
from events.store.mark import MatchMark, RecordedMark, ShardMark, read_mark, write_mark
from events.store.redis import RedisStore

MAX_MATCHES = 4096
"""Matches that a mark names: those appended to last. Of others it only has the number of events."""

DIGEST_BYTES = 8
LOST = "lost-"
FEED_BATCH = 10_000
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


class LostEvents(NamedTuple):
    """Events of a match that the store no longer has: after version ``after`` up to ``until``, perhaps ``replaced``."""

    match: str
    after: int
    until: int
    replaced: bool = False

    def __str__(self) -> str:
        """Return a description of the loss."""
        if self.replaced:
            return f"{self.match}: version {self.until} is another event than the one that was recorded"
        versions = f"versions {self.after + 1} to" if self.until - self.after > 1 else "version"
        return f"{self.match}: {versions} {self.until}"


class MissingEvents(NamedTuple):
    """The events that a store lacks of its mark of the instant ``at``: losses of known matches, and other events.

    ``flushed``: some were on the disk. ``unsure``: more may be missing, since machine or store stopped without warning
    while ``behind`` with flushing, or the disk did not keep the writes that it confirmed.
    """

    at: int
    losses: tuple[LostEvents, ...]
    unnamed: int
    flushed: bool
    unsure: bool = False
    behind: bool = False

    @property
    def certain(self) -> bool:
        """Whether anything is missing for certain."""
        return bool(self.losses or self.unnamed)

    @property
    def events(self) -> int:
        """The number of events that are missing for certain."""
        return self.unnamed + sum(lost.until - lost.after for lost in self.losses)

    def lines(self) -> list[str]:
        """Return a description of the losses, one match per line."""
        lines = [str(lost) for lost in self.losses]
        if self.unnamed:
            lines.append(f"{self.unnamed:,} further events of matches that were not among the last appended to")
        return lines

    def summary(self) -> str:
        """Return one sentence about the missing events, without naming a match."""
        parts = []
        if self.certain:
            parts.append(f"{self.events:,} stored events are missing, of {len(self.losses):,} known matches")
        if self.unsure:
            moment = datetime.fromtimestamp(self.at / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
            condition = "" if self.behind or self.certain else ", if the disk did not keep what it had confirmed"
            parts.append(f"there was no orderly stop: what was done after {moment} UTC may be missing{condition}")
        return "; ".join(parts)


class HighWaterMark:
    """Keeps the mark of ``store`` in the file ``path``, and finds the events that the store lacks. For one thread.

    ``flush`` flushes the files of the store and returns the newest with its size (None: the store does). ``behind``: it
    acknowledges before flushing. ``is_local``: a stop of this machine leaves it unsure. Methods raise StoreError and
    OSError.
    """

    def __init__(
        self,
        store: RedisStore,
        path: Path,
        on_message: Callable[[str], None],
        flush: Callable[[], tuple[str, int] | None] = lambda: None,
        behind: bool = False,
        is_local: bool = False,
    ) -> None:
        """Read and write nothing yet."""
        self._store = store
        self._path = path
        self._message = on_message
        self._flush_files = flush
        self._behind = behind
        self._is_local = is_local
        self._boot = boot_id()
        self._servers: list[str] = []
        self._at = 0
        self._file: tuple[str, int] | None = None
        self._shards: list[ShardMark] = []
        self._matches: dict[str, MatchMark] = {}

    def load(self) -> RecordedMark | None:
        """Go on from the mark in the file and return it, None when there is none of this store."""
        mark, self._servers = None, []
        try:
            mark = read_mark(self._path)
        except ValueError as error:
            self._message(f"{error}; events missing at the end cannot be detected")
        if mark is not None and mark.installation != self._store.installation().id:
            self._message(f"{self._path} belongs to another store; events missing at the end cannot be detected")
            mark = None
        self._at = mark.at if mark else now_ms()
        self._shards = list(mark.shards) if mark else [ShardMark()] * self._store.shards
        self._matches = dict(mark.matches) if mark else {}
        return mark

    def find_missing(self) -> MissingEvents | None:
        """Return the events of the mark in the file that the store lacks, None for none or without a mark."""
        mark = self.load()
        missing = None if mark is None else find_missing(self._store, mark, self._boot)
        return missing if missing is not None and (missing.certain or missing.unsure) else None

    def begin(self) -> None:
        """Mark the present events of the store, of all matches that were marked before."""
        servers, at = self._identities(), now_ms()
        counts, heads = shard_sequences(self._store), self._store.heads(list(self._matches))
        self._store.await_copies(range(len(counts)))
        if self._identities() != servers:
            return  # The replicas may lack events that were read: the next step begins again.
        self._servers = servers
        self._at, self._shards = at, [ShardMark(count) for count in counts]
        pairs = zip(self._matches, heads, strict=True)
        self._matches = {match: match_mark(head) for match, head in pairs if head.version}
        self._flush()
        self._write()

    def step(self) -> MissingEvents | None:
        """Bring the mark up to the acknowledged events; return, and record as an incident, those that are lost."""
        servers, at, counts = self._identities(), now_ms(), shard_sequences(self._store)
        if servers != self._servers or any(map(lt, counts, (shard.sequence for shard in self._shards))):
            # Another server answers, or the same one with another history: all that is marked is compared.
            missing = find_missing(self._store, self._mark(closed=True), self._boot)
            is_new = missing.certain and record_loss(self._store, missing)
            self.begin()
            return missing if is_new else None
        advanced = [shard for shard, count in enumerate(counts) if count > self._shards[shard].sequence]
        if advanced:
            heads = self._heads_of_appended(advanced, counts)
            self._store.await_copies(advanced)
            if self._identities() != servers:
                return None
            self._advance(at, counts, heads)
        # Files that are flushed after the acknowledgement are in the mark before: a power cut's loss can be named.
        if self._behind:
            self._at = at
            self._write()
            self._flush()
        elif advanced:
            self._flush()
            self._write()
        return None

    def close(self) -> None:
        """Mark the store as shut down cleanly."""
        self.step()
        self._write(closed=True)

    def _heads_of_appended(self, advanced: Sequence[int], counts: Sequence[int]) -> dict[str, Head]:
        """Return the heads of the matches that were appended to since the mark, the last ones at the end."""
        touched: dict[str, None] = {}
        for shard in advanced:
            at = self._shards[shard].sequence
            while at < counts[shard] and (pointers := self._store.feed(shard, at, FEED_BATCH)):
                touched |= dict.fromkeys(pointer.stream for pointer in pointers)
                at = pointers[-1].sequence
        return dict(zip(touched, self._store.heads(list(touched)), strict=True))

    def _advance(self, at: int, counts: Sequence[int], heads: Mapping[str, Head]) -> None:
        self._at = at
        self._shards = [shard._replace(sequence=count) for shard, count in zip(self._shards, counts, strict=True)]
        for match, head in heads.items():
            before = self._matches.pop(match, None)
            self._matches[match] = match_mark(head, before.flushed if before else 0)
        for match in list(islice(self._matches, max(len(self._matches) - MAX_MATCHES, 0))):
            del self._matches[match]

    def _identities(self) -> list[str]:
        is_cluster = self._store.topology.kind == CLUSTER_OF_SERVERS
        return self._store.server_identities(range(self._store.shards) if is_cluster else [0])

    def _flush(self) -> None:
        """Flush the files of the server, which include everything in the mark."""
        self._file = self._flush_files()
        self._shards = [ShardMark(shard.sequence, shard.sequence) for shard in self._shards]
        for match, mark in self._matches.items():
            if mark.flushed < mark.version:
                self._matches[match] = mark._replace(flushed=mark.version)

    def _write(self, closed: bool = False) -> None:
        write_mark(self._path, self._mark(closed or not self._is_local))

    def _mark(self, closed: bool) -> RecordedMark:
        return RecordedMark(
            installation=self._store.installation().id,
            at=self._at,
            boot=self._boot,
            behind=self._behind,
            closed=closed,
            flushed=self._file,
            shards=self._shards,
            matches=self._matches,
        )


def find_missing(store: RedisStore, mark: RecordedMark, boot: str) -> MissingEvents:
    """Return the events that ``store`` lacks of ``mark``; ``boot`` identifies the current boot of the machine."""
    losses, flushed = [], False
    named = [0] * len(mark.shards)
    for (match, entry), head in zip(mark.matches.items(), store.heads(list(mark.matches)), strict=True):
        if head.version < entry.version:
            losses.append(LostEvents(match, head.version, entry.version))
            named[store.shard_of(match)] += entry.version - head.version
            flushed |= head.version < entry.flushed
        elif _digest_at(store, match, entry.version, head) != entry.digest:
            losses.append(LostEvents(match, entry.version - 1, entry.version, replaced=True))
            flushed |= entry.version <= entry.flushed
    lost = [shard.sequence - now for shard, now in zip(mark.shards, shard_sequences(store), strict=True)]
    flushed |= any(count > shard.sequence - shard.flushed for shard, count in zip(mark.shards, lost, strict=True))
    unnamed = sum(max(count - counted, 0) for count, counted in zip(lost, named, strict=True))
    missing = MissingEvents(mark.at, tuple(losses), unnamed, flushed, behind=mark.behind)
    return missing._replace(unsure=not mark.closed and (mark.boot != boot or missing.certain))


def shard_sequences(store: RedisStore) -> list[int]:
    """Return the number of events of each shard; raises StoreError."""
    keys = [ShardKeys(store.prefix, shard).sequence for shard in range(store.shards)]
    if store.topology.kind != CLUSTER_OF_SERVERS:
        return [int(sequence or 0) for sequence in store.client.mget(keys)]
    with store.client.pipeline(transaction=False) as pipeline:
        for key in keys:
            pipeline.get(key)
        return [int(sequence or 0) for sequence in pipeline.execute()]


def record_loss(store: RedisStore, missing: MissingEvents) -> bool:
    """Record the missing events, but not those recorded since the mark; return whether there was more.

    Crash-safe: it is recorded before the next mark is written, and found again with the same mark until then.
    """
    incidents = Incidents(store.client, store.prefix)
    recorded = [incident for incident in incidents.all() if incident.id.startswith(LOST) and incident.at >= missing.at]
    lost = {
        loss.match: loss.after
        for loss in missing.losses
        if all(loss.after < incident.lost.get(loss.match, loss.until) for incident in recorded)
    }
    if recorded and not lost:
        return False
    return incidents.record(Incident(f"{LOST}{missing.at}", now_ms(), missing.summary(), lost))


def match_mark(head: Head, flushed: int = 0) -> MatchMark:
    """Return the record of a match at ``head`` in a mark."""
    return MatchMark(head.version, head.digest[:DIGEST_BYTES].hex(), flushed)


def boot_id() -> str:
    """Return the id of the current boot of the machine, empty where it has none."""
    try:
        return BOOT_ID.read_text().strip()
    except OSError:
        return ""


def _digest_at(store: RedisStore, match_id: str, version: int, head: Head) -> str:
    if head.version == version:
        return head.digest[:DIGEST_BYTES].hex()
    try:
        (event,) = store.read(match_id, version - 1, 1)
    except (DamagedStreamError, ValueError):
        return ""
    return event.digest[:DIGEST_BYTES].hex()
