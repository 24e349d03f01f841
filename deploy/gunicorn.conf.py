"""How gunicorn serves the API; the stream process overrides the kind and number of its workers on the command line."""

import os
import shutil

worker_class = "deploy.web_worker.WebWorker"
workers = 2
threads = 8
keepalive = 75
"""Seconds: longer than the 60 s after which proxies usually give a connection up."""

timeout = 60
graceful_timeout = 5
max_requests = 0
limit_request_line = 8190
limit_request_fields = 60
accesslog = None
errorlog = "-"
control_socket_disable = True
proc_name = "rookery"


def on_starting(_: object) -> None:
    """Give the processes an empty directory in which they count together what /metrics shows."""
    counted = os.environ.get("PROMETHEUS_MULTIPROC_DIR")
    if counted:
        shutil.rmtree(counted, ignore_errors=True)
        os.makedirs(counted)


def child_exit(_: object, worker: object) -> None:
    """Keep the counters of a process that has ended, drop its gauges."""
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        from prometheus_client.multiprocess import mark_process_dead

        mark_process_dead(worker.pid)  # type: ignore[attr-defined, no-untyped-call]
