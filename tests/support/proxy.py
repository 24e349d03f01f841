"""A TCP proxy between a client and its server that can lose one reply."""

import socket
from contextlib import suppress
from threading import Event, Thread


class LossyProxy:
    """Passes bytes both ways. After ``lose_reply_to(part)`` the next request with ``part`` in it gets no reply.

    The request reaches the server and is carried out; the client sees its connection close instead of the reply.
    """

    def __init__(self, port: int) -> None:
        self._target = port
        self._part: bytes | None = None
        self.lost = Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._connections: list[socket.socket] = []
        Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        """The URL under which the server is reached through this proxy."""
        return f"redis://127.0.0.1:{self._listener.getsockname()[1]}/0"

    def lose_reply_to(self, part: bytes) -> None:
        """Lose the reply to the next request that contains ``part``."""
        self.lost.clear()
        self._part = part

    def close(self) -> None:
        """Close all connections, and wake who waits for new ones: to close a socket alone leaves them waiting."""
        _end(self._listener, *self._connections)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self._target))
            self._connections += [client, server]
            losing = Event()
            Thread(target=self._pass_requests, args=(client, server, losing), daemon=True).start()
            Thread(target=self._pass_replies, args=(server, client, losing), daemon=True).start()

    def _pass_requests(self, client: socket.socket, server: socket.socket, losing: Event) -> None:
        with suppress(OSError):
            while asked := client.recv(1 << 20):
                if self._part is not None and self._part in asked:
                    self._part = None
                    losing.set()
                server.sendall(asked)
        _end(client, server)

    def _pass_replies(self, server: socket.socket, client: socket.socket, losing: Event) -> None:
        # A client has one request under way at a time: what comes from the server after a request is its reply.
        with suppress(OSError):
            while answered := server.recv(1 << 20):
                if losing.is_set():
                    self.lost.set()
                    break
                client.sendall(answered)
        _end(client, server)


def _end(*connections: socket.socket) -> None:
    for connection in connections:
        with suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)
        connection.close()
