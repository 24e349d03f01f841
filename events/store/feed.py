"""The shard feeds as workers read them: consumer groups, parking of unreadable entries, trimming, the live tail.

No command covers several shards, which may be on several servers. An entry is a pointer: a consumer reads from its own
checkpoint on, and may rely neither on order nor on the number of deliveries.
"""

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from redis.exceptions import RedisError

from events.runtime.connections import Entry, StoreClient, StorePipeline, translated
from events.runtime.errors import StoreError
from events.runtime.keys import ShardKeys
from events.runtime.scripts import load_script, script_source
from events.store.contract import DamagedStreamError, Pointer
from events.store.envelope import Envelope, unpack
from events.store.wake_ups import POLL_S, WakeUps, Woken


def pointer_of(entry_id: bytes, fields: Mapping[bytes, bytes]) -> Pointer:
    """Return a feed entry as a pointer."""
    return Pointer(int(entry_id.partition(b"-")[0]), fields[b"m"].decode(), int(fields[b"v"]))


def entry_of(reply: list[Any]) -> Entry:
    """Return a stream entry from the reply of a script, in the form in which a command returns it."""
    entry_id, fields = reply
    return entry_id, dict(zip(fields[::2], fields[1::2], strict=True))


def envelopes_of(stream: str, after: int, entries: Iterable[Entry]) -> list[Envelope]:
    """Return ``entries`` of a stream as events, from version ``after`` + 1 on; raises DamagedStreamError."""
    envelopes = []
    for version, (entry_id, fields) in enumerate(entries, after + 1):
        if entry_id != b"%d-0" % version:
            raise DamagedStreamError(stream, version, f"the entry is missing, {entry_id.decode()} is in its place")
        try:
            envelopes.append(unpack(fields[b"b"], stream, version, fields[b"h"]))
        except (ValueError, KeyError) as error:
            raise DamagedStreamError(stream, version, f"the entry cannot be read ({error})") from error
    return envelopes


ACKNOWLEDGE = script_source(__package__, "acknowledge")
MAX_CLAIMED = 100
"""Entries of a shard that are taken over, or given again, at a time."""


class Delivery(NamedTuple):
    """A feed entry as it reaches a consumer, for the ``times_delivered``-th time, with its origin."""

    shard: int
    entry_id: str
    sequence: int
    stream: str
    version: int
    times_delivered: int = 1
    origin: str = ""


class Lag(NamedTuple):
    """Entries not delivered, and delivered but not acknowledged; negative where the store has lost entries."""

    undelivered: int
    pending: int


class FeedState(NamedTuple):
    """How many events a shard has had, and by group the last one that was delivered and how many are pending."""

    sequence: int
    groups: Mapping[str, tuple[int, int]]

    def lag(self, group: str) -> Lag:
        """Return how far ``group`` is behind; by the whole feed if it does not exist."""
        delivered, pending = self.groups.get(group, (0, 0))
        return Lag(self.sequence - delivered, pending)


def feed_states(client: StoreClient, prefix: str, shards: Iterable[int]) -> dict[int, FeedState]:
    """Return the states of the feeds of ``shards``: two commands for each, whatever the number of groups."""
    looked_at = list(shards)
    with client.pipeline(transaction=False) as pipeline:
        for keys in (ShardKeys(prefix, shard) for shard in looked_at):
            # In this order: an entry that is appended and delivered in between must not look like a lost end.
            pipeline.xinfo_groups(keys.feed)
            pipeline.get(keys.sequence)
        replies: list[Any] = pipeline.execute(raise_on_error=False) if looked_at else []
    states = {}
    for shard, group_list, sequence in zip(looked_at, replies[::2], replies[1::2], strict=True):
        for reply in (group_list, sequence):
            if isinstance(reply, RedisError) and "no such key" not in str(reply):
                raise translated(reply)
        # Entry ids are the sequence without gaps; the lag that XINFO itself reports came with 7.0.
        groups = {
            group["name"].decode(): (_sequence(group["last-delivered-id"]), group["pending"])
            for group in ([] if isinstance(group_list, RedisError) else group_list)
        }
        states[shard] = FeedState(int(sequence or 0), groups)
    return states


