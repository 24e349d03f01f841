"""Slow, silent and many clients against the server of the API: real sockets, deadlines shortened."""

import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from typing import Any

import pytest

from api.app import create_app
from deploy.production import web_worker
from deploy.production.web_worker import HEALTH_PATH, Servers
from tests.support.callers import settings_for
from tests.support.eventually import DEADLINE_S, eventually
from tests.support.server import RealServer
from tests.support.streams import StreamProcess

THREADS = 2
ANSWER = b"Hello"
LARGE = b"x" * 20_000_000
"""More than the kernel buffers for a client that reads nothing."""

HALF_A_HEAD = b"GET / HTTP/1.1\r\nHost: x\r\n"
HALF_A_BODY = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n12"


class App:
    """An application that counts its requests, and holds those to /hold until it is let go."""

    def __init__(self) -> None:
        self.served = 0
        self.held = threading.Semaphore(0)
        self.let_go = threading.Event()

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        if environ["PATH_INFO"] == "/hold":
            self.held.release()
            self.let_go.wait(60)
        self.served += 1
        body = LARGE if environ["PATH_INFO"] == "/large" else ANSWER + environ["wsgi.input"].read()
        start_response("200 OK", [("Content-Length", str(len(body)))])
        return [body]


@pytest.fixture(scope="module")
def own_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealServer]:
    """Return a store for the application and the live stream."""
    with closing(RealServer(tmp_path_factory.mktemp("redis"))) as server:
        yield server


@pytest.fixture(scope="module")
def stream(own_server: RealServer) -> Iterator[StreamProcess]:
    with closing(StreamProcess(own_server.url)) as process:
        yield process


@pytest.fixture(scope="module")
def application(own_server: RealServer) -> Iterator["Site"]:
    with closing(Site(served=create_app(settings_for(own_server.url)))) as site:
        yield site


class Site:
    """A server in a thread of this process, at a port of its own."""

    def __init__(self, max_per_address: int | None = None, served: Any = None) -> None:
        self.app = App()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = self._listener.getsockname()
        self._stop = threading.Event()
        self.servers = Servers(served or self.app, [self._listener], THREADS, 30, max_per_address)
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        while not self._stop.is_set():
            self.servers.run_once(0.05)
        self.servers.close()

    def close(self) -> None:
        self.app.let_go.set()
        self._stop.set()
        self.servers.wake()
        self._thread.join()
        self._listener.close()

    @contextmanager
    def connection(self) -> Iterator[socket.socket]:
        with socket.create_connection(self.address, timeout=30) as connection:
            yield connection

    def ask(self, request: bytes) -> bytes:
        """Return the whole answer to ``request``, which asks for the connection to be closed."""
        with self.connection() as connection:
            connection.sendall(request)
            return received(connection)


def received(connection: socket.socket) -> bytes:
    """Return all that comes until the other side closes."""
    found = b""
    try:
        while piece := connection.recv(65536):
            found += piece
    except ConnectionResetError:
        pass
    return found


def asked(connection: socket.socket) -> bytes:
    """Return the answer to a request after which the connection stays open."""
    connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    found = b""
    while not found.endswith(ANSWER):
        found += connection.recv(1000)
    return found


