"""The consumers of the feed: one for each consumer group, with what it does about the events that are delivered to it.

A batch of deliveries is taken match by match: what follows depends on where a match stands now, not on how many events
led there, nor on their order or number of deliveries.
"""

import threading
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby

import structlog

from domain.match import due
from domain.match.state import MatchState
from events.people.administration import Administration
from events.readmodels.projector import Failures, Projector
from events.runtime import beats
from events.runtime.connections import StorePipeline
from events.runtime.wall_clock import now_ms
from events.service.matches import Matches, UnknownMatchError
from events.service.timekeeper import Timekeeper
from events.store.contract import EventStore
from events.store.feed import Delivery, FeedGroup
from workers.threads import TRANSIENT, repeat

BLOCK_MS = 1000
CLAIM_INTERVAL_MS = 2000
MIN_CLAIM_IDLE_MS = 5000
"""Deliveries that a relay was given so long ago and has not acknowledged are handled again, by it or by another one."""

MAX_DELIVERIES = 5
"""A delivery that fails more often than this is parked."""

log = structlog.get_logger("relay")

STARTED = "match-started"

Handle = Callable[[Sequence[Delivery]], Failures]


class Consumer:
    """One consumer of a consumer group.

    ``handle`` acknowledges what it has done, returns the matches that cannot be handled, and raises a transient error
    when it can do nothing at the moment: the same deliveries are given to it again later.
    """

    def __init__(self, group: FeedGroup, handle: Handle, now: Callable[[], int] = now_ms) -> None:
        self.group = group
        self.handled = 0
        self._handle = handle
        self._now = now
        self._ready = False
        self._claimed_at = 0

    def run(self, stop: threading.Event) -> None:
        """Handle deliveries until ``stop`` is set, waiting with growing delays for whatever is unavailable."""

        def step() -> float:
            self.step(BLOCK_MS)
            return 0.0

        repeat(step, stop, self._start_over, line=self.group.group)

    def step(self, block_ms: int | None) -> int:
        """Handle what is there, waiting up to ``block_ms`` for it; return the number of deliveries."""
        if not self._ready:
            self.group.ensure()
            self._ready = True
        # A clock that was set back must not stop the claiming.
        if not 0 <= self._now() - self._claimed_at < CLAIM_INTERVAL_MS:
            if feeds := self.group.rewind():
                log.warning("the end of feeds is lost", line=self.group.group, feeds=feeds)
            claimed = self.group.claim(MIN_CLAIM_IDLE_MS)
            if claimed:
                log.info("claimed", line=self.group.group, deliveries=len(claimed))
                return self._take(claimed)
            self._claimed_at = self._now()
        return self._take(self.group.read(block_ms))

    def _start_over(self) -> None:
        self._ready = False

    def _take(self, deliveries: Sequence[Delivery]) -> int:
        if not deliveries:
            return 0
        failures = self._handle(deliveries)
        for match_id, error in failures.items():
            log.error("a match cannot be handled", line=self.group.group, match=match_id, error=str(error))
        for delivery in deliveries:
            failure = failures.get(delivery.stream)
            if failure is not None and delivery.times_delivered > MAX_DELIVERIES:
                self.group.park(delivery, f"{type(failure).__name__}: {failure}")
                log.error("parked", line=self.group.group, match=delivery.stream, version=delivery.version)
        self.handled += len(deliveries)
        return len(deliveries)


def project_deliveries(group: FeedGroup, projector: Projector) -> Handle:
    """Return a handler that updates the read models, shard by shard, in one transaction with the acknowledgement."""

    def handle(deliveries: Sequence[Delivery]) -> Failures:
        failed: dict[str, Exception] = {}
        for _, found in groupby(sorted(deliveries), key=lambda delivery: delivery.shard):
            of_shard = list(found)

            def acknowledge(pipeline: StorePipeline, failures: Failures, done: Sequence[Delivery] = of_shard) -> None:
                group.acknowledge(pipeline, [delivery for delivery in done if delivery.stream not in failures])

            versions = _versions(of_shard)
            failed |= projector.project(list(versions), versions, acknowledge)
        return failed

    return handle


def enqueue_when_due(
    group: FeedGroup, matches: Matches, is_due: Callable[[MatchState], bool], enqueue: Callable[[str], None]
) -> Handle:
    """Return a handler that calls ``enqueue`` for every match in whose state something ``is_due``."""

    def handle(match_id: str, versions: set[int]) -> None:
        if is_due(matches.load_at_least(match_id, max(versions)).state):
            enqueue(match_id)

    return match_by_match(group, handle)


def sync_clocks(
    group: FeedGroup, store: EventStore, matches: Matches, timekeeper: Timekeeper, now: Callable[[], int]
) -> Handle:
    """Return a handler that brings the clocks of matches into line with the availability of their players.

    Every match that starts, for the first time or again, gets here in time: availability may have changed before.
    """

    def has_started(match_id: str, versions: set[int]) -> bool:
        delivered = store.read(match_id, min(versions) - 1, max(versions) - min(versions) + 1)
        return any(event.type == STARTED and event.version in versions for event in delivered)

    def handle(match_id: str, versions: set[int]) -> None:
        loaded = matches.load_at_least(match_id, max(versions))
        if loaded.state.clock is None or not due.is_playing(loaded.state):
            return
        # Preferences count at the start only: what a player says in the match later is not overruled.
        if not loaded.state.play.moves and has_started(match_id, versions):
            timekeeper.start(match_id, now())
        else:
            timekeeper.sync(match_id, now(), loaded)

    return match_by_match(group, handle)


def log_acts(group: FeedGroup, store: EventStore, administration: Administration) -> Handle:
    """Return a handler that adds the acts of arbiters to the log of administration, unless they are in it already."""

    def handle(match_id: str, versions: set[int]) -> None:
        first, last = min(versions), max(versions)
        for event in store.read(match_id, first - 1, last - first + 1):
            administration.record_event(event)

    return match_by_match(group, handle)


def match_by_match(group: FeedGroup, handle_match: Callable[[str, set[int]], None]) -> Handle:
    """Return a handler that calls ``handle_match`` with every match and the versions that were delivered of it."""

    def handle(deliveries: Sequence[Delivery]) -> Failures:
        failures: dict[str, Exception] = {}
        versions: dict[str, set[int]] = {}
        for delivery in deliveries:
            versions.setdefault(delivery.stream, set()).add(delivery.version)
        for match_id in versions:
            beats.beat()
            try:
                handle_match(match_id, versions[match_id])
            except TRANSIENT:
                raise
            except UnknownMatchError:
                # A failover has lost the match, and with it what was due.
                continue
            except Exception as error:
                failures[match_id] = error
        with group.client.pipeline(transaction=False) as pipeline:
            group.acknowledge(pipeline, [delivery for delivery in deliveries if delivery.stream not in failures])
            pipeline.execute()
        return failures

    return handle


def _versions(deliveries: Iterable[Delivery]) -> dict[str, int]:
    """Return the latest version that was delivered of each match."""
    versions: dict[str, int] = {}
    for delivery in deliveries:
        versions[delivery.stream] = max(delivery.version, versions.get(delivery.stream, 0))
    return versions
