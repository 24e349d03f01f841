"""A broker that drops, doubles, delays and reorders tasks, and a worker that does what it delivers."""

from random import Random
from typing import Any

import structlog
from celery import Celery

from workers.tasks import TaskContext, register

MAX_DELAY_ROUNDS = 4

log = structlog.get_logger("faulty-broker")


class FaultyBroker(Celery):  # type: ignore[misc]
    """A Celery application whose tasks go through this broker; the same seed gives the same faults.

    A third of all tasks is lost, a third arrives twice, each after some rounds and in any order, as long as it is
    ``faulty``. ``done`` has the names of the tasks that were done, ``failed`` what they raised.
    """

    def __init__(self, seed: int, context: TaskContext) -> None:
        super().__init__("faulty", set_as_current=False)
        self.faulty = True
        self.sent = 0
        self.done: list[str] = []
        self.failed: list[Exception] = []
        self._chance = Random(seed)
        self._round = 0
        self._waiting: list[tuple[int, str, tuple[Any, ...]]] = []
        register(self, context)

    def send_task(self, name: str, args: tuple[Any, ...] = (), **options: Any) -> None:
        """Lose the task or let it wait, once or twice; refuses one that is to wait for an instant."""
        assert not options.keys() & {"eta", "countdown", "expires"}
        self.sent += 1
        copies = self._chance.choice((0, 1, 2)) if self.faulty else 1
        for _ in range(copies):
            delay = self._chance.randrange(MAX_DELAY_ROUNDS) if self.faulty else 0
            self._waiting.append((self._round + delay, name, args))

    def lose_everything(self) -> None:
        """Forget all tasks, as a broker does that restarts without its files."""
        self._waiting.clear()

    def deliver(self) -> None:
        """Let the tasks be done whose round has come, in any order."""
        due = [task for task in self._waiting if task[0] <= self._round]
        self._waiting = [task for task in self._waiting if task[0] > self._round]
        self._round += 1
        self._chance.shuffle(due)
        for _, name, args in due:
            self.done.append(name)
            try:
                self.tasks[name](*args)
            except Exception as error:
                log.exception("a task failed", name=name)
                self.failed.append(error)
