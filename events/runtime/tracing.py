"""Traces (OpenTelemetry), for operators who ask for them with ROOKERY_OTLP_URL; without that every call here is empty.

A trace is that of one command: from the request, or the task that has decided it, to the append. What follows from the
append later, in a relay or a task, is a trace of its own with a link to the first (``events.runtime.origin``). Names
and attributes of spans are ids, numbers and words of this program: nothing that a player has written.

The SDK is imported when the first process starts to trace: it takes a fifth of a second.
"""

from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from typing import Protocol

Attribute = str | int
_NOTHING = nullcontext()


class Tracer(Protocol):
    """What keeps spans and sends them (``events.runtime.otlp``)."""

    def span(
        self, name: str, links: Iterable[str], attributes: dict[str, Attribute], new_trace: bool
    ) -> AbstractContextManager[None]:
        """Return the span ``name`` around a block."""

    def traceparent(self) -> str:
        """Return the present span as a W3C traceparent, empty outside of any."""

    def close(self) -> None:
        """Send what was not sent yet, waiting a few seconds at most."""


class _State:
    """What this process traces with; None while it does not."""

    tracer: Tracer | None = None


def start(url: str | None, part: str) -> None:
    """Trace from now on in this process, the ``part`` of the installation, and send spans to ``url``; None: do not.

    To be called after the process has forked: the thread that sends would not be in the child.
    """
    if url is not None:
        _State.tracer = import_module("events.runtime.otlp").OtlpTracer(url, part)


def stop() -> None:
    """Send what was not sent yet, waiting a few seconds at most, and trace no more."""
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
