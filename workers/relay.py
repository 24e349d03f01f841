"""The relay: carries every event from the feeds of the shards to what follows from it.

Five lines run side by side, each a consumer group of its own, so that none waits for another: ``projections`` are
applied here, together with the acknowledgement in one transaction; for ``opponents`` and ``ratings`` one task per match
is enqueued, and acknowledged when it is; for ``clocks`` the match follows the diaries of its players, here; for
``administration`` what arbiters have done is logged, here, unless it is. A batch of events is taken match by match:
what follows depends on where a match stands now, not on how many events led there, nor on their order or number of
deliveries.
"""

import os
import secrets
import socket
import threading
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import count, groupby

import structlog
from kombu.exceptions import OperationalError
from redis.client import Pipeline

from domain.match.state import PLAYING, MatchState
from events.people.administration import Administration
from events.private.availability import RedisDiaries
from events.proof.checkpoint_log import CheckpointLog
from events.proof.keys import KeyRing
from events.readmodels import ReadModels
from events.readmodels.projector import Failures, Projector, projected_by
from events.readmodels.ratings import Ratings
from events.runtime import beats
from events.runtime.connections import blocking_client
from events.runtime.errors import StoreUnavailable
from events.runtime.liveness import RedisLiveness
from events.runtime.queues import Group
from events.runtime.settings import Settings, store_from
from events.runtime.wall_clock import now_ms
from events.service.guests import GuestRound
from events.service.jobs import Jobs
from events.service.matches import Matches, NoSuchMatch
from events.service.outages import RedisHeartbeat
from events.service.personal_data import holdings_on, keep_house
from events.service.timekeeper import Timekeeper
from events.store.contract import EventStore
from events.store.feed import Delivery, FeedGroup, trim
from events.store.redis import RedisStore
from workers.celery_app import OPPONENTS, make_app
from workers.fair_queue import FairQueue, lane_of
from workers.jobs import JobRound
from workers.lines import repeat, run_lines, until_available
from workers.opponents import debts_of
from workers.sweeper import Sweeper
from workers.tasks import ANSWER, CHECKPOINT, JOB, RATE
from workers.ticker import Ticker

BLOCK_MS = 1000
CLAIM_EVERY_MS = 2000
CLAIM_IDLE_MS = 5000
"""What was given to a relay so long ago and is not acknowledged is handled again, by it or by another one."""

DELIVERIES_BEFORE_PARKING = 5
SWEEP_EVERY_S = 3.0
SWEEPS_PER_TRIM = 20
DEAD_CONSUMER_MS = 3_600_000

log = structlog.get_logger("relay")

STARTED = "match-started"

Handle = Callable[[Sequence[Delivery]], Failures]


class Line:
    """One consumer group and what is done with its deliveries.

    ``handle`` acknowledges what it has done, returns the matches that cannot be handled, and raises one of UNAVAILABLE
    when it can do nothing at the moment: then it gets the same deliveries again later.
    """

    def __init__(self, group: FeedGroup, handle: Handle, now: Callable[[], int] = now_ms) -> None:
        self.group = group
        self.handled = 0
        self._handle = handle
        self._now = now
        self._ready = False
        self._claimed_at = 0

    def run(self, stop: threading.Event) -> None:
        """Work until ``stop`` is set. Whatever is unavailable is waited for, with growing delays."""

        def step() -> float:
            self.step(BLOCK_MS)
            return 0.0

        repeat(step, stop, self._begin_again, line=self.group.group)

    def _begin_again(self) -> None:
        self._ready = False

    def step(self, block_ms: int | None) -> int:
        """Handle what is there, waiting up to ``block_ms`` for it; return how many deliveries there were."""
        if not self._ready:
            self.group.ensure()
            self._ready = True
        # A clock that was set back must not keep it from claiming.
        if not 0 <= self._now() - self._claimed_at < CLAIM_EVERY_MS:
            if feeds := self.group.rewind():
                log.warning("the end of feeds is lost", line=self.group.group, feeds=feeds)
            claimed = self.group.claim(CLAIM_IDLE_MS)
            if claimed:
                log.info("claimed", line=self.group.group, deliveries=len(claimed))
                return self._take(claimed)
            self._claimed_at = self._now()
        return self._take(self.group.read(block_ms))

    def _take(self, deliveries: Sequence[Delivery]) -> int:
        if not deliveries:
            return 0
        failures = self._handle(deliveries)
        for match, error in failures.items():
            log.error("a match cannot be handled", line=self.group.group, match=match, error=str(error))
        for delivery in deliveries:
            failure = failures.get(delivery.stream)
            if failure is not None and delivery.times_delivered > DELIVERIES_BEFORE_PARKING:
                self.group.park(delivery, f"{type(failure).__name__}: {failure}")
                log.error("parked", line=self.group.group, match=delivery.stream, version=delivery.version)
        self.handled += len(deliveries)
        return len(deliveries)


