"""The workers that a command starts for its job where no worker of the fleet runs."""

import os
import signal
import subprocess
import sys
import tempfile
from types import TracebackType
from typing import IO, Self

from deploy.cli.errors import CliError
from deploy.local.child import bound_to_parent, signal_group
from deploy.local.environment import ROOT, child_environment
from events.installation import Installation
from events.runtime.queues import Queue
from workers.fleet.presence import worker_name

MAX_RESTARTS = 10
LOG_BYTES = 2000


class OwnWorkers:
    """Celery workers for the queue ``fleet`` as child processes: ``wanted`` of them, once they are started.

    They end with the ``with`` block, and with this process. Crash-safe: what they were doing is taken by others.
    """

    def __init__(self, installation: Installation, wanted: int) -> None:
        self.wanted = wanted
        self._jobs = installation.fleet_jobs
        self._environment = child_environment(installation.settings)
        self._children: list[subprocess.Popen[bytes]] = []
        self._restarts = 0
        self._log: IO[bytes] | None = None

    @property
    def are_started(self) -> bool:
        """Whether they have been started."""
        return bool(self._children)

    @property
    def count(self) -> int:
        """How many have been started and run."""
        return len(self._children)

    def start(self) -> None:
        """Start them."""
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - it is open as long as the children run
        self._children = [self._spawn(self._log) for _ in range(self.wanted)]

    def restart_ended(self) -> None:
        """Start those again that have ended; raises CliError when that was done too often."""
        for place, child in enumerate(self._children):
            if child.poll() is None or self._log is None:
                continue
            self._jobs.forget_worker(worker_name(child.pid))
            self._restarts += 1
            if self._restarts > MAX_RESTARTS:
                raise CliError(f"the workers of this command end again and again:\n{self._log_tail(self._log)}")
            self._children[place] = self._spawn(self._log)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for child in self._children:
            signal_group(child.pid, signal.SIGKILL)
            child.wait()
            self._jobs.forget_worker(worker_name(child.pid))
        self._children = []
        if self._log is not None:
            self._log.close()

    def _spawn(self, log: IO[bytes]) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            bound_to_parent([sys.executable, "-m", "deploy.cli", "work", Queue.FLEET]),
            env=self._environment,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )

    def _log_tail(self, log: IO[bytes]) -> str:
        end = log.seek(0, os.SEEK_END)
        log.seek(max(0, end - LOG_BYTES))
        return log.read().decode(errors="replace")
