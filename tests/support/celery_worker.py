"""A real Celery worker in a process of its own, as an installation runs it."""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from types import TracebackType

from deploy.local.child import bound_to_parent
from events.runtime.connections import connect
from events.runtime.queues import Queue
from events.runtime.settings import Settings
from workers.broker import queue_names


def environment_of(settings: Settings) -> dict[str, str]:
    """Return the environment of a process that takes part in the installation with these settings."""
    return {
        **os.environ,
        "REDIS_URL": settings.redis_url,
        "BROKER_URL": settings.broker_url,
        "ROOKERY_PREFIX": settings.prefix,
        "ROOKERY_SHARDS": str(settings.shards),
        "ROOKERY_EGRESS_ALLOWED": ",".join(settings.egress_allowed),
    }


class CeleryWorker:
    """A worker for some queues of an installation, all by default; it begins to work a second or two after it was made.

    It ends with the process of the tests at the latest.
    """

    def __init__(self, settings: Settings, queues: Sequence[str] = tuple(Queue), quiet: bool = False) -> None:
        command, output = [sys.executable, "-m", "deploy.cli", "work", *queues], subprocess.DEVNULL if quiet else None
        environment = environment_of(settings)
        self._process = subprocess.Popen(bound_to_parent(command), env=environment, stdout=output, stderr=output)

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    def kill(self) -> None:
        """End the worker with SIGKILL, in the middle of whatever it does."""
        self._process.kill()
        self._process.wait()

    def __enter__(self) -> "CeleryWorker":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(20)
            except subprocess.TimeoutExpired:
                self.kill()


class Broker:
    def __init__(self, settings: Settings) -> None:
        self._client = connect(settings.broker_url)
        self._settings = settings

    def queued(self) -> int:
        """Return the number of tasks that no worker has taken yet."""
        return sum(int(self._client.llen(queue)) for queue in queue_names(self._settings.prefix))

    def taken(self) -> int:
        """Return the number of tasks that a worker has taken and not finished."""
        return int(self._client.hlen(f"{self._settings.prefix}unacked"))

    def lose_everything(self) -> None:
        """Forget all tasks, as a broker does that restarts without its last second."""
        self._client.flushdb()