def projecting(group: FeedGroup, projector: Projector) -> Handle:
    """Return what applies deliveries to the read models, shard by shard, each with its acknowledgement."""

    def handle(deliveries: Sequence[Delivery]) -> Failures:
        failed: dict[str, Exception] = {}
        for _, found in groupby(sorted(deliveries), key=lambda delivery: delivery.shard):
            of_shard = list(found)

            def acknowledge(pipeline: Pipeline, failures: Failures, done: Sequence[Delivery] = of_shard) -> None:
                group.acknowledge(pipeline, [delivery for delivery in done if delivery.stream not in failures])

            failed |= projector.project(list(_matches(of_shard)), acknowledge)
        return failed

    return handle


def asking(group: FeedGroup, matches: Matches, due: Callable[[MatchState], bool], ask: Callable[[str], None]) -> Handle:
    """Return what calls ``ask`` for every match of the deliveries in whose state something is ``due``."""

    def attend(match: str, _: set[int]) -> None:
        if due(matches.load(match).state):
            ask(match)

    return _match_by_match(group, attend)


def keeping_time(
    group: FeedGroup, store: EventStore, matches: Matches, timekeeper: Timekeeper, now: Callable[[], int]
) -> Handle:
    """Return what lets the matches of the deliveries follow the diaries of their players, from their start on.

    Whatever begins to be played, for the first time or again, is there in time: a diary may have changed before.
    """

    def attend(match: str, versions: set[int]) -> None:
        state = matches.load(match).state
        if state.status != PLAYING or state.clock is None:
            return
        # Preferences count at the start only: what a player says in a match afterwards is not overruled.
        started = () if state.moves else (each.version for each in store.read(match) if each.type == STARTED)
        if versions.isdisjoint(started):
            timekeeper.update(match, now())
        else:
            timekeeper.begin(match, now())

    return _match_by_match(group, attend)


def logging_acts(group: FeedGroup, store: EventStore, administration: Administration) -> Handle:
    """Return what logs the arbiters' acts among the deliveries that are not in the log of administration yet."""

    def attend(match: str, versions: set[int]) -> None:
        first, last = min(versions), max(versions)
        for event in store.read(match, first - 1, last - first + 1):
            administration.record_event(event)

    return _match_by_match(group, attend)


def _match_by_match(group: FeedGroup, attend: Callable[[str, set[int]], None]) -> Handle:
    """Return what attends to each match of the deliveries, given the versions that were delivered of it."""

    def handle(deliveries: Sequence[Delivery]) -> Failures:
        failures: dict[str, Exception] = {}
        versions: dict[str, set[int]] = {}
        for delivery in deliveries:
            versions.setdefault(delivery.stream, set()).add(delivery.version)
        for match in versions:
            beats.beat()
            try:
                attend(match, versions[match])
            except (StoreUnavailable, OperationalError, OSError):
                raise
            except NoSuchMatch:
                # A failover took it away, and what was due with it.
                continue
            except Exception as error:
                failures[match] = error
        with group.client.pipeline(transaction=False) as pipeline:
            group.acknowledge(pipeline, [delivery for delivery in deliveries if delivery.stream not in failures])
            pipeline.execute()
        return failures

    return handle


