"""How long it takes until opponents answer again after a broker has lost all of its tasks.

Matches owe an answer of an opponent each; their tasks are enqueued, the broker loses everything, and then relay and
worker start. The yardstick is the same without the loss. What is lost is asked for again ten seconds after it has
become due, at the next sweep.
"""

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

from kombu.connection import Connection

from events.runtime.connections import connect
from events.runtime.settings import Settings
from events.runtime.wall_clock import now_ms
from tests.bench.measure import Table, percentile
from tests.support.celery_worker import CeleryWorker
from tests.support.rabbitmq import RabbitMQ, find_rabbitmq
from tests.support.relays import running
from tests.support.server import RealServer
from tests.support.stepped_installation import SteppedInstallation, drain
from workers.broker import queue_names
from workers.composition import make_task_queue
from workers.relay import Relay

MATCHES = 50
MAX_WAIT_S = 120


def tables() -> Iterator[Table]:
    table = Table(f"Answers to {MATCHES} matches, from the start of relay and worker", "", "first s", "p99 s", "last s")
    with ExitStack() as stack:

        def new_directory() -> Path:
            return Path(stack.enter_context(tempfile.TemporaryDirectory()))

        servers = RealServer(new_directory()), RealServer(new_directory())
        for server in servers:
            stack.callback(server.close)
        brokers: dict[str, tuple[str, Callable[[Settings], None]]] = {"Redis": (servers[1].url, _empty_redis)}
        if (script := find_rabbitmq()) is not None:
            rabbitmq = RabbitMQ(script, new_directory())
            stack.callback(rabbitmq.close)
            brokers["RabbitMQ"] = (rabbitmq.url, _empty_rabbitmq)
        for name, (url, empty) in brokers.items():
            for what, loses in (("nothing lost", False), ("everything lost", True)):
                servers[0].client().flushall()
                waits = _measure(servers[0].url, url, empty if loses else None)
                table.add(
                    f"{name}, {what}", *(f"{wait:.2f}" for wait in (waits[0], percentile(waits, 0.99), waits[-1]))
                )
    yield table


def _measure(store_url: str, broker_url: str, empty: Callable[[Settings], None] | None) -> list[float]:
    shop = SteppedInstallation(store_url)
    shop.parts.settings = settings = shop.settings._replace(broker_url=broker_url)
    shop.now = now_ms()
    matches = [shop.start("opponent-1", "alice") for _ in range(MATCHES)]
    shop.project_all()
    tasks = make_task_queue(shop.parts)
    drain(shop.opponents())
    for match in shop.answers:
        tasks.request_answer(match)
    if empty is not None:
        empty(settings)
    waits: list[float] = []
    waiting = set(matches)
    start = time.perf_counter()
    with running(Relay(settings)), CeleryWorker(settings):
        while waiting and time.perf_counter() < start + MAX_WAIT_S:
            answered = {match for match in waiting if shop.store.head(match).version > 2}
            waits += [time.perf_counter() - start] * len(answered)
            waiting -= answered
            time.sleep(0.05)
    if waiting:
        raise RuntimeError(f"{len(waiting)} matches wait for more than {MAX_WAIT_S} s")
    return waits


def _empty_redis(settings: Settings) -> None:
    connect(settings.broker_url).flushdb()


def _empty_rabbitmq(settings: Settings) -> None:
    with Connection(settings.broker_url) as connection, connection.channel() as channel:
        for name in queue_names(settings.prefix):
            channel.queue_purge(name)
