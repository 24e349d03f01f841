"""The relay: carries every event from the feeds of the shards to its effects.

Three consumers, each with its group, so that none waits for another: ``projections`` updates read models with the
acknowledgement; ``tasks`` enqueues tasks of opponents and ratings, and waits for the broker; ``effects`` follows
availability, logs acts of arbiters and decides about notices. Ticker, sweeper and rounds run beside them.
"""

import os
import secrets
import socket
import threading
from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from pathlib import Path

import structlog

from events.installation import Installation
from events.operations.personal_data import continue_erasures, expire_guests
from events.runtime import beats
from events.runtime.queues import ConsumerGroup
from events.runtime.settings import Settings
from events.store.feed import FeedGroup, feed_states, trim
from events.store.high_water_mark import HighWaterMark
from events.store.redis import RedisStore
from workers import consumers
from workers.archiving import ArchiveRound, LeavesRound
from workers.composition import (
    make_followers,
    make_hint_rounds,
    make_observer,
    make_sweeper,
    make_task_queue,
    make_ticker,
)
from workers.consumers import Consumer
from workers.contests import follow_contest, matches_only, record_occasions, with_contests
from workers.effects import DeliveryReader, enqueue_when_due, log_acts, match_by_match, sync_clocks
from workers.feed_watch import FEED, FeedWatch
from workers.notices.contests import ContestObserver
from workers.notices.decide import MatchObserver, NoticeRounds
from workers.opponents import debts_of
from workers.shares import FIRST_SHARD, Share, Shares, has_shard
from workers.sweeper import Sweeper
from workers.task_queue import TaskQueue
from workers.threads import Work, repeat, run_threads, wait_until_available

MARK_INTERVAL_S = 1.0
SWEEP_INTERVAL_S = 6.0
SWEEPS_PER_TRIM = 10
MAX_CONSUMER_IDLE_MS = 3_600_000

log = structlog.get_logger("relay")


class MarkKeeper:
    """Keeps the mark of ``store`` in the file ``path`` while ``share`` has FIRST_SHARD."""

    def __init__(self, store: RedisStore, path: Path, share: Share = lambda: None) -> None:
        self._mark = HighWaterMark(store, path, log.warning)
        self._share = share
        self._is_keeping = False

    def run(self, stop: threading.Event) -> None:
        """Work until ``stop`` is set."""
        repeat(self.step, stop, lambda: None, line="mark")

    def step(self) -> float:
        """Compare the store with the mark and bring that up to the store; return when to do so again, in seconds."""
        if not has_shard(self._share, FIRST_SHARD):
            self._is_keeping = False
            return MARK_INTERVAL_S
        if not self._is_keeping:
            self._mark.load()
            self._is_keeping = True
        missing = self._mark.step()
        if missing is not None:
            log.error("acknowledged events are lost", summary=missing.summary(), lost=missing.lines())
        return MARK_INTERVAL_S


