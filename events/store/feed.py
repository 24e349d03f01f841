"""The shard feeds as workers read them: consumer groups, parking of what cannot be handled, trimming, the live tail.

A feed entry is a pointer, so a consumer reads the events themselves from the store, from its own checkpoint on, and may
rely neither on the order nor on the number of deliveries: an entry that was claimed arrives after newer ones.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from redis.exceptions import ResponseError

from events.runtime.connections import Entry, StoreClient, StorePipeline, translated
from events.runtime.errors import StoreCommandError
from events.runtime.keys import ShardKeys
from events.runtime.scripts import load_script
from events.store.redis import pointer_of


class Delivery(NamedTuple):
    """A feed entry as it reaches a consumer, for the ``times_delivered``-th time."""

    shard: int
    entry_id: str
    sequence: int
    stream: str
    version: int
    times_delivered: int = 1


class Parked(NamedTuple):
    """A feed entry that a group could not handle, with the reason."""

    shard: int
    group: str
    sequence: int
    stream: str
    version: int
    reason: str


class Lag(NamedTuple):
    """How far a group is behind on a shard: entries not delivered yet, and delivered but not acknowledged."""

    undelivered: int
    pending: int


class FeedGroup:
    """One consumer of a consumer group on all shard feeds.

    One blocking read covers all shards, which a Redis Cluster does not allow: the feeds are read from a single server
    (with replicas), while appending and reading streams work on a cluster too.

    ``client`` must allow for blocking reads (``events.runtime.connections.blocking_client``). ``consumer`` should be a
    stable name of the process, so that a restarted one does not leave a dead consumer behind. Methods raise StoreError.
    """

    def __init__(self, client: StoreClient, prefix: str, shards: int, group: str, consumer: str) -> None:
        self.client = client
        self.group = group
        self.consumer = consumer
        self._keys = [ShardKeys(prefix, shard) for shard in range(shards)]
        self._shards = {keys.feed.encode(): shard for shard, keys in enumerate(self._keys)}
        self._drop_idle = load_script(client, __package__, "drop_idle_consumers")

    def ensure(self) -> None:
        """Create the group on every shard where it does not exist, from the first entry on."""
        for keys in self._keys:
            try:
                self.client.xgroup_create(keys.feed, self.group, id="0", mkstream=True)
            except StoreCommandError as error:
                if "BUSYGROUP" not in str(error):
                    raise

    def rewind(self) -> int:
        """Restart the group at the first entry of every feed that ends before its position; return how many.

        After the store has lost the end of a feed, the group would get nothing until the feed is as long as it was.
        Handling is idempotent, so entries may be delivered twice.
        """
        beyond = [keys for keys, lag in zip(self._keys, self.lag(), strict=True) if lag.undelivered < 0]
        for keys in beyond:
            self.client.xgroup_setid(keys.feed, self.group, "0")
        return len(beyond)

    def read(self, block_ms: int | None, count: int = 100) -> list[Delivery]:
        """Return up to ``count`` new entries of each shard, oldest first; wait up to ``block_ms`` for one.

        None does not wait.
        """
        feeds = {keys.feed: ">" for keys in self._keys}
        found = self.client.xreadgroup(self.group, self.consumer, feeds, count=count, block=block_ms)
        return _deliveries(found, self._shards)

    def acknowledge(self, pipeline: StorePipeline, deliveries: Iterable[Delivery]) -> None:
        """Queue the acknowledgement of ``deliveries`` on ``pipeline``, to be executed with their effect."""
        for shard, of_shard in groupby(sorted(deliveries), key=lambda delivery: delivery.shard):
            pipeline.xack(self._keys[shard].feed, self.group, *(delivery.entry_id for delivery in of_shard))

    def claim(self, min_idle_ms: int, count: int = 100) -> list[Delivery]:
        """Take over up to ``count`` entries of each shard that have been pending for ``min_idle_ms``.

        Entries that were trimmed from the feed meanwhile are acknowledged: their streams still have the events.
        """
        with self.client.pipeline(transaction=False) as pipeline:
            for keys in self._keys:
                pipeline.xautoclaim(keys.feed, self.group, self.consumer, min_idle_ms, "0-0", count=count)
            replies: list[Any] = pipeline.execute()
        claimed = []
        for shard, (keys, reply) in enumerate(zip(self._keys, replies, strict=True)):
            claimed += [_delivery(shard, entry_id, fields) for entry_id, fields in reply[1] if fields]
            if not all(fields for _, fields in reply[1]):
                self._acknowledge_trimmed(keys, count)
        return self._with_times_delivered(claimed)

    def _acknowledge_trimmed(self, keys: ShardKeys, count: int) -> None:
        # Servers before 7.0 give a trimmed entry to the claimant without its id; later ones drop it themselves.
        pending = self.client.xpending_range(keys.feed, self.group, "-", "+", count, self.consumer)
        with self.client.pipeline(transaction=False) as pipeline:
            for entry in pending:
                pipeline.xrange(keys.feed, entry["message_id"], entry["message_id"])
            found = pipeline.execute()
        if gone := [entry["message_id"] for entry, entries in zip(pending, found, strict=True) if not entries]:
            self.client.xack(keys.feed, self.group, *gone)

    def _with_times_delivered(self, claimed: Sequence[Delivery]) -> list[Delivery]:
        if not claimed:
            return []
        by_shard = [(shard, list(of_shard)) for shard, of_shard in groupby(claimed, key=lambda entry: entry.shard)]
        with self.client.pipeline(transaction=False) as pipeline:
            for shard, of_shard in by_shard:
                first, last = of_shard[0].entry_id, of_shard[-1].entry_id
                # All entries between: this consumer may hold others there that it has not finished.
                width = of_shard[-1].sequence - of_shard[0].sequence + 1
                pipeline.xpending_range(self._keys[shard].feed, self.group, first, last, width, self.consumer)
            replies: list[Any] = pipeline.execute()
        counted = []
        for (_, of_shard), reply in zip(by_shard, replies, strict=True):
            times = {pending["message_id"].decode(): pending["times_delivered"] for pending in reply}
            counted += [entry._replace(times_delivered=times.get(entry.entry_id, 1)) for entry in of_shard]
        return counted

    def park(self, delivery: Delivery, reason: str) -> None:
        """Move ``delivery`` to the parked entries with the ``reason`` why it cannot be handled."""
        keys = self._keys[delivery.shard]
        with self.client.pipeline(transaction=True) as pipeline:
            pipeline.xadd(
                keys.parked,
                {
                    "group": self.group,
                    "sequence": delivery.sequence,
                    "stream": delivery.stream,
                    "version": delivery.version,
                    "reason": reason,
                },
            )
            pipeline.xack(keys.feed, self.group, delivery.entry_id)
            pipeline.execute()

    def parked(self) -> list[Parked]:
        """Return the parked entries of this group, shard by shard, oldest first."""
        with self.client.pipeline(transaction=False) as pipeline:
            for keys in self._keys:
                pipeline.xrange(keys.parked)
            replies: list[Any] = pipeline.execute()
        parked = [
            Parked(
                shard,
                fields[b"group"].decode(),
                int(fields[b"sequence"]),
                fields[b"stream"].decode(),
                int(fields[b"version"]),
                fields[b"reason"].decode(),
            )
            for shard, entries in enumerate(replies)
            for _, fields in entries
        ]
        return [entry for entry in parked if entry.group == self.group]

    def lag(self) -> list[Lag]:
        """Return for each shard how far the group is behind; the whole feed where it does not exist.

        ``undelivered`` is negative where the store has lost the end of the feed, so that the group is beyond it.
        """
        with self.client.pipeline(transaction=False) as pipeline:
            for keys in self._keys:
                # In this order: an entry that is appended and delivered in between must not look like a lost end.
                pipeline.xinfo_groups(keys.feed)
                pipeline.get(keys.sequence)
            replies: list[Any] = pipeline.execute(raise_on_error=False)
        lags = []
        for groups, sequence in zip(replies[::2], replies[1::2], strict=True):
            if isinstance(groups, ResponseError):
                if "no such key" not in str(groups):
                    raise translated(groups)
                groups = []
            own = [group for group in groups if group["name"] == self.group.encode()]
            # Entry ids are the sequence without gaps; the lag that XINFO itself reports came with 7.0.
            delivered = _sequence(own[0]["last-delivered-id"]) if own else 0
            lags.append(Lag(int(sequence or 0) - delivered, own[0]["pending"] if own else 0))
        return lags

    def drop_dead_consumers(self, idle_ms: int) -> int:
        """Delete consumers that have read nothing for ``idle_ms`` and hold no entries; return how many.

        One atomic step: a consumer that holds entries stays until they are claimed.
        """
        return sum(
            int(self._drop_idle(keys=[keys.feed], args=[self.group, self.consumer, idle_ms])) for keys in self._keys
        )


class FeedTail:
    """All shard feeds from now on, for a process that only watches: nothing is acknowledged.

    It remembers its position, so that reading again after an error misses nothing. ``lost_end`` is set when the last
    read found that the store has lost the end of a feed: events that were seen may no longer be part of any stream, and
    others may have been missed.
    """

    def __init__(self, client: StoreClient, prefix: str, shards: int) -> None:
        self.client = client
        self._keys = [ShardKeys(prefix, shard) for shard in range(shards)]
        self._shards = {keys.feed.encode(): shard for shard, keys in enumerate(self._keys)}
        self._positions = self._ends()
        self.lost_end = False

    def read(self, block_ms: int | None, count: int = 100) -> list[Delivery]:
        """Return up to ``count`` entries of each shard since the last read; wait up to ``block_ms`` for one."""
        feeds = {keys.feed: f"{after}-0" for keys, after in zip(self._keys, self._positions, strict=True)}
        found = self.client.xread(feeds, count=count, block=block_ms)
        deliveries = _deliveries(found, self._shards)
        for delivery in deliveries:
            self._positions[delivery.shard] = delivery.sequence
        self.lost_end = False
        if not deliveries:
            # A store that was restored from a backup is behind this position, and would stay silent.
            positions = [min(pair) for pair in zip(self._positions, self._ends(), strict=True)]
            self.lost_end, self._positions = positions != self._positions, positions
        return deliveries

    def _ends(self) -> list[int]:
        with self.client.pipeline(transaction=False) as pipeline:
            for keys in self._keys:
                pipeline.get(keys.sequence)
            return [int(sequence or 0) for sequence in pipeline.execute()]


def trim(client: StoreClient, prefix: str, shards: int) -> int:
    """Remove the feed entries that every group has acknowledged; return how many. A feed without groups stays whole.

    A group that is created later begins at the first entry left: read models are rebuilt from the streams.
    """
    removed = 0
    for shard in range(shards):
        feed = ShardKeys(prefix, shard).feed
        if not client.exists(feed):
            continue
        needed = []
        for group in client.xinfo_groups(feed):
            pending = client.xpending(feed, group["name"])
            oldest = pending["min"]
            needed.append(_sequence(oldest) if oldest else _sequence(group["last-delivered-id"]) + 1)
        if needed:
            removed += client.xtrim(feed, minid=f"{min(needed)}-0", approximate=True)
    return removed


def _deliveries(found: Iterable[tuple[bytes, list[Entry]]] | None, shards: Mapping[bytes, int]) -> list[Delivery]:
    # A blocking read that ends without entries is None, [] or {}, depending on protocol and client.
    return [_delivery(shards[feed], entry_id, fields) for feed, entries in found or () for entry_id, fields in entries]


def _delivery(shard: int, entry_id: bytes, fields: Mapping[bytes, bytes]) -> Delivery:
    return Delivery(shard, entry_id.decode(), *pointer_of(entry_id, fields))


def _sequence(entry_id: bytes) -> int:
    return int(entry_id.partition(b"-")[0])
