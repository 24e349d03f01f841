"""The presence of the workers of the fleet: each reports while its main loop runs or it renews a lease."""

import os
import socket
from contextlib import suppress
from functools import cache
from typing import Any

import structlog
from celery import Celery, bootsteps

from events.matches.fleet_jobs import FleetJobs
from events.runtime.connections import connect
from events.runtime.errors import StoreError
from events.runtime.settings import Settings

REPORT_INTERVAL_S = 5.0

log = structlog.get_logger("fleet")


@cache
def own_name() -> str:
    """Return the name of this worker, which the processes of its pool share."""
    return worker_name(os.getpid())


def worker_name(pid: int) -> str:
    """Return the name of the worker on this machine whose process is ``pid``."""
    return f"{socket.gethostname()}-{pid}"


def install(app: Celery, settings: Settings) -> None:
    """Make the worker of ``app`` report that it runs."""
    name = own_name()
    jobs = FleetJobs(connect(settings.redis_url), settings.prefix)

    def report() -> None:
        try:
            jobs.report_worker(name)
        except StoreError as error:
            log.warning("cannot report", error=str(error))

    class Presence(bootsteps.StartStopStep):  # type: ignore[misc]
        """Reports while the main loop runs."""

        def __init__(self, parent: Any, **options: Any) -> None:
            super().__init__(parent, **options)
            self._timer: Any = None

        def start(self, parent: Any) -> None:
            """Begin to report."""
            report()
            self._timer = parent.timer.call_repeatedly(REPORT_INTERVAL_S, report)

        def stop(self, _: Any) -> None:
            """Stop reporting."""
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
            with suppress(StoreError):
                jobs.forget_worker(name)

    app.steps["consumer"].add(Presence)