class Relay:
    """The relay of an installation, with its ticker and sweeper. Any number may run; they divide the shards."""

    def __init__(self, settings: Settings, now: Callable[[], int] | None = None) -> None:
        """Describe a relay; nothing connects yet. ``now`` is a clock in place of the wall clock (``Installation``)."""
        self._name = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(2)}"
        self._installation = Installation(settings, now, name=f"relay {self._name}")

    def run(self, stop: threading.Event) -> None:
        """Work until ``stop`` is set, then end within about a second.

        Raises WrongInstallationError, and ThreadDiedError when a thread has ended by itself.
        """
        installation, store = self._installation, self._installation.store
        if not wait_until_available(stop, lambda: store.shards):
            return
        tasks = make_task_queue(installation)
        woken = threading.Event()
        observer = make_observer(installation, woken.set)
        running = self._consumers(tasks, observer)
        # All groups exist before the feed is trimmed for the first time: entries that a group has not seen stay.
        for consumer in running:
            if not wait_until_available(stop, consumer.group.ensure):
                return
        rounds: list[Callable[[], object]] = [
            partial(continue_erasures, installation),
            lambda: expire_guests(installation, installation.now()),
            installation.fleet_jobs.advance_running,
            installation.tournaments.start_waiting,
        ]
        if installation.settings.archive_url is not None:
            rounds.append(ArchiveRound(installation.archiver, store.all_live_streams, installation.now))
            rounds.append(LeavesRound(installation.checkpoints))
        shares = Shares(installation.liveness, self._name, store.shards)
        sweeper = make_sweeper(installation, tasks, shares.own, rounds)
        notice_rounds = NoticeRounds(store, installation.checks, installation.now, observer, shares.own)
        hints = make_hint_rounds(installation, tasks, woken, shares.own)
        works: dict[str, Work] = {consumer.group.group: consumer.run for consumer in running}
        works["ticker"] = make_ticker(installation, shares.own).run
        works["notice-rounds"] = notice_rounds.run
        works["hints"] = hints.run
        works["sweeper"] = lambda stop: self._sweep_and_trim(stop, sweeper, running, shares)
        if installation.settings.mark_file is not None:
            works["mark"] = MarkKeeper(store, installation.settings.mark_file, shares.own).run
        watch = FeedWatch(store, shares, running, [*works, FEED])
        works[FEED] = watch.run
        if not wait_until_available(stop, watch.step):
            return
        log.info("runs", name=self._name, shards=store.shards)
        if store.topology.cannot_move_slots:
            log.warning(store.topology.cannot_move_slots)
        if costs := store.copies.costs():
            log.warning(costs)
        run_threads(works, stop)
        log.info("stops", name=self._name)

    def _consumers(self, tasks: TaskQueue, observer: MatchObserver) -> list[Consumer]:
        parts = self._installation
        followers = make_followers(parts)
        enqueued = (
            enqueue_when_due(debts_of, tasks.request_answer),
            enqueue_when_due(parts.ratings.owed, tasks.request_rating),
        )
        followed = (
            sync_clocks(parts.timekeeper, parts.now),
            log_acts(parts.administration, parts.flag_lateness, parts.now),
            observer.look_at_match,
            record_occasions(followers),
        )
        read = DeliveryReader(parts.store, parts.matches, parts.availability).read
        projections = self._group(ConsumerGroup.PROJECTIONS)
        project = matches_only(projections, consumers.project_deliveries(projections, parts.projector))
        running = [Consumer(projections, project, parts.now)]
        look = ContestObserver(parts.seeks.contests, parts.tournaments.contests, observer.decider).look_at_contest
        follow = follow_contest(followers, look)
        for name, effects, contests in (
            (ConsumerGroup.TASKS, enqueued, None),
            (ConsumerGroup.EFFECTS, followed, follow),
        ):
            group = self._group(name)
            handle = match_by_match(group, read, effects)
            handle = with_contests(group, handle, contests) if contests else matches_only(group, handle)
            running.append(Consumer(group, consumers.once_copied(parts.store, handle), parts.now))
        return running

    def _group(self, name: ConsumerGroup) -> FeedGroup:
        store = self._installation.store
        return FeedGroup(store.client, store.prefix, store.shards, name, self._name)

    def _sweep_and_trim(
        self, stop: threading.Event, sweeper: Sweeper, running: Sequence[Consumer], shares: Shares
    ) -> None:
        sweeps, store = count(1), self._installation.store

        def sweep() -> float:
            # Before the sweep: one that fails every time must not keep the feeds from being trimmed.
            if next(sweeps) % SWEEPS_PER_TRIM == 0:
                own = shares.own()
                trimmed = trim(store.client, store.prefix, own)
                states = feed_states(store.client, store.prefix, own).values()
                for consumer in running:
                    consumer.group.drop_dead_consumers(MAX_CONSUMER_IDLE_MS, own)
                    waiting = sum(sum(state.lag(consumer.group.group)) for state in states)
                    log.info(
                        "works", line=consumer.group.group, handled=consumer.handled, waiting=waiting, trimmed=trimmed
                    )
                beats.beat()
            sweeper.sweep()
            return SWEEP_INTERVAL_S

        if not beats.wait(stop, SWEEP_INTERVAL_S):
            repeat(sweep, stop, lambda: None, line="sweeper")
