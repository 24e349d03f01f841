"""Celery as this installation uses it: short tasks, acknowledged once their effect is stored."""

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
from workers import broker_messages, celery_beats
from workers.broker import MAX_TASK_S, broker_configuration
from workers.fleet import presence
from workers.tasks import CHECKPOINT, COSIGN, DELIVER, FLEET_SLICES, JOB, RATE, READ_MAIL, SETTLE, TaskContext, register

DELIVERY_THREADS = 12
FLEET_NICENESS = 10


def make_app(settings: Settings) -> Celery:
    """Return the Celery application of an installation; it connects when it is first used."""
    default = Queue.DEFAULT.name_in_broker(settings.prefix)
    broker_messages.install()
    app = Celery("rookery")
    app.conf.update(broker_configuration(settings))
    app.conf.update(
        accept_content=["json"],
        task_serializer="json",
        result_backend=None,
        task_ignore_result=True,
        task_routes={
            **{name: {"queue": default} for name in (RATE, SETTLE, CHECKPOINT)},
            **{name: {"queue": Queue.NOTICES.name_in_broker(settings.prefix)} for name in (DELIVER, READ_MAIL, COSIGN)},
            # What people ask for is done apart from what must not wait for it: ratings and checkpoints.
            **{name: {"queue": Queue.FLEET.name_in_broker(settings.prefix)} for name in (JOB, FLEET_SLICES)},
        },
        # Crash-safe: a task is removed from the broker when its effect is stored, not when it begins, so the tasks of a
        # killed worker come back. The sweeper finds what the broker itself loses.
        task_acks_late=True,
        task_reject_on_worker_lost=True,
        worker_prefetch_multiplier=1,
        task_time_limit=MAX_TASK_S,
        worker_cancel_long_running_tasks_on_connection_loss=True,
        worker_soft_shutdown_timeout=5,
        task_publish_retry=True,
        task_publish_retry_policy={"max_retries": 2, "interval_start": 0, "interval_step": 0.2, "interval_max": 0.5},
        worker_enable_remote_control=False,
        worker_send_task_events=False,
        worker_hijack_root_logger=False,
        worker_redirect_stdouts=False,
        enable_utc=True,
    )
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
    app = make_app(settings)
    if Queue.FLEET in queues:
        presence.install(app, settings)
    if set(queues) == {Queue.FLEET}:
        os.nice(FLEET_NICENESS)
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