class FeedGroup:
    """One ``consumer``, a stable name, of a consumer group on all shard feeds; ``shards`` None means all of them."""

    def __init__(self, client: StoreClient, prefix: str, shards: int, group: str, consumer: str) -> None:
        self.client = client
        self.group = group
        self.consumer = consumer
        self._prefix = prefix
        self._keys = [ShardKeys(prefix, shard) for shard in range(shards)]
        self._drop_idle = load_script(client, __package__, "drop_idle_consumers")
        self._read_groups = load_script(client, __package__, "read_groups")

    def ensure(self) -> None:
        """Create the group on every shard where it does not exist, from the first entry on."""
        with self.client.pipeline(transaction=False) as pipeline:
            for keys in self._keys:
                pipeline.xgroup_create(keys.feed, self.group, id="0", mkstream=True)
            replies: list[Any] = pipeline.execute(raise_on_error=False)
        for reply in replies:
            if isinstance(reply, RedisError) and "BUSYGROUP" not in str(reply):
                raise translated(reply)

    def states(self) -> dict[int, FeedState]:
        """Return the states of all feeds (``feed_states``)."""
        return feed_states(self.client, self._prefix, range(len(self._keys)))

    def rewind(self, states: Mapping[int, FeedState] | None = None) -> int:
        """Restart the group at the first entry of every feed that ends before its position; return how many.

        After the store has lost the end of a feed; handling is idempotent. ``states`` None: those of now.
        """
        states = self.states() if states is None else states
        beyond = [shard for shard, state in states.items() if state.lag(self.group).undelivered < 0]
        for shard in beyond:
            self.client.xgroup_setid(self._keys[shard].feed, self.group, "0")
        return len(beyond)

    def read(self, shards: Iterable[int] | None = None, count: int = 100) -> list[Delivery]:
        """Return up to ``count`` new entries of each of ``shards``, oldest first, without waiting for any."""
        return self._read(shards, ">", count)

    def read_again(self) -> list[Delivery]:
        """Return up to MAX_CLAIMED entries of each shard that this consumer was given and has not acknowledged."""
        return self._with_times_delivered(self._read(None, "0", MAX_CLAIMED))

    def _read(self, shards: Iterable[int] | None, after: str, count: int) -> list[Delivery]:
        asked = range(len(self._keys)) if shards is None else sorted(shards)
        if not asked:
            return []
        with self.client.pipeline(transaction=False) as pipeline:
            for shard in asked:
                pipeline.xreadgroup(self.group, self.consumer, {self._keys[shard].feed: after}, count=count)
            replies: list[Any] = pipeline.execute()
        return [delivery for shard, reply in zip(asked, replies, strict=True) for delivery in _deliveries(shard, reply)]

    def acknowledge(self, pipeline: StorePipeline, deliveries: Iterable[Delivery]) -> None:
        """Queue the acknowledgement of ``deliveries``, but for those that are another event by now."""
        for shard, of_shard in groupby(sorted(deliveries), key=lambda delivery: delivery.shard):
            entries = [part for delivery in of_shard for part in (delivery.entry_id, delivery.stream, delivery.version)]
            pipeline.eval(ACKNOWLEDGE, 1, self._keys[shard].feed, self.group, *entries)

    def claim(self, min_idle_ms: int, shards: Collection[int] | None = None) -> list[Delivery]:
        """Take over up to MAX_CLAIMED entries of each shard that were pending for ``min_idle_ms`` and not trimmed."""
        asked = range(len(self._keys)) if shards is None else sorted(shards)
        if not asked:
            return []
        with self.client.pipeline(transaction=False) as pipeline:
            for shard in asked:
                feed = self._keys[shard].feed
                pipeline.xautoclaim(feed, self.group, self.consumer, min_idle_ms, "0-0", count=MAX_CLAIMED)
            replies: list[Any] = pipeline.execute()
        claimed = []
        for shard, reply in zip(asked, replies, strict=True):
            claimed += [_delivery(shard, entry_id, fields) for entry_id, fields in reply[1] if fields]
            if not all(fields for _, fields in reply[1]):
                self._acknowledge_trimmed(self._keys[shard])
        return self._with_times_delivered(claimed)

    def _acknowledge_trimmed(self, keys: ShardKeys) -> None:
        # Servers before 7.0 give a trimmed entry to the claimant without its id; later ones drop it themselves.
        pending = self.client.xpending_range(keys.feed, self.group, "-", "+", MAX_CLAIMED, self.consumer)
        with self.client.pipeline(transaction=False) as pipeline:
            for entry in pending:
                pipeline.xrange(keys.feed, entry["message_id"], entry["message_id"])
            replies = pipeline.execute()
        if gone := [entry["message_id"] for entry, entries in zip(pending, replies, strict=True) if not entries]:
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

    def drop_dead_consumers(self, idle_ms: int, shards: Iterable[int] | None = None) -> int:
        """Delete consumers that have read nothing for ``idle_ms`` and hold no entries; return how many."""
        asked = range(len(self._keys)) if shards is None else shards
        return sum(
            int(self._drop_idle(keys=[self._keys[shard].feed], args=[self.group, self.consumer, idle_ms]))
            for shard in asked
        )


