"""The consumers of the feed: one for each consumer group, with its handler of deliveries.

A batch is taken match by match: the effects depend on the present state of a match.
"""

import threading
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

import structlog

from events.matches.readmodels.projector import Failures, Projector
from events.runtime.connections import StorePipeline
from events.runtime.origin import Origin, following
from events.store.feed import Delivery, FeedGroup, FeedState
from events.store.redis import RedisStore
from events.store.wake_ups import Woken
from workers.threads import repeat

BLOCK_S = 5.0
"""A consumer that nothing wakes beats this often; it is woken where it is to stop."""

MAX_ENTRIES = 100
CLAIM_INTERVAL_MS = 2000
MIN_CLAIM_IDLE_MS = 5000
"""Deliveries that a relay was given so long ago and has not acknowledged are handled again, by it or by another one."""

MAX_DELIVERIES = 5

log = structlog.get_logger("relay")

Handle = Callable[[Sequence[Delivery]], Failures]


class ObservedShards(NamedTuple):
    """The result of a look at shards: their states, and whether pending entries are claimed however new they are."""

    states: Mapping[int, FeedState]
    claims_all: bool = False


NOTHING = ObservedShards({})


class Consumer:
    """One consumer of a consumer group. ``woken`` are the shards that it reads next, ``now`` is its clock.

    ``handle`` acknowledges the entries it has handled, returns the matches that cannot be handled, and raises a
    transient error to get the same deliveries later.
    """

    def __init__(self, group: FeedGroup, handle: Handle, now: Callable[[], int]) -> None:
        self.group = group
        self.handled = 0
        self._handle = handle
        self._now = now
        self.woken = Woken()
        self._waits = False
        self._handed: deque[list[Delivery]] = deque()
        self._ready = False
        self._claimed_at = 0
        self._observed = NOTHING

    def run(self, stop: threading.Event) -> None:
        """Handle deliveries until ``stop`` is set, waiting with growing delays for whatever is unavailable."""

        def step() -> float:
            self._waits = True
            shards = self.woken.take(BLOCK_S)
            self._waits = False
            self.step(shards, self._take_handed())
            return 0.0

        repeat(step, stop, self.start_over, line=self.group.group)

    def hears_of(self, shard: int) -> bool:
        """Let the consumer read ``shard`` next; False when it waits: then ``hand_over``. For another thread."""
        if self._waits:
            return False
        self.woken.add((shard,))
        return True

    def hand_over(self, shard: int, deliveries: list[Delivery]) -> None:
        """Let the consumer handle the deliveries that were read of ``shard`` for it; for another thread."""
        if len(deliveries) == MAX_ENTRIES:
            self.woken.add((shard,))
        if deliveries:
            self._waits = False  # it reads the next ones itself, so that nothing piles up here
            self._handed.append(deliveries)
            self.woken.wake()

    def start_over(self) -> None:
        """Let the consumer read the deliveries that it has not acknowledged; for any thread."""
        self._ready = False

    def _take_handed(self) -> list[Delivery]:
        handed: list[Delivery] = []
        while self._handed:
            handed += self._handed.popleft()
        return handed

    def look_after(self, states: Mapping[int, FeedState], is_one_gone: bool = False) -> None:
        """Let the consumer look after the shards in ``states``; for another thread.

        It reads undelivered entries, and claims those that have been pending for too long, all when a relay is gone.
        """
        self._observed = ObservedShards(states, is_one_gone or self._observed.claims_all)
        lags = {shard: state.lag(self.group.group) for shard, state in states.items()}
        self.woken.add(shard for shard, lag in lags.items() if lag.undelivered)
        if any(lag.pending for lag in lags.values()):
            self.woken.wake()

    def step(self, shards: Collection[int] | None = None, handed: Sequence[Delivery] = ()) -> int:
        """Handle the entries in ``shards`` (None: all of this share) and ``handed`` over; return the deliveries."""
        try:
            if left := self._left_over(shards is None):
                self.woken.add(shards or ())
                return self._take([*left, *handed])
            return self._take([*handed, *self._read(shards)])
        except Exception:
            # Deliveries handed over are pending: they are read again when the consumer starts over.
            self.woken.add(shards or ())  # an error of no single match: its entries are still to be read
            raise

    def _left_over(self, looks: bool) -> list[Delivery]:
        """Return the deliveries to this consumer or to others that are not acknowledged."""
        if not self._ready:
            self.group.ensure()
            self._ready = True
            if given := self.group.read_again():
                return given
        # A clock that was set back must not stop the claiming.
        if looks and not 0 <= self._now() - self._claimed_at < CLAIM_INTERVAL_MS:
            self._observed = ObservedShards(self.group.states())
        observed, self._observed = self._observed, NOTHING
        claimed = self._claim(observed) if observed.states else []
        if looks and observed.states and not claimed:
            self._claimed_at = self._now()
        return claimed

    def _claim(self, observed: ObservedShards) -> list[Delivery]:
        if feeds := self.group.rewind(observed.states):
            log.warning("the end of feeds is lost", line=self.group.group, feeds=feeds)
        held = [shard for shard, state in observed.states.items() if state.lag(self.group.group).pending]
        claimed = self.group.claim(0 if observed.claims_all else MIN_CLAIM_IDLE_MS, held)
        if claimed:
            log.info("claimed", line=self.group.group, deliveries=len(claimed))
        return claimed

    def _read(self, shards: Collection[int] | None) -> list[Delivery]:
        deliveries = self.group.read(shards, MAX_ENTRIES) if shards or shards is None else []
        # A shard that gave as many as it may can have more.
        counts = Counter(delivery.shard for delivery in deliveries)
        self.woken.add(shard for shard, count in counts.items() if count == MAX_ENTRIES)
        return deliveries

    def _take(self, deliveries: Sequence[Delivery]) -> int:
        if not deliveries:
            return 0
        failures = self._handle(deliveries)
        self.handled += len(deliveries)
        if failures:
            self._report(deliveries, failures)
        return len(deliveries)

    def _report(self, deliveries: Sequence[Delivery], failures: Failures) -> None:
        requests = {delivery.stream: Origin.parse(delivery.origin).request for delivery in deliveries}
        for match_id, error in failures.items():
            log.error(
                "a match cannot be handled",
                line=self.group.group,
                match=match_id,
                request=requests.get(match_id, ""),
                error=str(error),
            )
        for delivery in deliveries:
            failure = failures.get(delivery.stream)
            if failure is not None and delivery.times_delivered > MAX_DELIVERIES:
                self.group.park(delivery, f"{type(failure).__name__}: {failure}")
                log.error("parked", line=self.group.group, match=delivery.stream, version=delivery.version)