def get(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode()


@pytest.fixture
def site() -> Iterator[Site]:
    site = Site()
    yield site
    site.close()


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A server whose deadlines come at once."""
    monkeypatch.setattr(web_worker, "MAX_REQUEST_S", 0.2)
    monkeypatch.setattr(web_worker, "MAX_RESPONSE_S", 0.2)
    monkeypatch.setattr(web_worker, "CHECK_INTERVAL_S", 0)
    site = Site()
    yield site
    site.close()


def test_clients_that_send_slowly_hold_no_thread(site: Site) -> None:
    with ExitStack() as stack:
        for begun in (
            b"G",
            b"GET / HTTP/1.1\r\nHost: x\r\n",
            b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n1",
        ):
            for _ in range(3 * THREADS):
                stack.enter_context(site.connection()).sendall(begun)
        assert site.ask(get("/")).endswith(ANSWER)


def test_clients_that_do_not_take_their_answers_hold_no_thread(site: Site) -> None:
    with ExitStack() as stack:
        for _ in range(3 * THREADS):
            stack.enter_context(site.connection()).sendall(get("/large"))
        assert site.ask(get("/")).endswith(ANSWER)


def test_health_is_answered_while_all_threads_are_held(site: Site) -> None:
    with ExitStack() as stack:
        for _ in range(THREADS):
            stack.enter_context(site.connection()).sendall(get("/hold"))
            assert site.app.held.acquire(timeout=30)
        assert site.ask(get(HEALTH_PATH)).endswith(ANSWER)


@pytest.mark.parametrize("begun", [HALF_A_HEAD, HALF_A_BODY], ids=["head", "body"])
def test_a_request_that_is_not_whole_in_time_is_answered_408(hasty: Site, begun: bytes) -> None:
    answer = hasty.ask(begun)
    assert b" 408 Request Timeout\r\n" in answer
    assert b"must arrive within" in answer


def test_bytes_that_drip_do_not_put_the_deadline_off(hasty: Site) -> None:
    with hasty.connection() as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nX-Drip: ")
        answered = threading.Event()

        def drip() -> None:
            while not answered.wait(0.02):
                try:
                    connection.sendall(b"a")
                except OSError:
                    return

        dripping = threading.Thread(target=drip)
        dripping.start()
        try:
            assert b" 408 Request Timeout\r\n" in received(connection)
        finally:
            answered.set()
            dripping.join()


def test_a_connection_that_never_asks_anything_is_closed(hasty: Site) -> None:
    with hasty.connection() as connection:
        assert received(connection) == b""


def test_an_answer_that_is_not_read_is_given_up(hasty: Site) -> None:
    with hasty.connection() as connection:
        connection.sendall(get("/large"))
        eventually(lambda: hasty.app.served == 1, "the answer was made")
        eventually(lambda: not hasty.servers.channels(), "the connection was closed")
        assert len(received(connection)) < len(LARGE)


def test_an_address_has_a_number_of_connections_and_gets_them_back() -> None:
    site = Site(max_per_address=2)
    try:
        with site.connection() as first, site.connection() as second, site.connection() as third:
            for connection in (first, second):
                assert asked(connection).endswith(ANSWER)
            assert received(third) == b""
            first.close()
            second.close()
        eventually(lambda: site.ask(get("/")).endswith(ANSWER), "closed connections count no more")
    finally:
        site.close()


def test_a_body_in_chunks_arrives_whole(site: Site) -> None:
    head = b"POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
    assert site.ask(head + b"3\r\n, w\r\n4\r\norld\r\n0\r\n\r\n").endswith(b"Hello, world")


def test_a_connection_is_kept_for_further_requests(site: Site) -> None:
    with site.connection() as connection:
        for _ in range(3):
            assert asked(connection).endswith(ANSWER)


BODY = b"0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.mark.parametrize(
    "request_",
    [
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n" + BODY,
        b"POST / HTTP/1.0\r\nHost: x\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n" + BODY,
        b"GET http://[x/ HTTP/1.1\r\nHost: x\r\n\r\n",
    ],
    ids=["length and chunks", "chunks before HTTP/1.1", "no address"],
)
def test_what_others_may_read_otherwise_is_refused_and_ends_the_connection(site: Site, request_: bytes) -> None:
    answer = site.ask(request_)
    assert answer.startswith(b"HTTP/1.1 400 ") or answer.startswith(b"HTTP/1.0 400 ")
    assert b"200 OK" not in answer


AMBIGUOUS = {
    "two hosts": b"Host: 127.0.0.1\r\nHost: 127.0.0.1\r\n",
    "no host": b"",
    "an empty host": b"Host:\r\n",
    "3,000 fields": b"Host: 127.0.0.1\r\n" + b"a: b\r\n" * 3000,
}


@pytest.mark.parametrize("fields", AMBIGUOUS.values(), ids=AMBIGUOUS)
@pytest.mark.parametrize("path", ["/healthz", "/api/v1/games"])
def test_requests_need_exactly_one_host(application: Site, stream: StreamProcess, fields: bytes, path: str) -> None:
    request_ = f"GET {path} HTTP/1.1\r\n".encode() + b"%bConnection: close\r\n\r\n"
    assert application.ask(request_ % b"Host: 127.0.0.1\r\n").startswith(b"HTTP/1.1 200 ")
    assert application.ask(request_ % fields).split()[1] in (b"400", b"431")
    with socket.create_connection(("127.0.0.1", stream.port), timeout=DEADLINE_S) as connection:
        connection.sendall(request_ % fields)
        assert connection.recv(1000).split()[1] in (b"400", b"431")


def test_a_request_without_a_body_that_expects_to_go_on_is_answered(site: Site) -> None:
    assert site.ask(get("/").replace(b"Host: x", b"Host: x\r\nExpect: 100-continue")).endswith(ANSWER)
