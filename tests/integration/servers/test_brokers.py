"""The same tasks over RabbitMQ and over Redis, each a real one."""

import itertools
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from amqp.exceptions import NotFound  # type: ignore[import-untyped]
from kombu.connection import Connection
from kombu.exceptions import OperationalError

from events.runtime.queues import Queue
from tests.support.broker_work import check_tasks_over
from tests.support.pauses import Load
from tests.support.rabbitmq import RabbitMQ, find_rabbitmq
from tests.support.server import RealServer
from tests.support.stepped_installation import SteppedInstallation
from workers.composition import make_task_queue

PUBLISHERS = 10
"""The number of connections in the pool of a Celery application."""


@pytest.fixture
def shop(server: RealServer, monkeypatch: pytest.MonkeyPatch) -> SteppedInstallation:
    monkeypatch.setattr("workers.relay.SWEEP_INTERVAL_S", 0.2)
    return SteppedInstallation(server.url)


@pytest.fixture
def rabbitmq(tmp_path: Path) -> Iterator[RabbitMQ]:
    script = find_rabbitmq()
    if script is None:
        pytest.skip("RabbitMQ is not installed here: tests/programs.sh says why (Debian: rabbitmq-server)")
    broker = RabbitMQ(script, tmp_path)
    yield broker
    broker.close()


def test_every_worker_does_its_tasks_over_rabbitmq(shop: SteppedInstallation, rabbitmq: RabbitMQ) -> None:
    shop.parts.settings = settings = shop.settings._replace(broker_url=rabbitmq.url)
    check_tasks_over(shop, settings)
    with Connection(rabbitmq.url) as connection:
        channel = connection.channel()
        left = {
            queue: channel.queue_declare(queue.name_in_broker(settings.prefix), passive=True).message_count
            for queue in Queue
        }
        assert left == dict.fromkeys(Queue, 0)
        # A user of RabbitMQ who may use nothing but what begins with the prefix is enough.
        for others, kind in (("celery_delayed_27", "topic"), ("celeryev", "topic"), ("celery.pidbox", "fanout")):
            with pytest.raises(NotFound):
                connection.channel().exchange_declare(others, kind, passive=True)


def test_every_worker_does_its_tasks_over_redis(shop: SteppedInstallation) -> None:
    check_tasks_over(shop, shop.settings)


def test_late_confirmations_of_rabbitmq_count_for_no_other_task(shop: SteppedInstallation, rabbitmq: RabbitMQ) -> None:
    shop.parts.settings = settings = shop.settings._replace(broker_url=rabbitmq.url)
    tasks, counts = make_task_queue(shop.parts), dict[str, Iterator[int]]()
    confirmed = set[str]()

    def enqueue(name: str) -> None:
        task = f"{name}-{next(counts.setdefault(name, itertools.count()))}"
        tasks.request_rating(task)
        confirmed.add(task)

    # No thread waits for a connection of another: Celery's pool is unfair, and one could wait without end.
    load = Load(enqueue, (OperationalError,), threads=PUBLISHERS)
    load.check_pause(rabbitmq.pause, rabbitmq.resume)
    enqueued = set[str]()
    with Connection(rabbitmq.url) as connection:
        channel = connection.channel()
        while (message := channel.basic_get(Queue.DEFAULT.name_in_broker(settings.prefix), no_ack=True)) is not None:
            arguments, *_ = json.loads(message.body)
            enqueued.update(arguments)
    assert confirmed - enqueued == set()
