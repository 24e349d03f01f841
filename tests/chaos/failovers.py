"""Failovers under load with the default settings: an event that was acknowledged is there afterwards.

Writers append to a store under sentinels while its primary is killed, paused, taken for dead though it goes on, or
replaced by a replica that was cut off from it. Each of these is tried again and again.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

from deploy.local.embedded import ALWAYS
from events.runtime.connections import connect
from events.runtime.errors import StoreUnavailableError
from events.store.contract import Request, StaleVersionError
from events.store.copies import NotCopiedError
from events.store.redis import RedisStore
from tests.support.drafts import drafts
from tests.support.eventually import eventually, working
from tests.support.watched_servers import Watched

WRITERS = 12
APPENDS_BETWEEN = 200
"""Acknowledged before each failover, and after it."""


class Acknowledged(NamedTuple):
    """An event whose append was acknowledged."""

    match: str
    version: int
    id: str


class FailoverReport(NamedTuple):
    """What was tried and lost; by kind of failure, with ``replicas`` replicas."""

    replicas: int
    rounds: dict[str, int]
    acknowledged: dict[str, int]
    lost: dict[str, tuple[Acknowledged, ...]]

    @property
    def faults(self) -> tuple[str, ...]:
        """Everything that must not have happened."""
        return tuple(f"{kind}: {event} is lost" for kind, events in self.lost.items() for event in events)

    def __str__(self) -> str:
        """Return the counts, one kind per line."""
        return "\n".join(
            f"{self.replicas} replicas, {kind}: {rounds} failovers, {self.acknowledged[kind]} events acknowledged, "
            f"{len(self.lost[kind])} lost"
            for kind, rounds in self.rounds.items()
        )


class Writers:
    """Threads that append to matches of their own, and remember what was acknowledged."""

    def __init__(self, store: RedisStore, name: str) -> None:
        self._store = store
        self._name = name
        self._end = threading.Event()
        self.acknowledged: list[Acknowledged] = []
        self.unacknowledged = 0
        self.faults: list[Exception] = []

    @contextmanager
    def running(self) -> Iterator[None]:
        with working([partial(self._write, f"{self._name}-{n}") for n in range(WRITERS)], self._end):
            yield
        if self.faults:
            raise self.faults[0]

    def await_more(self) -> None:
        """Wait until APPENDS_BETWEEN more were acknowledged."""
        wanted = len(self.acknowledged) + APPENDS_BETWEEN
        eventually(lambda: self.faults or len(self.acknowledged) >= wanted, "acknowledgements")

    def await_refusal(self) -> None:
        """Wait until an append was not acknowledged."""
        before = self.unacknowledged
        eventually(lambda: self.faults or self.unacknowledged > before, "an append that is not acknowledged")

    def _write(self, match: str) -> None:
        try:
            while not self._end.is_set():
                self._append(match)
        except Exception as error:
            self.faults.append(error)

    def _append(self, match: str) -> None:
        try:
            head = self._store.head(match)
            request = Request(f"{match}-{head.version}-{head.tag.digest}", "")
            appended = self._store.append(match, head, drafts(1), request)
        except (StoreUnavailableError, StaleVersionError) as error:
            self.unacknowledged += isinstance(error, NotCopiedError)
            self._end.wait(0.02)
            return
        event = appended.events[-1]
        self.acknowledged.append(Acknowledged(match, event.version, event.id))


def _kill(store: Watched, _: Writers, primary: int) -> None:
    store.kill(primary)
    store.wait_for_another_primary(primary)


def _pause(store: Watched, _: Writers, primary: int) -> None:
    """Let the primary go on as soon as the sentinels hold it to be down."""
    store.pause(primary)
    eventually(lambda: store.is_down() or store.primary() != primary, "that the primary is missed")
    store.resume(primary)
    store.wait_until_complete()


def _go_on(store: Watched, _: Writers, primary: int) -> None:
    """Let the sentinels replace a primary that goes on serving everybody else."""
    with store.hidden_from_sentinels(primary):
        store.wait_for_another_primary(primary)


def _cut_off(store: Watched, writers: Writers, primary: int) -> None:
    """Let a replica take over that was cut off for a while before the primary was killed."""
    behind, *others = store.replicas()
    store.pause(behind)
    store.ask(primary, "CLIENT", "KILL", "TYPE", "REPLICA")
    writers.await_refusal()
    for number in (primary, *others):
        store.kill(number)
    store.resume(behind)
    store.wait_for_another_primary(primary)


KINDS: dict[str, Callable[[Watched, Writers, int], None]] = {
    "primary killed": _kill,
    "primary paused just over down-after": _pause,
    "primary goes on at the promotion": _go_on,
    "primary killed with a replica cut off": _cut_off,
}


def run_failovers(directory: Path, replicas: int, rounds: int, print_line: Callable[[str], None]) -> FailoverReport:
    """Try each kind of failure ``rounds`` times on a primary with ``replicas`` replicas; its files are below."""
    acknowledged: dict[str, int] = {}
    lost: dict[str, tuple[Acknowledged, ...]] = {}
    with Watched(directory, ALWAYS, replicas) as store:
        RedisStore(connect(store.url)).installation()
        for kind in KINDS:
            acknowledged[kind], lost[kind] = 0, ()
            for number in range(rounds):
                events, missing = fail_over_under_load(store, kind, f"{kind.replace(' ', '-')}-{number}")
                acknowledged[kind] += events
                lost[kind] += missing
            print_line(f"{replicas} replicas, {kind}: {acknowledged[kind]} acknowledged, {len(lost[kind])} lost")
    return FailoverReport(replicas, dict.fromkeys(KINDS, rounds), acknowledged, lost)


def fail_over_under_load(store: Watched, kind: str, name: str) -> tuple[int, tuple[Acknowledged, ...]]:
    """Fail once; return how many events were acknowledged before, meanwhile and afterwards, and those that are lost."""
    client = connect(store.url)
    writers = Writers(RedisStore(client), name)
    with writers.running():
        writers.await_more()
        KINDS[kind](store, writers, store.primary())
        store.revive()
        store.wait_until_complete()
        writers.await_more()
    judge = RedisStore(client)
    present = {
        Acknowledged(match, event.version, event.id)
        for match in {event.match for event in writers.acknowledged}
        for event in judge.read(match)
    }
    client.close()
    return len(writers.acknowledged), tuple(event for event in writers.acknowledged if event not in present)
