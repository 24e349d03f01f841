"""What operators ask: is the process up, can it work, and how is it doing."""

import json
import os
import time
from collections.abc import Iterable, Mapping

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

INCIDENTS_TOLD = 5
LATE_MS = 5000
"""A deadline that came so long ago should have been dealt with."""

MAX_LINE_SILENCE_S = 15.0
"""A line of the relays that has made no progress for this long hangs, or is not running."""

MAX_ANSWER_MS = 30_000
"""An opponent that has kept a match waiting for this long is late."""

MOST_COUNTED = 1000
"""More are as alarming."""

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
    """The process is up."""
    return json_response({"status": "up"})


def readyz() -> Response:
    """The process can work: its store answers and was installed as this process expects.

    It cannot while its own clock is wrong. It can while the clocks of matches are not kept; that, too, is said, as the
    instant at which somebody last did. Parts of the installation that do not work are named in ``impaired``, each with
    the reason; outages that wait for an operator's word (``rookery clocks``) in ``provisional_outages``,
    and what the installation has lost lately in ``incidents``.
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
        said = {"status": problem.code, "detail": problem.detail, "impaired": _impaired_parts()}
        return json_response(said, 503, problem.headers)
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
            "incidents": [{"at": instant(each.at), "words": each.words} for each in incidents[-INCIDENTS_TOLD:]],
        }
    )


def _impaired(ages_s: Mapping[str, float]) -> dict[str, str]:
    silent = [f"{line} for {age:.0f} s" for line, age in ages_s.items() if age > MAX_LINE_SILENCE_S]
    impaired = {"relay": f"no progress: {', '.join(silent)}"} if silent else {}
    return impaired | _impaired_parts()


def _impaired_parts() -> dict[str, str]:
    """Return what the supervisor says of the parts that it keeps, if there is one."""
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
    """Asks the store when Prometheus asks: nothing is measured on the way of a move."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def collect(self) -> Iterable[Metric]:
        up = GaugeMetricFamily("rookery_store_up", "Whether the store answers")
        latency = GaugeMetricFamily("rookery_store_latency_seconds", "One round trip to the store")
        lag = GaugeMetricFamily("rookery_feed_lag", "Feed entries a group has not finished", labels=["group"])
        silence = GaugeMetricFamily("rookery_heartbeat_age_seconds", "Since somebody last kept the clocks")
        overdue = GaugeMetricFamily("rookery_overdue_deadlines", "Deadlines that have come and were not dealt with yet")
        ages = GaugeMetricFamily(
            "rookery_relay_line_age_seconds", "Since a line of the relays last made progress", labels=["line"]
        )
        late = GaugeMetricFamily("rookery_late_opponents", "Matches that wait for an opponent longer than they should")
        offset = GaugeMetricFamily(
            "rookery_clock_offset_seconds", "How far a process's clock is ahead of the store's", labels=["part"]
        )
        provisional = GaugeMetricFamily("rookery_provisional_outages", "Outages that wait for an operator's word")
        client = self._services.store.client
        began = time.perf_counter()
        try:
            client.ping()
            latency.add_metric([], time.perf_counter() - began)
            up.add_metric([], 1)
            for group in Group:
                waiting = self._lag(group)
                if waiting is not None:
                    lag.add_metric([group], waiting)
            self._read_clocks(silence, overdue)
            for line, age in self._services.liveness.ages_s().items():
                ages.add_metric([line], age)
            late.add_metric([], self._late_opponents())
            self._read_offsets(offset)
            provisional.add_metric([], len(self._services.heartbeat.provisional()))
        except StoreError:
            up.add_metric([], 0)
        return [up, latency, lag, silence, overdue, ages, late, offset, provisional]

    def _read_offsets(self, offset: GaugeMetricFamily) -> None:
        clock = self._services.store.clock
        if clock is not None:
            offset.add_metric(["this"], clock.offset_ms() / 1000)
        for part, ms in self._services.heartbeat.offsets().items():
            offset.add_metric([part], ms / 1000)

    def _read_clocks(self, silence: GaugeMetricFamily, overdue: GaugeMetricFamily) -> None:
        store, now = self._services.store, self._services.now()
        last = self._services.heartbeat.last_beat()
        if last is not None:
            silence.add_metric([], max(0, now - last) / 1000)
        overdue.add_metric([], len(store.due(now - LATE_MS, MOST_COUNTED)))

    def _late_opponents(self) -> int:
        names = [f"awaiting:{opponent_id(level)}" for level in LEVELS]
        return len(self._services.readmodels.listed_between(names, 0, self._services.now() - MAX_ANSWER_MS))

    def _lag(self, group: str) -> int | None:
        store = self._services.store
        consumer = FeedGroup(store.client, store.prefix, store.shards, group, "metrics")
        try:
            return sum(lag.undelivered + lag.pending for lag in consumer.lag())
        except (StoreCommandError, ValueError):
            return None  # no relay has made this group yet


def _count(response: Response) -> Response:
    REQUESTS.labels(request.method, request.endpoint or "none", response.status_code).inc()
    if "problem" in g:
        PROBLEMS.labels(g.problem).inc()
    return response
