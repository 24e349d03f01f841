"""How a process of the API takes requests in: a thread serves a request only when all of it has arrived.

gunicorn keeps the processes running; within each, waitress reads all connections in one loop and sends the answers in
the same loop, so that neither a slow sender nor a slow reader holds a thread. Added here: a deadline for a request as a
whole, for the answer to be taken, and a cap on the connections of one address.
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

from api.access.proxies import trusted_proxies
from api.http.openapi import LARGEST_BODY

MAX_REQUEST_S = 10
"""For head and body together, from the first byte on, and for the first byte after connecting."""

MAX_TAKING_S = 60
"""Until the client has taken the whole answer."""

DEADLINES_EVERY_S = 1
"""How often the deadlines of the connections are looked at."""

MAX_HEAD_BYTES = 32 * 1024
MAX_CONNECTIONS = 1000
MAX_CONNECTIONS_PER_ADDRESS = 100
"""In one process. Browsers open six or so; behind a trusted proxy the proxy counts."""

HEALTH_PATH = "/healthz"
"""Answered by a thread of its own, so that it is answered while all others wait for the store."""


class RequestTimeout(Error):  # type: ignore[misc]
    """The answer to a request that did not arrive in time."""

    code = 408
    reason = "Request Timeout"


class Parser(HTTPRequestParser):  # type: ignore[misc]
    """Reads one request, and refuses what servers in front may have read otherwise (RFC 9112, section 6.1)."""

    def parse_header(self, header_plus: bytes) -> None:
        """See HTTPRequestParser."""
        try:
            super().parse_header(header_plus)
        except ValueError as error:
            # Of an absolute address that is none; it would end the connection with a traceback in the log.
            raise ParsingError("The address of the request is invalid") from error
        if "TRANSFER_ENCODING" in self.headers:
            raise ParsingError("Transfer-Encoding belongs to HTTP/1.1")
        if self.chunked and "CONTENT_LENGTH" in self.headers:
            raise ParsingError("A request has either Content-Length or Transfer-Encoding")
        if self.body_rcv is None:
            self.expect_continue = False  # there is nothing to wait for


class Channel(HTTPChannel):  # type: ignore[misc]
    """One connection, with the instants (monotonic seconds) that its deadlines count from."""

    parser_class = Parser
    request: Any

    def __init__(self, server: "Server", sock: Any, addr: Any, adj: Adjustments, map: Any = None) -> None:
        self.reading_since: float | None = time.monotonic()
        self.answered_at: float | None = None
        super().__init__(server, sock, addr, adj, map=map)

    def received(self, data: bytes) -> bool:
        """Take in ``data``; the deadline of a request begins with its first byte."""
        if self.reading_since is None:
            self.reading_since = time.monotonic()
        result = bool(super().received(data))
        if self.request is None:
            self.reading_since = None
        return result

    def service(self) -> None:
        """Answer a request; from then on the client has to take the answer."""
        super().service()
        self.answered_at = time.monotonic()

    def keep_deadlines(self, now: float) -> None:
        """Answer 408 to a request that is late, and give up a client that does not take its answer."""
        if self.requests:
            return
        if self.total_outbufs_len:
            if self.answered_at is not None and now - self.answered_at > MAX_TAKING_S:
                self.handle_close()  # there is no room to send anything, so waiting for it would never end
        elif self.reading_since is not None and now - self.reading_since > MAX_REQUEST_S:
            self._time_out()

    def del_channel(self, map: Any = None) -> None:
        """Forget the connection, here and in the count of its address."""
        if self._fileno in self.server.active_channels:
            self.server.connections[self.addr[0]] -= 1
            if not self.server.connections[self.addr[0]]:
                del self.server.connections[self.addr[0]]
        super().del_channel(map)

    def _time_out(self) -> None:
        request, self.reading_since = self.request, None
        if request is None:
            self.will_close = True  # nothing was asked, so nothing is answered
            return
        with self.requests_lock:
            request.error = RequestTimeout(f"The whole request has to arrive within {MAX_REQUEST_S} seconds.")
            self.requests.append(request)
            self.request = None
        self.server.add_task(self)


class Server(TcpWSGIServer):  # type: ignore[misc]
    """The connections of one listening socket."""

    channel_class = Channel

    def __init__(self, *args: Any, max_per_address: int | None, health: ThreadedTaskDispatcher, **options: Any) -> None:
        self.connections: Counter[str] = Counter()
        self._max_per_address = max_per_address
        self._health = health
        super().__init__(*args, **options)

    def handle_accept(self) -> None:
        """Take a connection in, unless its address has as many as it may."""
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

    def add_task(self, task: Channel) -> None:
        """Let a thread answer the first request of a connection."""
        # A request that could not be read has no path.
        asks_for_health = getattr(task.requests[0], "path", None) == HEALTH_PATH
        dispatcher = self._health if asks_for_health else self.task_dispatcher
        dispatcher.add_task(task)

    def maintenance(self, now: float) -> None:
        """Close idle connections and keep the deadlines of the others."""
        super().maintenance(now)
        instant = time.monotonic()
        for channel in list(self.active_channels.values()):
            channel.keep_deadlines(instant)


class Servers:
    """What serves the listening sockets of one process with the application ``app``.

    ``keepalive_s`` is how long a connection may be idle, ``max_per_address`` how many one address may have (None: any).
    """

    def __init__(
        self, app: Any, listeners: Sequence[socket.socket], threads: int, keepalive_s: int, max_per_address: int | None
    ) -> None:
        settings = Adjustments(
            ident=None,
            threads=threads,
            channel_timeout=keepalive_s,
            cleanup_interval=DEADLINES_EVERY_S,
            connection_limit=MAX_CONNECTIONS,
            max_request_header_size=MAX_HEAD_BYTES,
            # A little more than the application takes: what is slightly too large is refused in its words.
            max_request_body_size=2 * LARGEST_BODY,
            clear_untrusted_proxy_headers=False,  # api.access.proxies believes as many proxies as there are
        )
        self._map: dict[int, Any] = {}
        self._dispatchers = working, health = ThreadedTaskDispatcher(), ThreadedTaskDispatcher()
        working.queue_logger.setLevel("ERROR")  # says how many requests wait whenever one does
        working.set_thread_count(threads)
        health.set_thread_count(1)
        self._servers = [
            Server(
                app,
                self._map,
                _sock=listener,
                dispatcher=working,
                adj=settings,
                sockinfo=(listener.family, listener.type, None, listener.getsockname()),
                bind_socket=False,
                max_per_address=max_per_address,
                health=health,
            )
            for listener in listeners
        ]

    def turn(self, timeout_s: float) -> None:
        """Wait for ``timeout_s`` at most until something can be read or sent, and do so."""
        wasyncore.loop(timeout=timeout_s, use_poll=True, map=self._map, count=1)

    def wake(self) -> None:
        """End the wait of ``turn``; any thread or signal handler may call this, also when all is closed."""
        for server in self._servers:
            with suppress(OSError):
                server.pull_trigger()

    def refuse_connections(self) -> None:
        """Take no further connections in."""
        for server in self._servers:
            server.accepting = False

    def channels(self) -> list[Channel]:
        """Return the open connections."""
        return [channel for server in self._servers for channel in list(server.active_channels.values())]

    def busy(self) -> bool:
        """Tell whether a request that has arrived is not answered yet."""
        return any(channel.requests or channel.total_outbufs_len for channel in self.channels())

    def close(self) -> None:
        """Let the threads end, and close all connections."""
        for dispatcher in self._dispatchers:
            dispatcher.shutdown(timeout=1)
        for channel in self.channels():
            channel.handle_close()
        wasyncore.close_all(self._map)


class WebWorker(Worker):  # type: ignore[misc]
    """A gunicorn worker that serves its sockets with waitress."""

    servers: Servers | None = None

    def run(self) -> None:
        """Serve until the worker is to stop, then answer what has arrived."""
        listeners = [listener.sock for listener in self.sockets]
        cap = None if trusted_proxies() else MAX_CONNECTIONS_PER_ADDRESS
        self.servers = servers = Servers(self.wsgi, listeners, self.cfg.threads, self.cfg.keepalive, cap)
        while self.alive and self.ppid == os.getppid():
            self.notify()
            servers.turn(1.0)
        servers.refuse_connections()
        deadline = time.monotonic() + self.cfg.graceful_timeout
        while servers.busy() and time.monotonic() < deadline:
            self.notify()
            servers.turn(0.1)
        servers.close()

    def handle_exit(self, sig: int, frame: object) -> None:
        """Begin to stop, at once."""
        super().handle_exit(sig, frame)
        if self.servers is not None:
            self.servers.wake()
