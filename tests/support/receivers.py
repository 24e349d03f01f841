"""Receivers of webhooks in the test process: real HTTP servers on loopback addresses that answer as a test says."""

import contextlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

LOOPBACK = ("127.0.0.0/8",)
"""What an installation must be allowed to call, for these."""


class Reply(NamedTuple):
    status: int = 204
    body: bytes = b""
    headers: Mapping[str, str] = {}


def answering(status: int = 200, **content: Any) -> Reply:
    """Return an answer with ``content`` as JSON."""
    return Reply(status, json.dumps(content).encode())


class Received(NamedTuple):
    """A webhook as it arrived; the names of ``headers`` are in lower case."""

    headers: Mapping[str, str]
    body: bytes

    @property
    def data(self) -> Any:
        return json.loads(self.body)["data"]

    @property
    def type(self) -> str:
        return str(json.loads(self.body)["type"])


class Receiver:
    """A receiver: what came, and how it answers (``reply`` may be replaced)."""

    def __init__(self, reply: Callable[[Received], Reply]) -> None:
        self.reply = reply
        self.received: list[Received] = []
        self.url = ""


@contextlib.contextmanager
def receiving(reply: Callable[[Received], Reply] = lambda _: Reply(), host: str = "127.0.0.1") -> Iterator[Receiver]:
    """Run a receiver at the loopback address ``host`` while the block lasts."""
    receiver = Receiver(reply)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            received = Received({name.lower(): value for name, value in self.headers.items()}, body)
            receiver.received.append(received)
            answer = receiver.reply(received)
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            self.wfile.write(answer.body)

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer((host, 0), Handler) as server:
        receiver.url = f"http://{host}:{server.server_port}/hook"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield receiver
        finally:
            server.shutdown()
            thread.join()
