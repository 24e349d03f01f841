"""Load on a server that hangs for a while and goes on: every reply must belong to its command."""

import threading
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

from kombu.connection import Connection
from kombu.exceptions import OperationalError
from kombu.messaging import Producer

from events.runtime.connections import StoreClient, StorePipeline
from events.runtime.errors import StoreError
from events.runtime.scripts import Script
from events.runtime.settings import Settings
from events.runtime.transactions import transact
from tests.support.eventually import eventually, working
from workers.broker import broker_configuration

THREADS = 16
ROUNDS_AFTERWARDS = 40


class Load:
    """Threads that do the same work over and over, each under a name of its own.

    ``work`` raises one of ``refusals`` when it cannot be done now; whatever else it raises is a fault.
    """

    def __init__(
        self, work: Callable[[str], None], refusals: tuple[type[Exception], ...], threads: int = THREADS
    ) -> None:
        self._work = work
        self._refusals = refusals
        self._end = threading.Event()
        self.names = [f"{number}" for number in range(threads)]
        self.done: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.faults: list[str] = []

    def running(self) -> AbstractContextManager[None]:
        return working([partial(self._run, name) for name in self.names], self._end)

    def await_rounds(self, rounds: int) -> None:
        """Wait until each thread has worked ``rounds`` times more, or there is a fault."""
        before = self.done.copy()
        eventually(
            lambda: self.faults or all(self.done[name] >= before[name] + rounds for name in self.names),
            "the work of all threads",
        )

    def check_pause(self, pause: Callable[[], None], resume: Callable[[], None]) -> None:
        """Pause the server until each thread was refused, let it go on, and fail on the first fault."""
        with self.running():
            self.await_rounds(1)
            pause()
            try:
                eventually(lambda: self.faults or len(self.refused) == len(self.names), "a refusal of all threads")
            finally:
                resume()
            self.await_rounds(ROUNDS_AFTERWARDS)
        assert self.faults == []

    def _run(self, name: str) -> None:
        while not self._end.is_set():
            try:
                self._work(name)
            except self._refusals:
                self.refused[name] += 1
            except Exception as error:
                self.faults.append(f"{name}: {error!r}")
                return
            else:
                self.done[name] += 1


def check_replies(client: StoreClient, pause: Callable[[], None], resume: Callable[[], None]) -> None:
    """Read through one client from many threads, with every kind of call, while the server hangs and goes on."""
    echo = Script(client, "return {KEYS[1], redis.call('GET', KEYS[1])}")
    names = [f"{number}" for number in range(THREADS)]
    for name in names:
        client.set(f"text-{name}", name)
        client.hset(f"hash-{name}", "name", name)

    def read(name: str) -> None:
        own, text = name.encode(), f"text-{name}"
        assert client.get(text) == own
        assert client.hgetall(f"hash-{name}") == {b"name": own}
        assert echo(keys=[text]) == [text.encode(), own]
        with client.pipeline(transaction=False) as pipeline:  # on a cluster it goes to all servers
            for each in (name, *names):
                pipeline.get(f"text-{each}")
            assert pipeline.execute() == [each.encode() for each in (name, *names)]
        with client.pipeline(transaction=True) as pipeline:
            pipeline.watch(text)
            assert pipeline.get(text) == own
            pipeline.multi()
            pipeline.get(text)
            pipeline.strlen(text)
            assert pipeline.execute() == [own, len(own)]

    Load(read, (StoreError,)).check_pause(pause, resume)


def check_messages(settings: Settings, pause: Callable[[], None], resume: Callable[[], None]) -> None:
    """Put messages into queues of a broker and take them out, from many threads, while it hangs and goes on.

    Each thread has a queue and a connection of its own, made as Celery makes it.
    """
    configuration = broker_configuration(settings)
    transport_options = {**configuration["broker_transport_options"], "socket_timeout": 1}
    channels: dict[str, Any] = {}

    def channel_of(name: str) -> Any:
        connection: Any = Connection(configuration["broker_url"], transport_options=transport_options)
        channel = connection.channel()
        channel.queue_declare(queue=f"paused-{name}")
        return channel

    def exchange(name: str) -> None:
        channel = channels.get(name) or channels.setdefault(name, channel_of(name))
        queue = f"paused-{name}"
        message = channel.basic_get(queue, no_ack=True)
        assert message is None or message.payload == name
        assert isinstance(channel.queue_declare(queue=queue).message_count, int)
        Producer(channel).publish(name, routing_key=queue, exchange="")

    errors = Connection(configuration["broker_url"]).recoverable_connection_errors
    Load(exchange, (*errors, OperationalError)).check_pause(pause, resume)


def check_lost_watch(client: StoreClient, other: StoreClient, break_connections: Callable[[], object]) -> None:
    """Break the connection of a transaction between WATCH and EXEC while another client writes: it decides again."""
    client.set("{match}:count", 1)
    read: list[int] = []

    def add_one(pipeline: StorePipeline) -> None:
        read.append(int(pipeline.get("{match}:count") or 0))
        if len(read) == 1:
            break_connections()
            other.set("{match}:count", 10)
        pipeline.multi()
        pipeline.set("{match}:count", read[-1] + 1)

    transact(client, ["{match}:count"], add_one)
    assert (read, client.get("{match}:count")) == ([1, 10], b"11")
