"""Celery as this installation uses it: short tasks, acknowledged once their effect is stored."""

from celery import Celery

from events.runtime.queues import Queue
from events.runtime.settings import Settings
from workers import broker_messages
from workers.broker import MAX_TASK_S, broker_configuration

ANSWER = "rookery.answer-next"
RATE = "rookery.rate"
SETTLE = "rookery.settle-ratings"
CHECKPOINT = "rookery.checkpoint"
COSIGN = "rookery.cosign"
JOB = "rookery.job"
DELIVER = "rookery.deliver"
READ_MAIL = "rookery.read-mail"
FLEET_SLICES = "rookery.fleet-slices"


def make_app(settings: Settings) -> Celery:
    """Return the Celery application of an installation, without its tasks; it connects when it is first used."""
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
            # Work that people request is kept apart from work that must not wait for it: ratings and checkpoints.
            **{name: {"queue": Queue.FLEET.name_in_broker(settings.prefix)} for name in (JOB, FLEET_SLICES)},
        },
        # Crash-safe: a task is removed from the broker when its effect is stored, not when it begins, so the tasks of a
        # killed worker come back. The sweeper finds the tasks that the broker itself loses.
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
    return app
