"""Spans kept by the OpenTelemetry SDK and sent by OTLP over HTTP. Imported only where traces are wanted."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Link, SpanContext, Status, StatusCode, get_current_span, set_span_in_context
from opentelemetry.trace.propagation import tracecontext
from opentelemetry.trace.span import INVALID_SPAN

from events.runtime.tracing import Attribute

PATH = "/v1/traces"
SEND_TIMEOUT_S = 3
FLUSH_TIMEOUT_MS = 3000
MAX_QUEUED_SPANS = 2048
"""Further ones are dropped while the receiver is away: traces never hold up play."""

HEADER = "traceparent"


class OtlpTracer:
    """Sends the spans of this process, the ``part`` of an installation, to the receiver at ``url``."""

    def __init__(self, url: str, part: str) -> None:
        resource = Resource.create(
            {
                "service.namespace": "rookery",
                "service.name": part,
                "service.instance.id": f"{os.uname().nodename}-{os.getpid()}",
            }
        )
        # Closed by ``close``: a handler at the exit of the process would wait for the receiver a second time.
        self._provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        exporter = OTLPSpanExporter(endpoint=url.rstrip("/") + PATH, timeout=SEND_TIMEOUT_S)
        self._provider.add_span_processor(BatchSpanProcessor(exporter, max_queue_size=MAX_QUEUED_SPANS))
        self._tracer = self._provider.get_tracer("rookery")
        self._propagator = tracecontext.TraceContextTextMapPropagator()

    @contextmanager
    def span(
        self, name: str, links: Iterable[str], attributes: dict[str, Attribute], new_trace: bool
    ) -> Iterator[None]:
        """See ``events.runtime.tracing.Tracer``."""
        # The SDK would record the message of an exception, which may repeat the words of a player.
        with self._tracer.start_as_current_span(
            name,
            context=set_span_in_context(INVALID_SPAN) if new_trace else None,
            attributes=attributes,
            links=[Link(context) for origin in links if (context := self._context(origin)).is_valid],
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            try:
                yield
            except Exception as error:
                span.set_status(Status(StatusCode.ERROR, type(error).__name__))
                raise

    def traceparent(self) -> str:
        """See ``events.runtime.tracing.Tracer``."""
        carrier: dict[str, str] = {}
        self._propagator.inject(carrier)
        return carrier.get(HEADER, "")

    def close(self) -> None:
        """See ``events.runtime.tracing.Tracer``."""
        self._provider.force_flush(FLUSH_TIMEOUT_MS)
        self._provider.shutdown()

    def _context(self, traceparent: str) -> SpanContext:
        return get_current_span(self._propagator.extract({HEADER: traceparent})).get_span_context()
