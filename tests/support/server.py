"""A real Valkey or Redis for tests, with the product's own configuration, in a directory of its own."""

import signal
import socket
import subprocess
from pathlib import Path

from deploy.local.child import bound_to_parent
from deploy.local.embedded import EVERYSEC, DataDirectory, find_binary, server_command
from events.runtime.connections import StoreClient, connect

STARTS = 5


class RealServer:
    """A server that keeps its directory over kills and starts; it ends with the process of the tests at the latest.

    ``options`` are further arguments of the server, such as ``--cluster-enabled yes``. ``fsync`` is ALWAYS or EVERYSEC;
    nobody flushes what is written with the latter: a test does not cut the power.
    """

    def __init__(self, directory: Path, *options: str, fsync: str = EVERYSEC) -> None:
        self._options = options
        self._fsync = fsync
        self._binary = find_binary()
        self._directory = DataDirectory(directory, self._binary)
        self._process: subprocess.Popen[bytes] | None = None
        self.port = 0
        self.start()

    @property
    def url(self) -> str:
        """The URL of the server's first database; it stays the same over restarts."""
        return f"redis://127.0.0.1:{self.port}/0"

    @property
    def pid(self) -> int:
        """The process id of the running server."""
        assert self._process is not None
        return self._process.pid

    def client(self) -> StoreClient:
        """Return a new client as the product makes them."""
        return connect(self.url)

    def start(self) -> None:
        """Start the server and wait until it answers."""
        for _ in range(1 if self.port else STARTS):
            port = self.port or _free_port()
            command = server_command(self._binary, self._directory, port, self._fsync)
            self._process = subprocess.Popen(bound_to_parent([*command, *self._options]), stdout=subprocess.DEVNULL)
            if self._answers(port):
                self.port = port
                return
        raise RuntimeError("the server for the tests does not start")

    def kill(self) -> None:
        """End the server with SIGKILL, in the middle of whatever it does."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """Ask the server to stop, and wait for it."""
        self._end(signal.SIGTERM)

    def close(self) -> None:
        """Stop the server and give its directory up."""
        if self._process is not None:
            self.stop()
        self._directory.release()

    def _end(self, sign: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(sign)
        self._process.wait()
        self._process = None

    def _answers(self, port: int) -> bool:
        assert self._process is not None
        while True:
            try:
                with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
                    connection.sendall(b"PING\r\n")
                    if connection.recv(64).startswith(b"+PONG"):
                        return True
            except OSError:
                pass
            try:
                self._process.wait(0.005)
                return False
            except subprocess.TimeoutExpired:
                continue


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
