"""A worker of Celery: a process, or several, that does tasks."""

import os
from collections.abc import Sequence

from celery import Celery
from celery.signals import worker_process_init, worker_process_shutdown
from celery.utils.nodenames import default_nodename

from events.runtime import tracing
from events.runtime.exit_codes import exit_quickly
from events.runtime.logs import configure
from events.runtime.queues import Queue
from events.runtime.settings import Settings
from workers import celery_beats
from workers.celery_app import make_app
from workers.composition import DELIVERY_THREADS
from workers.fleet import presence
from workers.tasks import TaskContext, register

BACKGROUND = {Queue.FLEET, Queue.LONG_OPPONENTS}
"""The queues whose work is long, and gets the processor time that nothing else needs."""

BACKGROUND_NICENESS = 10


def make_worker_app(settings: Settings) -> Celery:
    """Return the Celery application of an installation with its tasks."""
    app = make_app(settings)
    register(app, TaskContext(settings))
    celery_beats.install(app)
    return app


def run_worker(settings: Settings, queues: Sequence[Queue], processes: int | None) -> int:
    """Do the tasks of ``queues`` in this process until SIGTERM; return the exit code.

    With ``processes`` in this number of child processes, which can be killed. A worker for notices has DELIVERY_THREADS
    threads, as one that hangs must not hold up the rest, and one more for each other queue.
    """
    configure()
    exit_quickly()
    pool, concurrency = ("solo", 1) if processes is None else ("prefork", processes)
    if Queue.NOTICES in queues and processes is None:
        pool, concurrency = "threads", DELIVERY_THREADS + len(queues) - 1
    part = f"worker-{queues[0]}"
    if pool == "prefork":
        worker_process_init.connect(lambda **_: tracing.start(settings.otlp_url, part), weak=False)
        worker_process_shutdown.connect(lambda **_: tracing.stop(), weak=False)
    else:
        tracing.start(settings.otlp_url, part)
    app = make_worker_app(settings)
    if Queue.FLEET in queues:
        presence.install(app, settings)
    if BACKGROUND.issuperset(queues):
        os.nice(BACKGROUND_NICENESS)
    worker = app.Worker(
        hostname=default_nodename(f"{queues[0]}@"),
        queues=[queue.name_in_broker(settings.prefix) for queue in queues],
        pool=pool,
        concurrency=concurrency,
        optimization="fair",
        loglevel="INFO",
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
    )
    try:
        worker.start()
    finally:
        tracing.stop()
    return int(worker.exitcode or 0)
