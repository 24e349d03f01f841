"""``/metrics`` for Prometheus: the answers of this process, and the figures of the installation."""

import os
from collections.abc import Iterable
from http import HTTPMethod

from flask import Flask, Response, g
from prometheus_client import CollectorRegistry, Counter, disable_created_metrics, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric as MetricFamily
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from api.counter_files import unchanged
from api.http.bodies import current_request
from api.services import services
from events.operations.figures import Figures
from events.runtime.errors import StoreError
from events.runtime.metric import Metric, MetricKind

disable_created_metrics()  # type: ignore[no-untyped-call]  # a series more for each, which no one asks for
REQUESTS = Counter(
    "rookery_requests", "Answered requests", ["method", "endpoint", "status"], registry=CollectorRegistry()
)
PROBLEMS = Counter("rookery_problems", "Refused requests by kind", ["code"], registry=CollectorRegistry())

METHODS = frozenset(HTTPMethod)
"""Others are counted together: a client may invent any number of them, and each would be a series for good."""


def register(app: Flask) -> None:
    """Add /metrics to ``app`` and count its requests."""
    app.add_url_rule("/metrics", "metrics", metrics)
    app.after_request(_count)


def metrics() -> Response:
    """Counters of the requests, and the figures of the installation, which are the same from every process.

    With PROMETHEUS_MULTIPROC_DIR set the counters are those of all processes, else of the one that answers.
    """
    registry = CollectorRegistry()
    registry.register(_FigureCollector(services().figures))
    directory = os.environ.get("PROMETHEUS_MULTIPROC_DIR")
    if directory is None:
        registry.register(REQUESTS)
        registry.register(PROBLEMS)
        return _answer(registry)
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    with unchanged(directory):
        return _answer(registry)


def _answer(registry: CollectorRegistry) -> Response:
    return Response(generate_latest(registry), content_type=CONTENT_TYPE_PLAIN_0_0_4)


class _FigureCollector(Collector):
    def __init__(self, figures: Figures) -> None:
        self._figures = figures

    def collect(self) -> Iterable[MetricFamily]:
        """Return the figures; only that the store is down when it does not answer."""
        up = GaugeMetricFamily("rookery_store_up", "Whether the store answers")
        try:
            metrics = [_metric(figure) for figure in self._figures.read()]
            up.add_metric([], 1)
        except StoreError:
            metrics = []
            up.add_metric([], 0)
        return [up, *metrics]


def _metric(figure: Metric) -> MetricFamily:
    if figure.kind == MetricKind.HISTOGRAM:
        buckets = [(bound, count) for (bound,), count in figure.values.items() if bound]
        return HistogramMetricFamily(figure.name, figure.description, buckets, sum_value=figure.values["",])
    family = CounterMetricFamily if figure.kind == MetricKind.COUNTER else GaugeMetricFamily
    metric = family(figure.name, figure.description, labels=figure.labels)
    for labels, value in figure.values.items():
        metric.add_metric(labels, value)
    return metric


def _count(response: Response) -> Response:
    received, problem = current_request(), g.get("problem")
    method = received.method if received.method in METHODS else "other"
    REQUESTS.labels(method, received.endpoint or "none", response.status_code).inc()
    if problem is not None:
        PROBLEMS.labels(problem).inc()
    return response
