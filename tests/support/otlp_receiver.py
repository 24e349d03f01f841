"""A receiver of traces (OTLP over HTTP) in the process of the tests."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


class SeenSpan(NamedTuple):
    """A span as it has arrived: ids in hexadecimal, ``links`` as trace ids."""

    part: str
    name: str
    trace: str
    id: str
    parent: str
    links: list[str]
    attributes: dict[str, Any]


class OtlpReceiver(ThreadingHTTPServer):
    """Keeps what arrives at ``url``: the bodies as they came, and the spans in them."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.bodies: list[bytes] = []

    @property
    def url(self) -> str:
        """The setting ROOKERY_OTLP_URL that names this receiver."""
        return f"http://127.0.0.1:{self.server_port}"

    @property
    def spans(self) -> list[SeenSpan]:
        return [span for body in self.bodies for span in _spans(ExportTraceServiceRequest.FromString(body))]


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        server: Any = self.server
        server.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(200 if self.path == "/v1/traces" else 404)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Keep standard error to the tests."""


@contextmanager
def otlp_receiver() -> Iterator[OtlpReceiver]:
    """Return a receiver that listens while the block lasts."""
    with OtlpReceiver() as receiver:
        thread = threading.Thread(target=receiver.serve_forever, args=[0.02])
        thread.start()
        try:
            yield receiver
        finally:
            receiver.shutdown()
            thread.join()


def _spans(request: ExportTraceServiceRequest) -> Iterator[SeenSpan]:
    for resource in request.resource_spans:
        facts = {each.key: each.value.string_value for each in resource.resource.attributes}
        for scope in resource.scope_spans:
            for span in scope.spans:
                yield SeenSpan(
                    part=facts["service.name"],
                    name=span.name,
                    trace=span.trace_id.hex(),
                    id=span.span_id.hex(),
                    parent=span.parent_span_id.hex(),
                    links=[link.trace_id.hex() for link in span.links],
                    attributes={each.key: each.value.string_value or each.value.int_value for each in span.attributes},
                )
