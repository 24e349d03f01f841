"""A real Valkey or Redis for tests, with the product's own configuration, in a directory of its own."""

import secrets
import shutil
import signal
import socket
import subprocess
from contextlib import ExitStack, suppress
from pathlib import Path

from deploy.local.child import bound_to_parent
from deploy.local.embedded import CONFIGURATION, EVERYSEC, DataDirectory, find_binary, server_command
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
        # A copy: a server writes what sentinels have it follow into its configuration.
        self._configuration = directory / CONFIGURATION.name
        if not self._configuration.exists():
            shutil.copy(CONFIGURATION, self._configuration)
        self._process: subprocess.Popen[bytes] | None = None
        self.port = 0
        self.start()

    @property
    def url(self) -> str:
        """The URL of the server's first database; it stays the same over restarts."""
        return f"redis://127.0.0.1:{self.port}/0"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Whether the server's process runs, which may be paused."""
        return self._process is not None and self._process.poll() is None

    def append_only_file(self) -> Path:
        return max(
            self._directory.path.glob("appendonlydir/*.incr.aof"), key=lambda file: int(file.name.split(".")[-3])
        )

    def client(self) -> StoreClient:
        return connect(self.url)

    def start(self) -> None:
        for _ in range(1 if self.port else STARTS):
            port = self.port or free_ports(1)[0]
            command = server_command(self._binary, self._directory, port, self._fsync)
            command[command.index(str(CONFIGURATION))] = str(self._configuration)
            self._process = subprocess.Popen(bound_to_parent([*command, *self._options]), stdout=subprocess.DEVNULL)
            if self._answers(port):
                self.port = port
                return
        raise RuntimeError("the server for the tests does not start")

    def kill(self) -> None:
        """End the server with SIGKILL, in the middle of whatever it does."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        self._end(signal.SIGTERM)

    def close(self) -> None:
        """Stop the server and give its directory up."""
        if self._process is not None:
            self.stop()
        self._directory.release()

    def send(self, sign: signal.Signals) -> None:
        """Send a signal to the server, such as SIGSTOP, which the caller follows by SIGCONT."""
        assert self._process is not None
        self._process.send_signal(sign)

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


def free_ports(count: int) -> list[int]:
    """Return ports of the loopback on which no program listens now.

    They lie below those that systems give to connections: one of these could take a port before its server starts.
    """
    found: list[int] = []
    with ExitStack() as probes:
        while len(found) < count:
            port = 10_000 + secrets.randbelow(22_000)
            with suppress(OSError):
                probes.enter_context(socket.socket()).bind(("127.0.0.1", port))
                found.append(port)
    return found
