"""The figures of an installation for operators (``/metrics``), read from store and broker, kept for MAX_AGE_S.

The work does not grow with the number of matches.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, product
from threading import Lock
from typing import Any

from kombu.connection import Connection
from kombu.exceptions import ChannelError

from domain.match.enums import Status
from domain.match.state import opponent_id
from domain.match.terms import DAY
from domain.search import LEVELS
from domain.search.budgets import thinks_long
from events.matches.fleet_jobs import FleetJobs, JobState
from events.matches.jobs import Jobs
from events.matches.outages import Heartbeat
from events.matches.readmodels import ReadModels
from events.matches.readmodels.generations import Current
from events.notify.inbox import Inbox
from events.notify.outbox import Outbox
from events.proof.checkpoint_log import CheckpointLog, NoCheckpointError
from events.proof.documents import DocumentError
from events.proof.transparency.witnesses import Witnesses
from events.runtime.connections import StoreClient, StorePipeline
from events.runtime.keys import ShardKeys, TimeKeys
from events.runtime.liveness import RedisLiveness, working_relays
from events.runtime.metric import Labels, Metric, MetricKind, gauge, gauges
from events.runtime.queues import ConsumerGroup, Queue
from events.runtime.settings import MASTER_NAME
from events.store.envelope import Envelope
from events.store.feed import feed_states
from events.store.incidents import Incidents
from events.store.redis import RedisStore
from events.store.servers import oldest_unfinished, server_figures

FLAG_FELL = "flag-fell"
BOUNDS_MS = (100, 250, 500, 1000, 2500, 5000, 10_000, 30_000, 60_000, 300_000, 3_600_000)
REMEMBERED_MS = 3_600_000
"""A flag seen later than that is seen again, after a store has lost the end of a feed, or for the first time."""

_LATER, _SUM = "later", "sum"


class FlagLateness:
    """The lateness of the flags of an installation."""

    def __init__(self, client: StoreClient, prefix: str) -> None:
        self._client = client
        self._key = TimeKeys(prefix).flag_lateness

    def record(self, event: Envelope, now: int) -> None:
        """Count ``event`` if it is a flag that has fallen by itself; twice, at worst, after a kill."""
        if event.type != FLAG_FELL or event.data.get("claimed_by") is not None or now - event.at > REMEMBERED_MS:
            return
        late_ms = max(0, event.at - int(event.data["deadline"]))
        bound = next((str(bound) for bound in BOUNDS_MS if late_ms <= bound), _LATER)
        with self._client.pipeline(transaction=True) as pipeline:
            pipeline.hincrby(self._key, bound, 1)
            pipeline.hincrby(self._key, _SUM, late_ms)
            pipeline.execute()

    def figure(self) -> Metric:
        """Return the histogram, in seconds."""
        return _histogram({name.decode(): int(count) for name, count in self._client.hgetall(self._key).items()})


def _histogram(counts: Mapping[str, int]) -> Metric:
    below = accumulate(counts.get(str(bound), 0) for bound in BOUNDS_MS)
    values: dict[Labels, float] = {
        (f"{bound / 1000:g}",): float(count) for bound, count in zip(BOUNDS_MS, below, strict=True)
    }
    values["+Inf",] = float(sum(count for name, count in counts.items() if name != _SUM))
    values["",] = counts.get(_SUM, 0) / 1000
    description = "By how much flags fell after the time was up"
    return Metric("rookery_flag_lateness_seconds", description, values, ("le",), MetricKind.HISTOGRAM)


TIMEOUT_S = 1.0
"""For each step of asking: a broker that is away must not hold up its caller."""


NOT_FOUND = "404"
_ONE_MORE_ATTEMPT = {"max_retries": 1, "interval_start": 0, "interval_step": 0}
"""To connect: by itself kombu waits for two seconds between attempts."""


class BrokerUnavailableError(Exception):
    """The broker does not name the tasks in its queues; the message has no address, which may hold a password."""


def queue_depths(broker_url: str, names: Iterable[str]) -> dict[str, int]:
    """Return how many tasks wait in queues, 0 in one that does not exist; raises BrokerUnavailableError."""
    url, _, master_name = broker_url.partition(f"?{MASTER_NAME}=")
    options: dict[str, Any] = {"socket_timeout": TIMEOUT_S, "socket_connect_timeout": TIMEOUT_S, **_ONE_MORE_ATTEMPT}
    if master_name:
        options[MASTER_NAME] = master_name
    try:
        made: Any = Connection(url, connect_timeout=TIMEOUT_S, transport_options=options)  # type: ignore[no-untyped-call]
        with made as connection:
            return dict(_depths(connection, names))
    except Exception as error:  # each transport has errors of its own
        raise BrokerUnavailableError(f"the broker does not answer: {type(error).__name__}") from error


def _depths(connection: Any, names: Iterable[str]) -> Iterator[tuple[str, int]]:
    channel = connection.default_channel
    for name in names:
        try:
            yield name, int(channel.queue_declare(queue=name, passive=True).message_count)
        except ChannelError as error:
            if str(error.reply_code) != NOT_FOUND:
                raise
            yield name, 0
            if not getattr(channel, "is_open", True):  # AMQP closes a channel that has named an unknown queue
                channel = connection.channel()


MAX_AGE_S = 3.0
"""A figure is as old as that at most."""

ASK_BROKER_AGAIN_S = 15.0
"""After a broker has not answered it is not asked for so long."""

LATE_MS = 5000
"""A deadline that passed this long ago should have been handled."""

LATE_NOTICE_MS = 60_000
"""A dispatch that was due this long ago should have been taken by a worker."""

MAX_ANSWER_MS = 30_000
"""An opponent that has not answered for this long is late."""

MATCHES_LOOKED_AT = 200
"""Live matches, those that began first and of the rated ones those that ended first, to find overdue archiving."""

ARCHIVING_DAYS = 2
"""Matches that fill no pack are archived once a day; one that is late by more than this should be in the archive."""

MAX_COUNTED = 1000
"""More overdue deadlines are as alarming."""


Reader = Callable[[int], Iterable[Metric]]
"""Reads some of the figures at an instant, milliseconds since 1970 UTC."""


class Figures:
    """The figures of one installation, as its ``readers`` read them."""

    def __init__(self, readers: Sequence[Reader], now: Callable[[], int]) -> None:
        self._readers = readers
        self._now = now
        self._lock = Lock()
        self._read_at = float("-inf")
        self._figures: list[Metric] = []

    def read(self) -> list[Metric]:
        """Return all figures, older than MAX_AGE_S only while they are being read; raises StoreError."""
        # One thread reads at a time; others are given its last figures, and wait for it only the first time.
        if self._lock.acquire(blocking=not self._figures):
            try:
                if time.monotonic() - self._read_at > MAX_AGE_S:
                    now = self._now()
                    self._figures = [figure for read in self._readers for figure in read(now)]
                    self._read_at = time.monotonic()
            finally:
                self._lock.release()
        return self._figures


def store_figures(store: RedisStore, _: int) -> Iterator[Metric]:
    """Yield how long a round trip takes, and the figures of the servers of the store."""
    began = time.perf_counter()
    store.client.ping()
    latency = time.perf_counter() - began
    yield gauge("rookery_store_latency_seconds", "One round trip to the store", latency)
    yield from server_figures(store.client)


def feed_figures(store: RedisStore, liveness: RedisLiveness, now: int) -> Iterator[Metric]:
    """Yield how far consumer groups are behind the feed, and which relays live."""
    states = feed_states(store.client, store.prefix, range(store.shards))
    existing = [group.value for group in ConsumerGroup if any(group in state.groups for state in states.values())]
    lags = {group: float(sum(sum(state.lag(group)) for state in states.values())) for group in existing}
    yield gauges("rookery_feed_lag", "Feed entries a group has not finished", "group", lags)
    oldest = oldest_unfinished(store.client, store.prefix, states, existing)
    ages = {group: 0.0 if at is None else max(0, now - at) / 1000 for group, at in oldest.items()}
    yield gauges("rookery_feed_age_seconds", "Age of the oldest event a group has not finished", "group", ages)
    with store.client.pipeline(transaction=False) as pipeline:
        for shard in range(store.shards):
            pipeline.xlen(ShardKeys(store.prefix, shard).parked)
        parked = sum(pipeline.execute())
    yield gauge("rookery_parked_entries", "Feed entries that a group could not handle and has put aside", parked)
    reports = liveness.reports()
    yield gauge("rookery_relays", "Relays that live and share the work", len(working_relays(reports)))
    lines = liveness.ages_s()
    yield gauges("rookery_relay_line_age_seconds", "Since a line of the relays last made progress", "line", lines)


def clock_figures(store: RedisStore, heartbeat: Heartbeat, flag_lateness: FlagLateness, now: int) -> Iterator[Metric]:
    """Yield whether the clocks of matches are kept, and are right."""
    last_beat = heartbeat.last_beat()
    age = None if last_beat is None else max(0, now - last_beat) / 1000
    yield gauge("rookery_heartbeat_age_seconds", "Since the clocks were last kept", age)
    overdue = len(store.due(now - LATE_MS, MAX_COUNTED))
    yield gauge("rookery_overdue_deadlines", "Deadlines that have passed and are not handled yet", overdue)
    yield flag_lateness.figure()
    offsets = {} if store.clock is None else {"this": store.clock.offset_ms() / 1000}
    offsets |= {part: offset / 1000 for part, offset in heartbeat.offsets().items()}
    description = "How far a process's clock is ahead of the store's"
    yield gauges("rookery_clock_offset_seconds", description, "part", offsets)
    provisional = len(heartbeat.provisional())
    yield gauge("rookery_provisional_outages", "Outages that an operator has yet to confirm", provisional)


def opponent_figures(readmodels: ReadModels, now: int) -> Iterator[Metric]:
    """Yield how long matches wait for opponents, those aside that think for long."""
    names = [f"awaiting:{opponent_id(level)}" for level in LEVELS if not thinks_long(level)]
    lists = list(product(names, range(readmodels.keys.shards)))

    def longest(pipeline: StorePipeline, current: Current) -> None:
        for name, shard in lists:
            pipeline.zrange(readmodels.keys.listed(shard, name, current[shard]), 0, 0, withscores=True)

    since = [int(first[0][1]) if first else now for first in readmodels.read(longest)]
    oldest = min(since)
    yield gauge("rookery_opponent_wait_seconds", "The oldest unanswered turn of an opponent", (now - oldest) / 1000)
    overdue = [of for of, at in zip(lists, since, strict=True) if at <= now - MAX_ANSWER_MS]

    def count(pipeline: StorePipeline, current: Current) -> None:
        for name, shard in overdue:
            pipeline.zcount(readmodels.keys.listed(shard, name, current[shard]), 0, now - MAX_ANSWER_MS)

    late = sum(readmodels.read(count)) if overdue else 0
    yield gauge("rookery_late_opponents", "Matches that wait for an opponent longer than they should", late)


def notice_figures(outbox: Outbox, inbox: Inbox, now: int) -> Iterator[Metric]:
    """Yield the messages that wait to be sent and read, and the outcomes of those sent."""
    late = outbox.work.count(now - LATE_NOTICE_MS).total()
    yield gauge("rookery_late_notices", "Mails, webhooks and push messages that should have been sent", late)
    waiting = {channel: float(count) for channel, count in outbox.waiting().items()}
    yield gauges("rookery_notices_waiting", "Mails, webhooks and push messages to be sent", "channel", waiting)
    outcomes: dict[Labels, float] = {key: float(count) for key, count in outbox.outcomes().items()}
    description = "Mails, webhooks and push messages that were sent, not sent, or given up"
    yield Metric("rookery_notices_total", description, outcomes, ("channel", "state"), MetricKind.COUNTER)
    unread = inbox.work.count(now - LATE_NOTICE_MS).total()
    yield gauge("rookery_unread_mails", "Incoming mails that should have been read", unread)


class BrokerFigures:
    """Reads how many tasks wait in the queues of the broker at ``url``, of the installation with ``prefix``."""

    def __init__(self, url: str, prefix: str) -> None:
        self._url = url
        self._prefix = prefix
        self._ask_again_at = float("-inf")

    def __call__(self, _: int) -> Iterator[Metric]:
        """Yield whether the broker answers, and the tasks that wait in it."""
        names, waiting = {queue.value: queue.name_in_broker(self._prefix) for queue in Queue}, None
        # To ask a broker that is away takes seconds.
        if time.monotonic() >= self._ask_again_at:
            try:
                waiting = queue_depths(self._url, list(names.values()))
            except BrokerUnavailableError:
                self._ask_again_at = time.monotonic() + ASK_BROKER_AGAIN_S
        yield gauge("rookery_broker_up", "Whether the broker says what waits in its queues", waiting is not None)
        depths = {} if waiting is None else {queue: float(waiting[name]) for queue, name in names.items()}
        yield gauges("rookery_queue_depth", "Tasks that no worker has taken yet", "queue", depths)


def record_figures(
    checkpoints: CheckpointLog, witnesses: Witnesses, jobs: Jobs, incidents: Incidents, now: int
) -> Iterator[Metric]:
    """Yield the records of checkpoints and their witnesses, of long work and of lost events."""
    try:
        latest = checkpoints.latest()
    except (DocumentError, NoCheckpointError):
        latest = None
    age = None if latest is None else max(0, now - latest.signed_at) / 1000
    yield gauge("rookery_checkpoint_age_seconds", "Since the last checkpoint was signed", age)
    asked = witnesses.all()
    failures = {witness.key.name: float(witness.failures) for witness in asked}
    yield gauges("rookery_witness_failures", "Requests in a row that a witness has not met", "witness", failures)
    contradicting = sum(witness.contradicts for witness in asked)
    yield gauge(
        "rookery_witnesses_contradicting", "Witnesses that have cosigned what the log does not have", contradicting
    )
    yield gauge("rookery_jobs_waiting", "Bundles, recomputations and archives to be made", jobs.work.count().total())
    yield gauge("rookery_incidents", "Incidents in which events were lost", incidents.count())


def archive_figures(store: RedisStore, readmodels: ReadModels, after_days: int, now: int) -> Iterator[Metric]:
    """Yield how many finished matches should be in the archive, to which they go ``after_days``."""
    until, of_shard = now - (after_days + ARCHIVING_DAYS) * DAY, max(1, MATCHES_LOOKED_AT // store.shards)

    def first(pipeline: StorePipeline, current: Current) -> None:
        # Matches that began first may all go on for years.
        for shard in range(store.shards):
            pipeline.lrange(ShardKeys(store.prefix, shard).streams, 0, of_shard - 1)
            rated = readmodels.keys.listed(shard, "rated", current[shard])
            pipeline.zrangebyscore(rated, "-inf", until, start=0, num=of_shard)

    named = dict.fromkeys(name.decode(errors="replace") for names in readmodels.read(first) for name in names)
    summaries = readmodels.live_projected(list(named)) if named else []
    over = [
        projection.summary
        for projection in summaries
        if projection and projection.summary.status in (Status.FINISHED, Status.ABORTED)
    ]
    late = sum(summary.updated_at <= until and not summary.case for summary in over)
    description = "Matches that should be in the archive, of those that began first and those that ended first"
    yield gauge("rookery_archive_backlog", description, late)


def fleet_figures(fleet: FleetJobs, _: int) -> Iterator[Metric]:
    """Yield how far the jobs of the fleet are."""
    jobs = fleet.jobs()
    running = [job for job in jobs if job.state == JobState.RUNNING]
    units, done = Counter[str](), Counter[str]()
    for job in running:
        units[job.kind] += job.units
        done[job.kind] += job.units_done
    yield gauges("rookery_fleet_units", "Matches or games of the fleet jobs that run", "kind", units)
    yield gauges("rookery_fleet_units_done", "Those of them that are done", "kind", done)
    failed = sum(job.state == JobState.FAILED for job in jobs)
    yield gauge("rookery_fleet_jobs_failed", "Fleet jobs that have failed in the last three days", failed)
    yield gauge("rookery_fleet_workers", "Workers of the fleet that run", fleet.count_workers())
