"""All matches of a store looked at by several processes, batch by batch; nothing in the store is changed."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from multiprocessing import get_context
from typing import TypeVar

from events.installation import make_store
from events.runtime.settings import Settings
from events.store.chain import readable_streams
from events.store.contract import EventStore

AHEAD = 2
"""Batches that wait for each process; so what is held in memory does not grow with the store."""

ATTEMPTS = 3

T = TypeVar("T")
Look = Callable[[EventStore, Sequence[str]], T]
"""What is done with a batch of matches; a function that can be sent to another process."""


class ProcessesKilled(Exception):
    """The processes were killed again and again, without getting any further."""


def matches_of(store: EventStore) -> int:
    """Return the number of matches in ``store``. Raises StoreUnavailable."""
    return sum(1 for _ in readable_streams(store))


def in_batches(settings: Settings, look: Look[T], at_once: int, processes: int) -> Iterator[T]:
    """Yield what ``look`` returns for the matches of a store, ``at_once`` at a time, in the order of the store.

    Any process may be killed: nothing is written, so what it had not finished is done again by another. Raises
    ProcessesKilled when that does not help, and what ``look`` raises.
    """
    store = make_store(settings)
    names = _batches(store, at_once)
    if processes == 1:
        yield from (look(store, batch) for batch in names)
        return
    unfinished: deque[list[str]] = deque()
    killed = 0
    while killed < ATTEMPTS:
        waiting: deque[tuple[list[str], Future[T]]] = deque()
        # A forked child would share the parent's connections and threads.
        with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
            try:
                while True:
                    while len(waiting) <= AHEAD * processes:
                        batch = unfinished.popleft() if unfinished else next(names, None)
                        if batch is None:
                            break
                        waiting.append((batch, _submitted(pool, settings, look, batch)))
                    if not waiting:
                        return
                    done = waiting[0][1].result()
                    waiting.popleft()
                    killed = 0
                    yield done
            except BrokenProcessPool:
                killed += 1
                unfinished.extendleft(batch for batch, _ in reversed(waiting))
    first, last = unfinished[0][0], unfinished[min(len(unfinished), processes) - 1][-1]
    raise ProcessesKilled(
        f"the processes were killed {ATTEMPTS} times in a row, last at the matches {first} to {last}: is there enough "
        "memory? --processes 1 shows more"
    )


def _submitted(pool: ProcessPoolExecutor, settings: Settings, look: Look[T], batch: Sequence[str]) -> Future[T]:
    try:
        return pool.submit(_looked_at, settings, look, batch)
    except BrokenProcessPool as broken:
        # It was found out between two batches: whoever waits for this one is told as for the others.
        failed: Future[T] = Future()
        failed.set_exception(broken)
        return failed


def _looked_at(settings: Settings, look: Look[T], batch: Sequence[str]) -> T:
    store = make_store(settings)
    try:
        return look(store, batch)
    finally:
        store.client.close()


def _batches(store: EventStore, at_once: int) -> Iterator[list[str]]:
    names = readable_streams(store)
    while batch := list(islice(names, at_once)):
        yield batch
