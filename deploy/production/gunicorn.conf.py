"""How gunicorn serves the API; the stream process overrides the kind and number of its workers on the command line."""

import gc
import os
import resource
import shutil
import sys
from contextlib import suppress
from typing import Any

from events.runtime import beats
from events.runtime.exit_codes import exit_quickly

worker_class = "deploy.production.web_worker.WebWorker"
workers = 2
threads = 8
keepalive = 75
"""Seconds: longer than the 60 s after which proxies usually give a connection up."""

timeout = 60
graceful_timeout = 5
max_requests = 0
limit_request_line = 8190
limit_request_fields = 60
forwarder_headers = ""
secure_scheme_headers: dict[str, str] = {}
"""Path and scheme are those of the request line and of ``api.access.proxies``, never what a header claims."""

accesslog = None
errorlog = "-"
control_socket_disable = True
proc_name = "rookery"


MAX_COUNTER_BYTES = 1024 * 1024
"""Room for the counters of a process: the size in which prometheus_client begins their file."""


def on_starting(_: object) -> None:
    """Let the processes open as many files as the system allows, and count together what /metrics shows."""
    exit_quickly()
    _, allowed = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, allowed))
    counted = os.environ.get("PROMETHEUS_MULTIPROC_DIR")
    if counted:
        shutil.rmtree(counted, ignore_errors=True)
        os.makedirs(counted)


def when_ready(server: Any) -> None:
    """Let the process that keeps the workers beat: it looks for silent ones once a second.

    What is loaded by now stays: the workers never search it for garbage, which would add a tenth of a second to the
    requests in which that happens.
    """
    gc.collect()
    gc.freeze()
    look = server.murder_workers

    def look_and_beat() -> None:
        look()
        beats.beat("arbiter")

    server.murder_workers = look_and_beat


def post_worker_init(worker: Any) -> None:
    """Let a worker beat whenever its main loop turns, which is when it tells gunicorn that it lives."""
    notify = worker.notify

    def notify_and_beat() -> None:
        notify()
        beats.beat("worker")

    worker.notify = notify_and_beat


def post_fork(_: object, worker: Any) -> None:
    """Reserve the room for the counters of a worker: a mapped file that finds no room on the disk kills its process.

    Without room the worker counts for itself alone.
    """
    counted = os.environ.get("PROMETHEUS_MULTIPROC_DIR")
    if counted and hasattr(os, "posix_fallocate"):  # not on macOS
        path = os.path.join(counted, f"counter_{os.getpid()}.db")
        try:
            with open(path, "ab") as file:
                os.posix_fallocate(file.fileno(), 0, MAX_COUNTER_BYTES)
        except OSError as error:
            with suppress(OSError):
                os.unlink(path)
            del os.environ["PROMETHEUS_MULTIPROC_DIR"]
            values: Any = sys.modules.get("prometheus_client.values")
            if values is not None:  # imported, and the files chosen, before the fork
                values.ValueClass = values.MutexValue
            worker.log.warning("The requests of this worker are not counted with the others: %s", error)
