"""The feed watch of a relay: renews its share of the shards, and tells its consumers where there is something to read.

All consumers share one subscription to wake-ups and one look every POLL_S.
"""

import threading
import time
from collections.abc import Collection, Sequence

import structlog

from events.runtime import beats
from events.runtime.errors import StoreError
from events.store.feed import feed_states, read_for
from events.store.redis import RedisStore
from events.store.wake_ups import POLL_S, WakeUps
from workers.consumers import MAX_ENTRIES, Consumer
from workers.shares import Shares
from workers.threads import repeat

FEED = "feed"

log = structlog.get_logger("relay")


class FeedWatch:
    """Watches the feeds of the shards in ``shares`` for ``consumers``; ``lines`` are the relay's lines of work."""

    def __init__(
        self, store: RedisStore, shares: Shares, consumers: Sequence[Consumer], lines: Collection[str]
    ) -> None:
        self._store = store
        self._shares = shares
        self._consumers = consumers
        self._lines = lines
        self._own: frozenset[int] = frozenset()
        self._wake_ups = WakeUps(store.client, store.prefix, store.shards)
        self._wake_ups.add_reader(self._read)

    def run(self, stop: threading.Event) -> None:
        """Watch until ``stop`` is set; then give the share up, so that another relay has it at once."""

        def step() -> float:
            self.step()
            return POLL_S

        repeat(step, stop, lambda: None, line=FEED)
        for consumer in self._consumers:
            consumer.woken.wake()
        self._wake_ups.close()
        try:
            self._shares.leave()
        except StoreError as error:
            log.warning("cannot give up its share", error=str(error))

    def step(self) -> None:
        """Renew the share, subscribe to its shards, look at their feeds."""
        now, progress = time.monotonic(), beats.progress()
        is_one_gone = self._shares.renew({line: now - progress.get(line, now) for line in self._lines})
        own = self._shares.own()
        if own != self._own:
            log.info("has shards", own=sorted(own))
            self._own = own
        self._wake_ups.follow(own)
        states = feed_states(self._store.client, self._store.prefix, own)
        self._wake_ups.confirm({shard: state.sequence for shard, state in states.items()})
        for consumer in self._consumers:
            consumer.look_after(states, is_one_gone)

    def _read(self, shard: int) -> None:
        """Read a shard for consumers that wait. Crash-safe: entries that are not handed over are pending."""
        waiting = [consumer for consumer in self._consumers if not consumer.hears_of(shard)]
        try:
            batches = read_for([consumer.group for consumer in waiting], shard, MAX_ENTRIES)
        except StoreError:
            batches = [None] * len(waiting)
        for consumer, deliveries in zip(waiting, batches, strict=True):
            if deliveries is None:  # it meets the error itself, if that is still there
                consumer.start_over()
                consumer.woken.add((shard,))
            else:
                consumer.hand_over(shard, deliveries)
