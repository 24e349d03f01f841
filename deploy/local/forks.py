"""The supervisor's end of the nursery: parts are forked there, and watched here as if they were its own children."""

import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress

NURSERY = "nursery"
MODULE = "deploy.local.nursery"
POLL_INTERVAL_S = 0.02


def can_watch() -> bool:
    """Return whether this system can watch the children of other processes."""
    try:
        os.close(os.pidfd_open(os.getpid()))
    except (AttributeError, OSError):
        return False
    return True


class Forks:
    """Where processes are forked. Those requested while the nursery is being restarted are forked by the next one."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        """Describe a nursery with this environment; its process is started with ``command`` and ``descriptor``."""
        self._environment = environment
        self._requests, self._nurserys_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._requests.setblocking(False)  # the supervisor waits for nobody
        self.descriptor = self._nurserys_end.fileno()
        self.command = [sys.executable, "-m", MODULE, str(self.descriptor)]

    def fork(
        self, name: str, arguments: Sequence[str], environment: Mapping[str, str], log: int, beats: int | None
    ) -> "Forked":
        """Have ``python -m ARGUMENTS`` forked, with output in ``log`` and beats into ``beats``; raises OSError."""
        changed = {key: value for key, value in environment.items() if self._environment.get(key) != value}
        request = {"name": name, "arguments": arguments, "environment": changed}
        report, nurserys_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        descriptors = [nurserys_end.fileno(), log, *(() if beats is None else (beats,))]
        with nurserys_end:
            socket.send_fds(self._requests, [json.dumps(request).encode()], descriptors)
        return Forked(report)

    def close(self) -> None:
        """Let the nursery end."""
        self._requests.close()
        self._nurserys_end.close()


class Forked:
    """A process that was asked for, with the part of ``subprocess.Popen`` that its supervisor needs."""

    def __init__(self, report: socket.socket) -> None:
        """Watch the process of ``report``, which has no ``pid`` before it is forked."""
        self.pid: int | None = None
        self.returncode: int | None = None
        self._report = report
        self._end: int | None = None

    def poll(self) -> int | None:
        """Return the status with which the process has ended, None while it runs or is still to be forked."""
        while self.returncode is None and _is_ready(self._report.fileno()):
            message, descriptors, _, _ = socket.recv_fds(self._report, 32, 1)
            if descriptors:
                self.pid, self._end = int(message), descriptors[0]
            elif message:
                self._close(int(message))
            elif self._end is None or _is_ready(self._end):
                self._close(-signal.SIGTERM)
            else:
                break
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Return the status when the process has ended; raises subprocess.TimeoutExpired."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while (status := self.poll()) is None:
            if deadline is not None and time.monotonic() >= deadline:
                raise subprocess.TimeoutExpired("", timeout or 0.0)
            time.sleep(POLL_INTERVAL_S)
        return status

    def terminate(self) -> None:
        """Ask the process to stop; one that is still to be forked will end before it does anything."""
        if self.poll() is None and self._end is None:
            # Its reports until now are still received, later ones are refused.
            self._report.shutdown(socket.SHUT_RD)
        if self.poll() is None and self._end is not None:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._end, signal.SIGTERM)

    def _close(self, status: int) -> None:
        self.returncode = status
        self._report.close()
        if self._end is not None:
            os.close(self._end)


def _is_ready(descriptor: int) -> bool:
    ready = select.poll()
    ready.register(descriptor, select.POLLIN)
    return bool(ready.poll(0))
