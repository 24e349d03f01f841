"""The worker of the API: a thread handles a request only when all of it has arrived.

gunicorn keeps the processes running; within each, waitress reads from and writes to all connections in one loop, so
that neither a slow sender nor a slow reader blocks a thread. Waitress alone fails 13 of 23 tests of slow and hostile
clients, and ``rookery up`` has no proxy in front. So this adds: a deadline for the whole request and for reading the
response (waitress puts its own off with every byte), a limit on the connections of one address, a thread for health
checks, and refusal of requests that others may read otherwise.
"""

import os
import socket
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from gunicorn.workers.base import Worker
from waitress import wasyncore
from waitress.adjustments import Adjustments
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser, ParsingError
from waitress.server import TcpWSGIServer
from waitress.task import ThreadedTaskDispatcher
from waitress.utilities import Error

from api.http.bodies import MAX_BODY_BYTES
from events.runtime.settings import Settings

MAX_REQUEST_S = 10
"""For head and body together, from the first byte, and from the connection to the first byte."""

MAX_RESPONSE_S = 60
"""The time within which a client must have read the whole response."""

CHECK_INTERVAL_S = 1
"""The time between two checks of the deadlines."""

MAX_HEAD_BYTES = 32 * 1024
MAX_HEADER_FIELDS = 60
MAX_CONNECTIONS = 1000
MAX_CONNECTIONS_PER_ADDRESS = 100
"""In one process. Browsers open about six; behind a trusted proxy the proxy enforces its own limit."""

HEALTH_PATH = "/healthz"
"""Served by a thread of its own, so that it is answered while all others wait for the store."""


class RequestTimeoutError(Error):  # type: ignore[misc]
    """The response to a request that did not arrive in time."""

    code = 408
    reason = "Request Timeout"


class Parser(HTTPRequestParser):  # type: ignore[misc]
    """Parses a request, and refuses those that servers in front may parse differently (RFC 9112, section 6.1)."""

    def parse_header(self, header_plus: bytes) -> None:
        """See HTTPRequestParser."""
        if header_plus.count(b"\n") > MAX_HEADER_FIELDS:
            raise ParsingError(f"A request has {MAX_HEADER_FIELDS} header fields at most")
        try:
            super().parse_header(header_plus)
        except ValueError as error:
            # From an invalid absolute URL; it would close the connection with a traceback in the log.
            raise ParsingError("The address of the request is invalid") from error
        if "TRANSFER_ENCODING" in self.headers:
            raise ParsingError("Transfer-Encoding belongs to HTTP/1.1")
        if self.chunked and "CONTENT_LENGTH" in self.headers:
            raise ParsingError("A request has either Content-Length or Transfer-Encoding")
        if self.body_rcv is None:
            self.expect_continue = False  # there is nothing to wait for


class TimedChannel(HTTPChannel):  # type: ignore[misc]
    """One connection, with the instants (monotonic seconds) from which its deadlines count."""

    parser_class = Parser
    request: Any

    def __init__(self, server: "WebServer", sock: Any, addr: Any, adj: Adjustments, map: Any = None) -> None:
        self.reading_since: float | None = time.monotonic()
        self.answered_at: float | None = None
        super().__init__(server, sock, addr, adj, map=map)

    def received(self, data: bytes) -> bool:
        """Parse ``data``; the deadline of a request starts with its first byte."""
        if self.reading_since is None:
            self.reading_since = time.monotonic()
        result = bool(super().received(data))
        if self.request is None:
            self.reading_since = None
        return result

    def service(self) -> None:
        """Answer a request; from then on the client must read the response."""
        super().service()
        self.answered_at = time.monotonic()

    def check_deadlines(self, now: float) -> None:
        """Answer 408 to a request that is late, and disconnect a client that does not read its response."""
        if self.requests:
            return
        if self.total_outbufs_len:
            if self.answered_at is not None and now - self.answered_at > MAX_RESPONSE_S:
                self.handle_close()  # it does not read, so a flush would never end
        elif self.reading_since is not None and now - self.reading_since > MAX_REQUEST_S:
            self._time_out()

    def del_channel(self, map: Any = None) -> None:
        """Remove the connection, also from the count of its address."""
        if self._fileno in self.server.active_channels:
            self.server.connections[self.addr[0]] -= 1
            if not self.server.connections[self.addr[0]]:
                del self.server.connections[self.addr[0]]
        super().del_channel(map)

    def _time_out(self) -> None:
        request, self.reading_since = self.request, None
        if request is None:
            self.will_close = True  # no request, no response
            return
        with self.requests_lock:
            request.error = RequestTimeoutError(f"The whole request must arrive within {MAX_REQUEST_S} seconds.")
            self.requests.append(request)
            self.request = None
        self.server.add_task(self)