class Relay:
    """The relay of an installation, with its ticker and sweeper. Any number may run; they share the work."""

    def __init__(self, settings: Settings, virtual: Callable[[], int] | None = None) -> None:
        """Describe a relay; nothing connects yet.

        ``virtual`` is a clock (milliseconds since 1970 UTC) in place of the wall clock, which the store judges.
        """
        self._settings = settings
        self._now = virtual or now_ms
        self._judged = None if virtual else now_ms
        self._name = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(2)}"
        self._app = make_app(settings)

    def run(self, stop: threading.Event) -> None:
        """Work until ``stop`` is set, then end within about a second.

        Raises WrongInstallation, and LineDied when one of its lines has ended by itself: all the others are stopped
        then, so that the process can end and be started again.
        """
        store = store_from(self._settings, self._judged)
        matches = Matches(store, self._now)
        if not until_available(stop, lambda: store.shards):
            return
        readmodels = ReadModels(store.client, self._settings.prefix, store.shards)
        ask_answer = partial(self.ask_answer, matches, FairQueue(store.client, self._settings.prefix))
        projector = Projector(store.client, readmodels.keys, projected_by(matches))
        ratings = Ratings(store.client, readmodels.keys)
        diaries = RedisDiaries(store.client, self._settings.prefix)
        heartbeat = RedisHeartbeat(store.client, self._settings.prefix, store.clock, f"relay {self._name}")
        timekeeper = Timekeeper(matches, diaries, heartbeat, readmodels.active)
        ticker = Ticker(store, readmodels, timekeeper, diaries, heartbeat, self._now)
        holdings = holdings_on(store, readmodels, matches, self._now)
        sweeper = Sweeper(
            store,
            readmodels,
            projector,
            ratings,
            timekeeper,
            ask_answer,
            self.ask_rating,
            CheckpointLog(store, KeyRing(store.client, self._settings.prefix, self._now, self._settings.key_file)),
            self.ask_checkpoint,
            self._now,
            self._name,
            [
                partial(keep_house, holdings),
                GuestRound(holdings, self._now),
                JobRound(Jobs(store.client, self._settings.prefix, self._now), self.ask_job, self._now),
            ],
        )
        projections, opponents, rates, clocks, acts = (self._group(name, store.shards) for name in Group)
        administration = Administration(store.client, self._settings.prefix, self._now)
        lines = [
            Line(projections, projecting(projections, projector)),
            Line(opponents, asking(opponents, matches, lambda state: bool(debts_of(state)), ask_answer)),
            Line(rates, asking(rates, matches, ratings.owed, self.ask_rating)),
            Line(clocks, keeping_time(clocks, store, matches, timekeeper, self._now)),
            Line(acts, logging_acts(acts, store, administration)),
        ]
        # All groups exist before the feed is trimmed for the first time: what one has not seen stays.
        for line in lines:
            if not until_available(stop, line.group.ensure):
                return
        works: dict[str, Callable[[threading.Event], None]] = {line.group.group: line.run for line in lines}
        works["ticker"] = ticker.run
        works["sweeper"] = lambda stop: self._look_after(stop, sweeper, lines, store)
        log.info("runs", name=self._name, shards=store.shards)
        run_lines(works, stop, RedisLiveness(store.client, self._settings.prefix))
        log.info("stops", name=self._name)

    def ask_answer(self, matches: Matches, waiting: FairQueue, match: str) -> None:
        """Let a match wait for the opponent that owes it an answer, if one does, and tell the workers that one waits.

        Raises what ``Matches.load`` raises, redis errors, and OperationalError when the broker is away: to ask again is
        always right.
        """
        state = matches.load(match).state
        for debt in debts_of(state)[:1]:
            lane = lane_of(debt.level)
            waiting.add(match, state.creator, debt.level)
            self._app.send_task(ANSWER, (lane,), queue=OPPONENTS[lane].name_in_broker(self._settings.prefix))

    def ask_rating(self, match: str) -> None:
        """Enqueue the task that puts a match into the ratings; raises OperationalError when the broker is away."""
        self._app.send_task(RATE, (match,))

    def ask_checkpoint(self) -> None:
        """Enqueue the task that signs the day's checkpoint; raises OperationalError when the broker is away."""
        self._app.send_task(CHECKPOINT)

    def ask_job(self, match: str) -> None:
        """Enqueue the task that does the job of a match; raises OperationalError when the broker is away."""
        self._app.send_task(JOB, (match,))

    def _group(self, name: str, shards: int) -> FeedGroup:
        client = blocking_client(self._settings.redis_url, BLOCK_MS)
        return FeedGroup(client, self._settings.prefix, shards, name, self._name)

    def _look_after(self, stop: threading.Event, sweeper: Sweeper, lines: Sequence[Line], store: RedisStore) -> None:
        """Sweep and trim now and then until ``stop`` is set."""
        sweeps = count(1)

        def sweep() -> float:
            # Before the sweep: one that fails every time must not keep the feeds from being trimmed.
            if next(sweeps) % SWEEPS_PER_TRIM == 0:
                trimmed = trim(store.client, self._settings.prefix, store.shards)
                for line in lines:
                    line.group.drop_dead_consumers(DEAD_CONSUMER_MS)
                    waiting = sum(lag.undelivered + lag.pending for lag in line.group.lag())
                    log.info("works", line=line.group.group, handled=line.handled, waiting=waiting, trimmed=trimmed)
                beats.beat()
            sweeper.sweep()
            return SWEEP_EVERY_S

        if not beats.wait(stop, SWEEP_EVERY_S):
            repeat(sweep, stop, lambda: None, line="sweeper")


def _matches(deliveries: Iterable[Delivery]) -> Iterable[str]:
    return dict.fromkeys(delivery.stream for delivery in deliveries)
