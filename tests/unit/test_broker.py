"""What Celery is told about each kind of broker."""

import ast
from pathlib import Path

import pytest

from events.runtime.queues import Queue
from events.runtime.settings import Settings
from workers.broker import MAX_TASK_S, QueueConsumer, broker_configuration
from workers.celery_app import FLEET_SLICES, make_app
from workers.worker import make_worker_app

ROOT = Path(__file__).parents[2]
WAITING = {"eta", "countdown", "apply_async", "retry_backoff", "autoretry_for"}


def settings_with(broker_url: str) -> Settings:
    return Settings("redis://store.example/0", broker_url, "rk:", "", False, None)


@pytest.mark.parametrize("url", ["amqp://guest@mq.example//", "amqps://mq.example/club"])
def test_on_rabbitmq_every_queue_is_a_quorum_queue_and_every_task_is_confirmed(url: str) -> None:
    configuration = broker_configuration(settings_with(url))
    assert configuration["broker_url"] == url
    assert configuration["task_queues"].keys() == {f"rk:{queue}" for queue in Queue}
    assert configuration["broker_transport_options"] == {"confirm_publish": True}
    queues = make_app(settings_with(url)).amqp.queues
    assert {name: queue.queue_arguments for name, queue in queues.items()} == {
        f"rk:{queue}": {"x-queue-type": "quorum", "x-delivery-limit": 10} for queue in Queue
    }


def test_on_redis_queues_have_no_arguments_and_installations_keep_their_books_apart() -> None:
    configuration = broker_configuration(settings_with("redis://broker.example/1"))
    assert all(queue["queue_arguments"] == {} for queue in configuration["task_queues"].values())
    options = configuration["broker_transport_options"]
    assert {options[name] for name in ("unacked_key", "unacked_index_key", "unacked_mutex_key")} == {
        "rk:unacked",
        "rk:unacked-index",
        "rk:unacked-mutex",
    }


def test_under_sentinel_the_name_of_what_is_watched_is_an_option_of_the_transport() -> None:
    url = "sentinel://one:26379/1;sentinel://two:26379/1"
    configuration = broker_configuration(settings_with(f"{url}?master_name=club"))
    assert configuration["broker_url"] == url
    assert configuration["broker_transport_options"]["master_name"] == "club"


def test_a_worker_makes_no_queues_for_tasks_that_wait_in_the_broker() -> None:
    steps = QueueConsumer.Blueprint.default_steps
    assert len(steps) > 5
    assert not [step for step in steps if "delayed" in step]
    assert make_app(settings_with("amqp://mq.example")).conf.worker_consumer is QueueConsumer


def test_no_task_takes_longer_than_half_of_what_makes_redis_give_it_to_a_second_worker() -> None:
    app = make_worker_app(settings_with("redis://broker.example/1"))
    timeout = app.conf.broker_transport_options["visibility_timeout"]
    limits = {name: task.time_limit or app.conf.task_time_limit for name, task in app.tasks.items()}
    # A slice of a fleet job has a lease in the store: a second worker takes another slice.
    assert {name for name, limit in limits.items() if limit > timeout / 2} == {FLEET_SLICES}
    assert timeout == 2 * MAX_TASK_S


@pytest.mark.parametrize("folder", ["api", "deploy", "events", "workers"])
def test_no_task_waits_in_the_broker_for_an_instant(folder: str) -> None:
    found = []
    for path in sorted((ROOT / folder).rglob("*.py")):
        text = path.read_text()
        if "celery" not in text and "send_task" not in text and "_send(" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            name = node.arg if isinstance(node, ast.keyword) else node.attr if isinstance(node, ast.Attribute) else ""
            if name in WAITING:
                found.append(f"{path.relative_to(ROOT)}:{node.lineno}")  # type: ignore[attr-defined]
    assert found == []
