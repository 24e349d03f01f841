"""Health checks and metrics for operators."""

import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping

from flask import Flask, Response, g, request
from prometheus_client import CollectorRegistry, Counter, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from api.http.answers import instant, json_response
from api.http.problems import problem_of
from api.services import Services, services
from domain.match.state import opponent_id
from domain.search import LEVELS
from events.runtime.errors import StoreCommandError, StoreError
from events.runtime.queues import Group
from events.runtime.wall_clock import rfc3339
from events.store.contract import WrongInstallationError, describe_offset
from events.store.feed import FeedGroup
from events.store.time import MAX_CLOCK_DIFFERENCE_MS

MAX_INCIDENTS = 5
LATE_MS = 5000
"""A deadline that passed this long ago should have been handled."""

LATE_NOTICE_MS = 60_000
"""What was to be sent this long ago should have been taken by a worker."""

MAX_SILENCE_S = 15.0
"""A consumer of the relays without progress for this long hangs, or is not running."""

MAX_ANSWER_MS = 30_000
"""An opponent that has not answered for this long is late."""

MAX_COUNTED = 1000
"""More overdue deadlines of a shard are as alarming."""

REQUESTS = Counter(
    "rookery_requests", "Answered requests", ["method", "endpoint", "status"], registry=CollectorRegistry()
)
PROBLEMS = Counter("rookery_problems", "Refused requests by kind", ["code"], registry=CollectorRegistry())


def register(app: Flask) -> None:
    """Add /healthz, /readyz and /metrics to ``app`` and count its requests."""
    app.add_url_rule("/healthz", "healthz", healthz)
    app.add_url_rule("/readyz", "readyz", readyz)
    app.add_url_rule("/metrics", "metrics", metrics)
    app.after_request(_count)


def healthz() -> Response:
    """Answer that the process is up."""
    return json_response({"status": "up"})


def readyz() -> Response:
    """Answer whether the process can work: its store responds and was installed as this process expects.

    It cannot while its own clock is wrong. It can while no process keeps the clocks of matches: ``clocks_kept_at`` is
    when one last did. ``impaired`` names the parts of the installation that do not work, each with the reason,
    ``provisional_outages`` the outages that an operator has yet to confirm (``rookery clocks``), and ``incidents`` what
    the installation has lost recently.
    """
    try:
        store, heartbeat = services().store, services().heartbeat
        installation = store.installation()
        if store.clock is not None:
            store.clock.refuse(store.clock.offset_ms())
        kept_at, provisional = instant(heartbeat.last_beat()), heartbeat.provisional()
        incidents = services().incidents.all()
        impaired = _impaired(services().liveness.ages_s()) | _wrong_clocks(heartbeat.offsets())
    except WrongInstallationError as error:
        return json_response({"status": "wrong-installation", "detail": str(error)}, 503)
    except StoreError as error:
        problem = problem_of(error)
        answer = {"status": problem.code, "detail": problem.detail, "impaired": _impaired_programs()}
        return json_response(answer, 503, problem.headers)
    return json_response(
        {
            "status": "ready",
            "installation": installation.id,
            "shards": installation.shards,
            "clocks_kept_at": kept_at,
            "impaired": impaired,
            "provisional_outages": [
                {"since": rfc3339(outage.since), "until": rfc3339(outage.until)} for outage in provisional
            ],
            "incidents": [
                {"at": instant(incident.at), "words": incident.words} for incident in incidents[-MAX_INCIDENTS:]
            ],
        }
    )


def _impaired(ages_s: Mapping[str, float]) -> dict[str, str]:
    silent = [f"{consumer} for {age:.0f} s" for consumer, age in ages_s.items() if age > MAX_SILENCE_S]
    impaired = {"relay": f"no progress: {', '.join(silent)}"} if silent else {}
    return impaired | _impaired_programs()


def _impaired_programs() -> dict[str, str]:
    """Return what the supervisor reports about its programs, if there is one."""
    path = services().settings.impairments_file
    if path is None:
        return {}
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        return {"supervisor": f"its report cannot be read: {error}"}


def _wrong_clocks(offsets_ms: Mapping[str, int]) -> dict[str, str]:
    return {
        name: f"keeps no time: its clock is {describe_offset(offset)} the store's"
        for name, offset in offsets_ms.items()
        if abs(offset) > MAX_CLOCK_DIFFERENCE_MS
    }


