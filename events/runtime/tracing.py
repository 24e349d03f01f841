"""Traces (OpenTelemetry) with ROOKERY_OTLP_URL; without it every call is empty and the slow SDK is not imported.

A trace is that of one command, to its append; later work is a trace with a link to it (``origin``). Nothing that a
player has written is in it.
"""

from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from typing import Protocol

Attribute = str | int
_NOTHING = nullcontext()


class Tracer(Protocol):
    """Keeps spans and sends them (``events.runtime.otlp``)."""

    def span(
        self, name: str, links: Iterable[str], attributes: dict[str, Attribute], new_trace: bool
    ) -> AbstractContextManager[None]:
        """Return the span ``name`` around a block."""

    def traceparent(self) -> str:
        """Return the present span as a W3C traceparent, empty outside of any."""

    def close(self) -> None:
        """Send the spans that wait, for a few seconds at most."""


class _State:
    tracer: Tracer | None = None


def start(url: str | None, part: str) -> None:
    """Trace from now on in this process, after it has forked, as ``part``, and send spans to ``url``; None: do not."""
    if url is not None:
        _State.tracer = import_module("events.runtime.otlp").OtlpTracer(url, part)


def stop() -> None:
    """Send the spans that wait, for a few seconds at most, and trace no more."""
    tracer, _State.tracer = _State.tracer, None
    if tracer is not None:
        tracer.close()


def is_on() -> bool:
    """Tell whether this process traces."""
    return _State.tracer is not None


def span(
    name: str, *, links: Iterable[str] = (), new_trace: bool = False, **attributes: Attribute
) -> AbstractContextManager[None]:
    """Record a block as the span ``name``; ``links`` are traceparents, with ``new_trace`` it begins a trace."""
    return _NOTHING if _State.tracer is None else _State.tracer.span(name, links, attributes, new_trace)


def traceparent() -> str:
    """Return the present span as a W3C traceparent; empty outside of any, and when nothing is traced."""
    return "" if _State.tracer is None else _State.tracer.traceparent()