class WebServer(TcpWSGIServer):  # type: ignore[misc]
    """The connections of one listening socket."""

    channel_class = TimedChannel

    def __init__(self, *args: Any, max_per_address: int | None, health: ThreadedTaskDispatcher, **options: Any) -> None:
        self.connections: Counter[str] = Counter()
        self._max_per_address = max_per_address
        self._health = health
        super().__init__(*args, **options)

    def handle_accept(self) -> None:
        """Accept a connection, unless its address has the maximum number."""
        try:
            accepted = self.accept()
        except OSError:
            return
        if accepted is None:
            return
        connection, address = accepted
        if self._max_per_address is not None and self.connections[address[0]] >= self._max_per_address:
            connection.close()
            return
        self.set_socket_options(connection)
        self.connections[address[0]] += 1
        self.channel_class(self, connection, address, self.adj, map=self._map)

    def add_task(self, task: TimedChannel) -> None:
        """Let a thread answer the first request of a connection."""
        # A malformed request has no path.
        is_health_check = getattr(task.requests[0], "path", None) == HEALTH_PATH
        dispatcher = self._health if is_health_check else self.task_dispatcher
        dispatcher.add_task(task)

    def maintenance(self, now: float) -> None:
        """Close idle connections and check the deadlines of the others."""
        super().maintenance(now)
        instant = time.monotonic()
        for channel in list(self.active_channels.values()):
            channel.check_deadlines(instant)


class Servers:
    """The servers of the listening sockets of one process for ``app``; ``max_per_address`` None: any number."""

    def __init__(
        self, app: Any, listeners: Sequence[socket.socket], threads: int, keepalive_s: int, max_per_address: int | None
    ) -> None:
        settings = Adjustments(
            ident=None,
            threads=threads,
            channel_timeout=keepalive_s,
            cleanup_interval=CHECK_INTERVAL_S,
            connection_limit=MAX_CONNECTIONS,
            max_request_header_size=MAX_HEAD_BYTES,
            # More than the application accepts, so that it reports a body that is slightly too large.
            max_request_body_size=2 * MAX_BODY_BYTES,
            clear_untrusted_proxy_headers=False,  # api.access.headers trusts as many as configured
        )
        self._map: dict[int, Any] = {}
        self._dispatchers = workers, health = ThreadedTaskDispatcher(), ThreadedTaskDispatcher()
        workers.queue_logger.setLevel("ERROR")  # it logs the queue length at every request that waits
        workers.set_thread_count(threads)
        health.set_thread_count(1)
        self._servers = [
            WebServer(
                app,
                self._map,
                _sock=listener,
                dispatcher=workers,
                adj=settings,
                sockinfo=(listener.family, listener.type, None, listener.getsockname()),
                bind_socket=False,
                max_per_address=max_per_address,
                health=health,
            )
            for listener in listeners
        ]

    def run_once(self, timeout_s: float) -> None:
        """Wait at most ``timeout_s`` until something can be read or written, and do so."""
        wasyncore.loop(timeout=timeout_s, use_poll=True, map=self._map, count=1)

    def wake(self) -> None:
        """Interrupt ``run_once``; any thread or signal handler may call this, even after ``close``."""
        for server in self._servers:
            with suppress(OSError):
                server.pull_trigger()

    def refuse_connections(self) -> None:
        """Accept no further connections."""
        for server in self._servers:
            server.accepting = False

    def channels(self) -> list[TimedChannel]:
        """Return the open connections."""
        return [channel for server in self._servers for channel in list(server.active_channels.values())]

    def is_busy(self) -> bool:
        """Return whether a request that has arrived is not fully answered yet."""
        return any(channel.requests or channel.total_outbufs_len for channel in self.channels())

    def close(self) -> None:
        """Stop the threads and close all connections."""
        for dispatcher in self._dispatchers:
            dispatcher.shutdown(timeout=1)
        for channel in self.channels():
            channel.handle_close()
        wasyncore.close_all(self._map)


class WebWorker(Worker):  # type: ignore[misc]
    """A gunicorn worker that serves its sockets with waitress."""

    servers: Servers | None = None

    def run(self) -> None:
        """Serve until the worker is asked to stop, then answer the requests that have arrived."""
        listeners = [listener.sock for listener in self.sockets]
        cap = None if Settings.from_environment().trusted_proxies else MAX_CONNECTIONS_PER_ADDRESS
        self.servers = servers = Servers(self.wsgi, listeners, self.cfg.threads, self.cfg.keepalive, cap)
        while self.alive and self.ppid == os.getppid():
            self.notify()
            servers.run_once(1.0)
        servers.refuse_connections()
        deadline = time.monotonic() + self.cfg.graceful_timeout
        while servers.is_busy() and time.monotonic() < deadline:
            self.notify()
            servers.run_once(0.1)
        servers.close()

    def handle_exit(self, sig: int, frame: object) -> None:
        """Start stopping at once."""
        super().handle_exit(sig, frame)
        if self.servers is not None:
            self.servers.wake()