def read_for(groups: Sequence[FeedGroup], shard: int, count: int = 100) -> list[list[Delivery] | None]:
    """Return up to ``count`` new entries of a shard for each of ``groups`` of one consumer, None where unreadable.

    One script for all: single commands cost the caller twice as much. A lost reply leaves them pending.
    """
    if not groups:
        return []
    first = groups[0]
    replies = first._read_groups(
        [first._keys[shard].feed], [first.consumer, count, *(reader.group for reader in groups)]
    )
    reads: list[list[Delivery] | None] = []
    before, read = None, list[Delivery]()
    for reply in replies:
        if reply is not None and reply != before:  # groups that keep up with each other are given the same
            before, read = reply, [_delivery(shard, *entry_of(entry)) for entry in reply]
        reads.append(None if reply is None else read)
    return reads


class FeedTail:
    """All shard feeds from now on, for a process that only watches. For one thread.

    Reading again after an error misses nothing; ``lost_end`` is set when the store has lost the end of a feed.
    """

    def __init__(self, client: StoreClient, prefix: str, shards: int) -> None:
        self.client = client
        self._keys = [ShardKeys(prefix, shard) for shard in range(shards)]
        self._woken = Woken()
        self._wake_ups = WakeUps(client, prefix, shards)
        self._wake_ups.add_reader(lambda shard: self._woken.add((shard,)))
        self._positions = self._ends()
        self._look_at = 0.0
        self.lost_end = False

    def read(self, block_ms: int | None, count: int = 100) -> list[Delivery]:
        """Return up to ``count`` new entries of each shard; wait up to ``block_ms`` for one (None: do not)."""
        self.lost_end = False
        deadline = time.monotonic() + (block_ms or 0) / 1000
        while True:
            now = time.monotonic()
            if block_ms is None or now >= self._look_at:
                shards = self._look(follows=block_ms is not None)
            else:
                shards = self._woken.take(max(0.0, min(self._look_at, deadline) - now))
            deliveries = self._read(shards, count)
            if deliveries or self.lost_end or time.monotonic() >= deadline:
                return deliveries

    def _look(self, follows: bool) -> set[int]:
        ends = self._ends()
        if follows:
            self._wake_ups.follow(range(len(ends)))
            self._wake_ups.confirm(dict(enumerate(ends)))
        # A store that was restored from a backup is behind this position, and would stay silent.
        self.lost_end = any(end < position for end, position in zip(ends, self._positions, strict=True))
        self._positions = [min(pair) for pair in zip(ends, self._positions, strict=True)]
        self._look_at = time.monotonic() + POLL_S
        return {shard for shard, end in enumerate(ends) if end > self._positions[shard]}

    def _read(self, shards: Collection[int], count: int) -> list[Delivery]:
        if not shards:
            return []
        try:
            with self.client.pipeline(transaction=False) as pipeline:
                for shard in shards:
                    pipeline.xrange(self._keys[shard].feed, f"{self._positions[shard] + 1}-0", "+", count)
                replies: list[list[Entry]] = pipeline.execute()
        except StoreError:
            self._woken.add(shards)
            raise
        deliveries = []
        for shard, entries in zip(shards, replies, strict=True):
            deliveries += [_delivery(shard, *entry) for entry in entries]
            if entries:
                self._positions[shard] = _sequence(entries[-1][0])
            if len(entries) == count:
                self._woken.add((shard,))
        return deliveries

    def close(self) -> None:
        """End the subscription to wake-ups."""
        self._wake_ups.close()

    def _ends(self) -> list[int]:
        with self.client.pipeline(transaction=False) as pipeline:
            for keys in self._keys:
                pipeline.get(keys.sequence)
            return [int(sequence or 0) for sequence in pipeline.execute()]


def trim(client: StoreClient, prefix: str, shards: Iterable[int]) -> int:
    """Remove the entries that every group has acknowledged; return how many. A feed without groups stays whole."""
    removed = 0
    for shard, state in feed_states(client, prefix, shards).items():
        feed, needed = ShardKeys(prefix, shard).feed, []
        for group, (delivered, pending) in state.groups.items():
            oldest = client.xpending(feed, group)["min"] if pending else None
            needed.append(_sequence(oldest) if oldest else delivered + 1)
        if needed:
            removed += client.xtrim(feed, minid=f"{min(needed)}-0", approximate=True)
    return removed


def _deliveries(shard: int, entries_by_stream: Iterable[tuple[bytes, list[Entry]]] | None) -> list[Delivery]:
    # A read without entries is None, [] or {}, depending on protocol and client.
    # Entries trimmed meanwhile have no fields.
    return [
        _delivery(shard, entry_id, fields)
        for _, entries in entries_by_stream or ()
        for entry_id, fields in entries
        if fields
    ]


def _delivery(shard: int, entry_id: bytes, fields: Mapping[bytes, bytes]) -> Delivery:
    origin = fields.get(b"o", b"").decode()
    return Delivery(shard, entry_id.decode(), *pointer_of(entry_id, fields), origin=origin)


def _sequence(entry_id: bytes) -> int:
    return int(entry_id.partition(b"-")[0])