def metrics() -> Response:
    """Counters of the requests, the store's latency, how far the feed's consumers and the clocks are behind.

    With PROMETHEUS_MULTIPROC_DIR set the counters are those of all processes, else of the one that answers.
    """
    registry = CollectorRegistry()
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    else:
        registry.register(REQUESTS)
        registry.register(PROBLEMS)
    registry.register(_StoreCollector(services()))
    return Response(generate_latest(registry), content_type=CONTENT_TYPE_PLAIN_0_0_4)


class _StoreCollector(Collector):
    """Reads the store when Prometheus asks: nothing is measured while a move is made."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def collect(self) -> Iterable[Metric]:
        """Return the metrics of the store; only that it is down when it does not answer."""
        up = GaugeMetricFamily("rookery_store_up", "Whether the store answers")
        began = time.perf_counter()
        try:
            self._services.store.client.ping()
            latency = time.perf_counter() - began
            metrics = [
                _gauge("rookery_store_latency_seconds", "One round trip to the store", latency),
                *self._metrics(),
            ]
            up.add_metric([], 1)
        except StoreError:
            metrics = []
            up.add_metric([], 0)
        return [up, *metrics]

    def _metrics(self) -> Iterator[Metric]:
        services, store, heartbeat = self._services, self._services.store, self._services.heartbeat
        now, last_beat = services.now(), heartbeat.last_beat()
        lags = {group.value: lag for group in Group if (lag := self._lag(group)) is not None}
        yield _gauges("rookery_feed_lag", "Feed entries a group has not finished", "group", lags)
        age = None if last_beat is None else max(0, now - last_beat) / 1000
        yield _gauge("rookery_heartbeat_age_seconds", "Since the clocks were last kept", age)
        overdue = len(store.due(now - LATE_MS, MAX_COUNTED))
        yield _gauge("rookery_overdue_deadlines", "Deadlines that have passed and are not handled yet", overdue)
        ages = services.liveness.ages_s()
        yield _gauges(
            "rookery_relay_line_age_seconds", "Since a consumer of the relays last made progress", "line", ages
        )
        waiting = [f"awaiting:{opponent_id(level)}" for level in LEVELS]
        late = len(services.readmodels.listed_between(waiting, 0, now - MAX_ANSWER_MS))
        yield _gauge("rookery_late_opponents", "Matches that wait for an opponent longer than they should", late)
        offsets = {} if store.clock is None else {"this": store.clock.offset_ms() / 1000}
        offsets |= {part: offset / 1000 for part, offset in heartbeat.offsets().items()}
        yield _gauges(
            "rookery_clock_offset_seconds", "How far a process's clock is ahead of the store's", "part", offsets
        )
        unsent = services.outbox.count_due(now - LATE_NOTICE_MS)
        yield _gauge("rookery_late_notices", "Mails, webhooks and push messages that should have been sent", unsent)
        unread = services.inbox.count_due(now - LATE_NOTICE_MS)
        yield _gauge("rookery_unread_mails", "Incoming mails that should have been read", unread)
        provisional = len(heartbeat.provisional())
        yield _gauge("rookery_provisional_outages", "Outages that an operator has yet to confirm", provisional)

    def _lag(self, group: str) -> int | None:
        store = self._services.store
        consumer = FeedGroup(store.client, store.prefix, store.shards, group, "metrics")
        try:
            return sum(lag.undelivered + lag.pending for lag in consumer.lag())
        except (StoreCommandError, ValueError):
            return None  # no relay has made this group yet


def _gauge(name: str, description: str, value: float | None) -> Metric:
    """Return a gauge, without a value for None."""
    gauge = GaugeMetricFamily(name, description)
    if value is not None:
        gauge.add_metric([], value)
    return gauge


def _gauges(name: str, description: str, label: str, values: Mapping[str, float]) -> Metric:
    """Return a gauge with a value for each value of ``label``."""
    gauge = GaugeMetricFamily(name, description, labels=[label])
    for key, value in values.items():
        gauge.add_metric([key], value)
    return gauge


def _count(response: Response) -> Response:
    REQUESTS.labels(request.method, request.endpoint or "none", response.status_code).inc()
    if "problem" in g:
        PROBLEMS.labels(g.problem).inc()
    return response
