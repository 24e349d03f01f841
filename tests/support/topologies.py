"""Stores of several real servers on loopback, which can be killed and paused.

They run the server that the product carries, with short time limits, so that a failure is noticed within a second or
two. All of them end with the process of the tests at the latest.
"""

import signal
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from redis import Redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from tests.support.server import RealServer

HOST = "127.0.0.1"
REPLICATION = ("--repl-diskless-sync-delay", "0", "--repl-ping-replica-period", "1")
PATIENCE_S = 60


class Servers:
    """Several servers, each addressed by its number, that can be killed, paused and started again."""

    def __init__(self) -> None:
        self.servers: list[RealServer] = []
        self._paused: set[int] = set()
        self._killed: set[int] = set()
        self._connections: dict[int, Redis] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def connection(self, number: int) -> "Redis":
        """Return a plain client of one server, for the orders of an operator; it is not to be closed."""
        return self._at(self.servers[number].port)

    def ask(self, number: int, *command: Any) -> Any:
        return self.connection(number).execute_command(*command)

    def kill(self, number: int) -> None:
        self.resume(number)
        self.servers[number].kill()
        self._killed.add(number)

    def start(self, number: int) -> None:
        """Start a server that was killed, with its files and its port."""
        self.servers[number].start()
        self._killed.discard(number)

    def pause(self, number: int) -> None:
        """Stop a server with SIGSTOP: it keeps its connections and answers nothing."""
        self.servers[number].send(signal.SIGSTOP)
        self._paused.add(number)

    def resume(self, number: int) -> None:
        if number in self._paused:
            self.servers[number].send(signal.SIGCONT)
            self._paused.discard(number)

    def resume_all(self) -> None:
        for number in sorted(self._paused):
            self.resume(number)

    def revive(self) -> None:
        """Start the stopped servers and let the paused ones go on.

        Beside what was killed, that is what a thread had started that has ended: a server ends with its parent thread.
        """
        self.resume_all()
        for number, server in enumerate(self.servers):
            if not server.is_running:
                self.start(number)

    def close(self) -> None:
        for connection in self._connections.values():
            connection.close()
        for number in sorted(self._paused):
            self.resume(number)
        for server in self.servers:
            server.close()

    def _at(self, port: int) -> "Redis":
        if port not in self._connections:
            retry = Retry(NoBackoff(), 1)  # a connection that was idle while its server was started again
            self._connections[port] = Redis(port=port, socket_timeout=5, decode_responses=True, retry=retry)
        return self._connections[port]

    def _add(self, directory: Path, *options: str, fsync: str) -> None:
        self.servers.append(RealServer(directory, *options, fsync=fsync))
