"""A TCP proxy between a client and its server that can lose one reply."""

import socket
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
        """Close all connections."""
        self._listener.close()
        for connection in self._connections:
            connection.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self._target))
            self._connections += [client, server]
            Thread(target=self._serve, args=(client, server), daemon=True).start()

    def _serve(self, client: socket.socket, server: socket.socket) -> None:
        # A client of these tests has one request under way at a time and requests fit one segment: whatever comes
        # from the server after a request is its reply.
        try:
            while asked := client.recv(1 << 20):
                losing = self._part is not None and self._part in asked
                server.sendall(asked)
                answered = server.recv(1 << 20)
                if losing:
                    self._part = None
                    self.lost.set()
                    break
                client.sendall(answered)
        except OSError:
            pass
        finally:
            client.close()
            server.close()
