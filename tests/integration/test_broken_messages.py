"""What is no message in the queue of a broker does not end the worker that takes it."""

from events.runtime.connections import connect
from events.runtime.queues import Queue
from tests.support.celery_worker import CeleryWorker
from tests.support.eventually import eventually
from tests.support.stepped_installation import SteppedInstallation
from workers.task_queue import TaskQueue

BROKEN = (b"garbage", b"\xff\xfe", b"[]", b"{}", b'{"body": "x", "headers": {}, "properties": {}}', b"null")


def test_broken_messages_are_dropped_and_the_worker_goes_on(shop: SteppedInstallation) -> None:
    with connect(shop.settings.broker_url) as broker:
        for message in BROKEN:
            broker.lpush(Queue.DEFAULT.name_in_broker(shop.settings.prefix), message)
        TaskQueue(shop.parts).request_checkpoint()
        with CeleryWorker(shop.settings, [Queue.DEFAULT]) as worker:
            eventually(lambda: shop.checkpoints.latest_day(), "the checkpoint")
            assert worker.is_running
