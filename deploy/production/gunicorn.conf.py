"""Configuration of gunicorn for the API; the stream process overrides the worker class and number of workers."""

import gc
import os
import resource
import shutil
import sys
from contextlib import suppress
from importlib import import_module
from typing import Any

from events.runtime import beats, tracing
from events.runtime.exit_codes import exit_quickly

worker_class = "deploy.production.web_worker.WebWorker"
workers = 2
threads = 8
keepalive = 75
"""In seconds: longer than the 60 s after which proxies usually close an idle connection."""

timeout = 60
graceful_timeout = 5
max_requests = 0
limit_request_line = 8190
limit_request_fields = 60
forwarder_headers = ""
secure_scheme_headers: dict[str, str] = {}
"""Path and scheme are those of the request line and of ``api.access.headers``, never those that a header claims."""

accesslog = None
errorlog = "-"
control_socket_disable = True
proc_name = "rookery"


# Until the application is loaded: to look for garbage among its modules takes an eighth of the time of a start.
gc.disable()

MAX_COUNTER_BYTES = 1024 * 1024
"""Disk space for the counters of a process: the initial size of their file in prometheus_client."""

ended: set[int] = set()
"""The workers that have ended; the next one to start keeps their counts (``api.counter_files``)."""


def on_starting(_: object) -> None:
    """Raise the limit of open files to that of the system, and clear the counters that the processes share."""
    exit_quickly()
    _, allowed = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, allowed))
    directory = os.environ.get("PROMETHEUS_MULTIPROC_DIR")
    if directory:
        shutil.rmtree(directory, ignore_errors=True)
        os.makedirs(directory)
        values: Any = sys.modules.get("prometheus_client.values")
        if values is not None:  # imported in a nursery, which has no such directory
            values.ValueClass = values.get_value_class()


def child_exit(_: object, worker: Any) -> None:
    """Remember that a worker has ended, for the next one."""
    ended.add(worker.pid)


def when_ready(server: Any) -> None:
    """Let the arbiter beat whenever it looks for silent workers, once a second.

    Exempt everything loaded so far from garbage collection, which would delay single requests by a tenth of a second.
    """
    gc.collect()
    gc.freeze()
    gc.enable()
    murder_workers = server.murder_workers

    def murder_workers_and_beat() -> None:
        murder_workers()
        beats.beat("arbiter")

    server.murder_workers = murder_workers_and_beat


def post_worker_init(worker: Any) -> None:
    """Let a worker beat whenever its main loop notifies gunicorn that it is alive, and collect its garbage from now."""
    gc.freeze()
    gc.enable()
    notify = worker.notify

    def notify_and_beat() -> None:
        notify()
        beats.beat("worker")

    worker.notify = notify_and_beat
    directory = os.environ.get("PROMETHEUS_MULTIPROC_DIR")
    if directory and ended:
        import_module("api.counter_files").fold_ended(directory, ended)
    # Imported here: modules that gevent has not patched yet must not be loaded with the configuration.
    settings = import_module("events.runtime.settings").Settings.from_environment()
    tracing.start(settings.otlp_url, "stream" if type(worker).__name__ == "StreamWorker" else "api")


def worker_exit(_: object, __: object) -> None:
    """Send the traces that a worker has not sent yet."""
    tracing.stop()


def post_fork(_: object, worker: Any) -> None:
    """Allocate the counter file of a worker: writing to a mapped file on a full disk would kill the process.

    Without space the worker keeps its counters to itself. Garbage is not collected until its application is loaded.
    """
    gc.disable()
    directory = os.environ.get("PROMETHEUS_MULTIPROC_DIR")
    if directory and hasattr(os, "posix_fallocate"):  # not on macOS
        path = os.path.join(directory, f"counter_{os.getpid()}.db")
        try:
            with open(path, "ab") as file:
                os.posix_fallocate(file.fileno(), 0, MAX_COUNTER_BYTES)
        except OSError as error:
            with suppress(OSError):
                os.unlink(path)
            del os.environ["PROMETHEUS_MULTIPROC_DIR"]
            values: Any = sys.modules.get("prometheus_client.values")
            if values is not None:  # imported before the fork, with the files chosen
                values.ValueClass = values.MutexValue
            worker.log.warning("The requests of this worker are not included in /metrics: %s", error)
