"""Celery as this installation uses it: short tasks, acknowledged once their effect is stored."""

from collections.abc import Sequence

from celery import Celery
from celery.utils.nodenames import default_nodename

from events.runtime.exit_codes import exit_quickly
from events.runtime.keys import InstallationKeys
from events.runtime.logs import configure
from events.runtime.queues import Queue
from events.runtime.settings import Settings
from workers import celery_beats
from workers.fair_queue import QUICK, SLOW
from workers.tasks import CHECKPOINT, DELIVER, JOB, RATE, READ_MAIL, register

ANSWER_SECONDS = 120
"""No opponent searches for longer; its task is ended and enqueued again."""

DELIVERY_THREADS = 8

OPPONENTS = {QUICK: Queue.QUICK_OPPONENTS, SLOW: Queue.OPPONENTS}
"""The queue of each lane: its tasks are hints that a match waits there."""


def queue_names(prefix: str) -> tuple[str, ...]:
    """Return the names that the queues of an installation have in the broker."""
    return tuple(queue.name_in_broker(prefix) for queue in Queue)


def make_app(settings: Settings) -> Celery:
    """Return the Celery application of an installation; it connects when it is first used."""
    keys = InstallationKeys(settings.prefix)
    default = Queue.DEFAULT.name_in_broker(settings.prefix)
    app = Celery("rookery", broker=settings.broker_url)
    app.conf.update(
        accept_content=["json"],
        task_serializer="json",
        result_backend=None,
        task_ignore_result=True,
        task_queues={name: {"exchange": name, "routing_key": name} for name in queue_names(settings.prefix)},
        task_default_queue=default,
        task_default_exchange=default,
        task_default_routing_key=default,
        task_create_missing_queues=False,
        task_routes={
            **{name: {"queue": default} for name in (RATE, CHECKPOINT, JOB)},
            **{name: {"queue": Queue.NOTICES.name_in_broker(settings.prefix)} for name in (DELIVER, READ_MAIL)},
        },
        # Crash-safe: a task is removed from the broker when its effect is stored, not when it begins, so the tasks of a
        # killed worker come back. The sweeper finds what the broker itself loses.
        task_acks_late=True,
        task_reject_on_worker_lost=True,
        worker_prefetch_multiplier=1,
        task_time_limit=ANSWER_SECONDS,
        broker_transport_options={
            # Longer than the longest task: one that takes longer would be given to a second worker.
            "visibility_timeout": 2 * ANSWER_SECONDS,
            "unacked_restore_interval": 5,
            "unacked_restore_throttle": 1,
            "unacked_mutex_expire": 15,
            # Installations may share a broker: its bookkeeping is separate, like its queues.
            "unacked_key": keys.unacked,
            "unacked_index_key": keys.unacked_index,
            "unacked_mutex_key": keys.unacked_mutex,
            # Without these a publisher or a worker can wait without end on a connection that is dead.
            "socket_timeout": 5,
            "socket_connect_timeout": 2,
            "socket_keepalive": True,
        },
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
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
    register(app, settings)
    celery_beats.install(app)
    return app


def run_worker(settings: Settings, queues: Sequence[Queue], processes: int | None) -> int:
    """Do the tasks of ``queues`` in this process until SIGTERM; return the exit code.

    With ``processes`` tasks run in that many child processes, which can be killed when they exceed the time limit;
    without, in this one. A worker for notices has DELIVERY_THREADS threads instead: they wait for other servers, and
    one that hangs must not hold up the rest. Celery's own command line takes longer to load than all the rest.
    """
    configure()
    exit_quickly()
    pool, concurrency = ("solo", 1) if processes is None else ("prefork", processes)
    if Queue.NOTICES in queues and processes is None:
        pool, concurrency = "threads", DELIVERY_THREADS
    worker = make_app(settings).Worker(
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
    worker.start()
    return int(worker.exitcode or 0)
