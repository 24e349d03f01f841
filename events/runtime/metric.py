"""A figure about the installation, as operators see it; ``/metrics`` shows a list of these."""

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

Labels = tuple[str, ...]


class MetricKind(StrEnum):
    """The way in which a figure may change."""

    GAUGE = "gauge"

    COUNTER = "counter"

    HISTOGRAM = "histogram"
    """Counts by upper bound, under the label ``le``, and their sum, under the empty label."""


class Metric(NamedTuple):
    """A figure with a value for each combination of its labels; none where nothing is known of it."""

    name: str
    description: str
    values: Mapping[Labels, float]
    labels: tuple[str, ...] = ()
    kind: MetricKind = MetricKind.GAUGE


def gauge(name: str, description: str, value: float | None) -> Metric:
    """Return a figure without labels; without a value for None."""
    return Metric(name, description, {} if value is None else {(): value})


def gauges(name: str, description: str, label: str, values: Mapping[str, float]) -> Metric:
    """Return a figure with one label."""
    return Metric(name, description, {(key,): value for key, value in values.items()}, (label,))
