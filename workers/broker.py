"""The settings of Celery about the broker: queues and connections, on RabbitMQ and on Redis.

No task waits in the broker for an instant (no ETA): Redis gives one that waits longer than ``visibility_timeout`` to a
second worker.
"""

from typing import Any, ClassVar

from celery.worker.consumer import Consumer

from events.runtime.keys import InstallationKeys
from events.runtime.queues import Queue
from events.runtime.settings import MASTER_NAME, Settings

MAX_TASK_S = 120
"""No task takes longer, except those of the fleet and long searches; it is ended then and enqueued again."""

MAX_DELIVERIES = 10
"""RabbitMQ drops a task that has ended this number of workers."""

MAX_CONFIRMATION_S = 5.0
"""RabbitMQ has stored a task on most of its nodes by then, or it counts as not enqueued."""

AMQP = ("amqp", "amqps", "pyamqp")


class QueueConsumer(Consumer):  # type: ignore[misc]
    """Celery's consumer without the 28 exchanges and queues for delayed tasks that it makes beside quorum queues."""

    class Blueprint(Consumer.Blueprint):  # type: ignore[misc]
        """The steps of a consumer."""

        default_steps: ClassVar = [step for step in Consumer.Blueprint.default_steps if "delayed_delivery" not in step]


def queue_names(prefix: str) -> tuple[str, ...]:
    """Return the names that the queues of an installation have in the broker."""
    return tuple(queue.name_in_broker(prefix) for queue in Queue)


def broker_configuration(settings: Settings) -> dict[str, Any]:
    """Return the part of Celery's configuration that concerns the broker of an installation."""
    # The name of the master that sentinels watch is an option of the transport, not of Celery's URL.
    url, _, master_name = settings.broker_url.partition(f"?{MASTER_NAME}=")
    on_rabbitmq = url.partition(":")[0] in AMQP
    arguments = {"x-queue-type": "quorum", "x-delivery-limit": MAX_DELIVERIES} if on_rabbitmq else {}
    default = Queue.DEFAULT.name_in_broker(settings.prefix)
    return {
        "broker_url": url,
        "broker_transport_options": (
            # A task is enqueued when most nodes have it on their disks, not when it is on its way there.
            {"confirm_publish": True} if on_rabbitmq else _redis_options(settings.prefix, master_name)
        ),
        "task_queues": {
            name: {"exchange": name, "routing_key": name, "queue_arguments": arguments}
            for name in queue_names(settings.prefix)
        },
        "task_default_queue": default,
        "task_default_exchange": default,
        "task_default_routing_key": default,
        "task_create_missing_queues": False,
        "worker_consumer": QueueConsumer,
        "broker_connection_retry_on_startup": True,
        "broker_connection_max_retries": None,
    }


def _redis_options(prefix: str, master_name: str) -> dict[str, Any]:
    keys = InstallationKeys(prefix)
    return {
        # Longer than the longest task: one that takes longer would be given to a second worker. Of the fleet one may,
        # which only wakes that worker: the work to do stands in the store.
        "visibility_timeout": 2 * MAX_TASK_S,
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
        **({"master_name": master_name} if master_name else {}),
    }
