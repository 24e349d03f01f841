"""Traces and log lines: from the request over the append to relay and task, and nothing in them that a player wrote."""

import json
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from flask import Flask
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from api.services import EXTENSION, Services
from events.runtime import origin, tracing
from events.runtime.connections import StoreClient, connect
from events.runtime.queues import ConsumerGroup, Queue
from events.store.feed import FeedGroup
from tests.support.callers import ME, Caller, opponent, settings_for, started
from tests.support.server import RealServer
from workers.celery_app import ANSWER, RATE
from workers.composition import make_task_queue
from workers.effects import DeliveryReader, enqueue_when_due, match_by_match
from workers.opponents import QUICK, debts_of
from workers.worker import make_worker_app


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
                    part=facts["service.name"], name=span.name, trace=span.trace_id.hex(), id=span.span_id.hex(),
                    parent=span.parent_span_id.hex(), links=[link.trace_id.hex() for link in span.links],
                    attributes={each.key: each.value.string_value or each.value.int_value for each in span.attributes},
                )  # fmt: skip


ROOT = Path(__file__).parents[2]
MARKER = "quagga"
REQUEST = "from-a-proxy-1"


@pytest.fixture
def receiver() -> Iterator[OtlpReceiver]:
    with otlp_receiver() as receiver:
        tracing.start(receiver.url, "api")
        yield receiver
        tracing.stop()


def relay_opponents(services: Services, client: StoreClient) -> None:
    """Hand what is in the feed to the consumer that requests the answers of opponents."""
    group = FeedGroup(client, services.prefix, services.store.shards, ConsumerGroup.TASKS, "a-relay")
    group.ensure()
    read = DeliveryReader(services.store, services.matches, services.availability).read
    match_by_match(group, read, [enqueue_when_due(debts_of, make_task_queue(services).request_answer)])(
        group.read(None)
    )


def play_against_opponent(app: Flask, redis: StoreClient) -> str:
    """Let a person move, the relay request the answer, and a task give it; return the match."""
    services: Services = app.extensions[EXTENSION]
    anna = Caller(app).sign_up(f"anna{MARKER}")
    match_id = anna.create(ME, opponent(1))
    assert anna.put(f"/matches/{match_id}/notes", {"text": MARKER}).status_code == 200
    assert anna.move(match_id, MARKER).status_code == 422
    relay_opponents(services, redis)
    assert anna.move(match_id, X_Request_Id=REQUEST).status_code == 201
    relay_opponents(services, redis)
    make_worker_app(services.settings).tasks[ANSWER](QUICK)
    return match_id


def spans_of(receiver: OtlpReceiver) -> dict[str, list[SeenSpan]]:
    tracing.stop()
    return {span.name: [each for each in receiver.spans if each.name == span.name] for span in receiver.spans}


def test_a_move_is_a_trace_linked_to_relay_and_task(app: Flask, redis: StoreClient, receiver: OtlpReceiver) -> None:
    match_id = play_against_opponent(app, redis)
    spans = spans_of(receiver)
    move = spans["POST commands.submit_move"][-1]
    assert move.attributes == {"request": REQUEST, "match": match_id}
    execute = next(span for span in spans["execute"] if span.parent == move.id)
    append = next(span for span in spans["append"] if span.parent == execute.id)
    assert append.trace == execute.trace == move.trace
    assert append.attributes == {"match": match_id, "version": 3, "events": 1}
    relayed = spans["relay tasks"][-1]
    assert (relayed.links, relayed.parent) == ([move.trace], "")
    (task,) = spans[ANSWER]
    assert (task.links, task.attributes) == ([relayed.trace], {"match": match_id})
    assert [span.attributes["command"] for span in spans["execute"] if span.trace == task.trace] == ["SubmitMove"]


def test_nothing_that_a_player_wrote_is_in_a_trace(app: Flask, redis: StoreClient, receiver: OtlpReceiver) -> None:
    play_against_opponent(app, redis)
    anna, boris = Caller(app).sign_up("anna"), Caller(app).sign_up("boris")
    match_id = started(anna, boris)
    assert anna.post(f"/matches/{match_id}/chat", {"text": MARKER}).status_code == 201
    assert anna.post("/sessions", {"name": f"anna{MARKER}", "password": MARKER * 2}).status_code == 401
    assert anna.post(f"/{MARKER}").status_code == 404
    tracing.stop()
    assert receiver.spans
    assert [body for body in receiver.bodies if MARKER.encode() in body] == []


def test_a_failure_is_marked_by_its_kind_and_not_by_its_words(receiver: OtlpReceiver) -> None:
    with pytest.raises(ValueError, match=MARKER), tracing.span("work"):
        raise ValueError(MARKER)
    tracing.stop()
    (body,) = receiver.bodies
    assert b"ValueError" in body
    assert MARKER.encode() not in body


def test_a_receiver_that_is_away_holds_nothing_up(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("events.runtime.otlp.SEND_TIMEOUT_S", 0.1)
    tracing.start("http://127.0.0.1:9", "api")
    anna, boris = Caller(app).sign_up("anna"), Caller(app).sign_up("boris")
    assert anna.move(started(anna, boris)).status_code == 201
    tracing.stop()


def test_only_the_module_that_is_imported_when_tracing_starts_imports_the_sdk() -> None:
    sources = [path for room in ("events", "workers", "api", "deploy") for path in (ROOT / room).rglob("*.py")]
    importing = re.compile(r"^(import|from) (opentelemetry|events\.runtime\.otlp)|import otlp", re.MULTILINE)
    found = [path.name for path in sources if importing.search(path.read_text(encoding="utf-8"))]
    assert found == ["otlp.py"]


def test_no_process_imports_the_metrics_of_the_sdk_which_redis_py_would_use() -> None:
    assert "redis.observability.providers" in sys.modules
    assert sys.modules["opentelemetry.sdk.metrics"] is None


def test_log_lines_of_tasks_name_requests(app: Flask, redis: StoreClient, capsys: pytest.CaptureFixture[str]) -> None:
    match_id = play_against_opponent(app, redis)
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    (answered,) = [line for line in lines if line["event"] == "answered"]
    assert (answered["request"], answered["match"]) == (REQUEST, match_id)


def test_log_lines_of_a_request_name_it_and_the_match_and_so_does_the_answer(
    app: Flask, services: Services, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    anna, boris = Caller(app).sign_up("anna"), Caller(app).sign_up("boris")
    match_id = started(anna, boris)
    monkeypatch.setattr(services.matches, "load", lambda _: 1 / 0)
    refused = anna.get(f"/matches/{match_id}", X_Request_Id=REQUEST)
    assert (refused.status_code, refused.json["request_id"], refused.headers["X-Request-Id"]) == (500, REQUEST, REQUEST)
    (line,) = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert (line["request"], line["match"]) == (REQUEST, match_id)
    page = anna.client.get(f"/matches/{match_id}", headers={"X-Request-Id": REQUEST, "Accept": "text/html"})
    assert (page.status_code, f"<code>{REQUEST}</code>" in page.text) == (500, True)
    monkeypatch.undo()
    assert anna.get(f"/matches/{match_id}").headers["X-Request-Id"] != REQUEST


def test_a_task_carries_its_origin_over_the_broker(server: RealServer, services: Services) -> None:
    with origin.request("a-request"):
        make_task_queue(services).request_rating("m1")
    with connect(services.settings.broker_url) as broker:
        (message,) = broker.lrange(Queue.DEFAULT.name_in_broker(settings_for("").prefix), 0, -1)
    headers = json.loads(message)["headers"]
    assert (headers["task"], headers["rookery_origin"]) == (RATE, "a-request")