def project_deliveries(group: FeedGroup, projector: Projector) -> Handle:
    """Return a handler that updates the read models, shard by shard, in one transaction with the acknowledgement."""

    def handle(deliveries: Sequence[Delivery]) -> Failures:
        failed: dict[str, Exception] = {}
        for _, of_one in groupby(sorted(deliveries), key=lambda delivery: delivery.shard):
            of_shard = list(of_one)

            def acknowledge(pipeline: StorePipeline, failures: Failures, done: Sequence[Delivery] = of_shard) -> None:
                group.acknowledge(pipeline, [delivery for delivery in done if delivery.stream not in failures])

            versions = _versions(of_shard)
            with following((delivery.origin for delivery in of_shard), f"relay {group.group}"):
                failed |= projector.project(list(versions), versions, acknowledge)
        return failed

    return handle


def once_copied(store: RedisStore, handle: Handle) -> Handle:
    """Return ``handle`` so that it begins when replicas have the events: for effects outside their shards."""

    def handle_copied(deliveries: Sequence[Delivery]) -> Failures:
        store.await_copies(sorted({delivery.shard for delivery in deliveries}))
        return handle(deliveries)

    return handle_copied


def _versions(deliveries: Iterable[Delivery]) -> dict[str, int]:
    versions: dict[str, int] = {}
    for delivery in deliveries:
        versions[delivery.stream] = max(delivery.version, versions.get(delivery.stream, 0))
    return versions
