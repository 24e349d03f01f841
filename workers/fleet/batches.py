"""Runs a function over all matches of a store, in batches and in parallel processes, without changing anything."""

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

QUEUED_BATCHES = 2
"""Batches queued for each process, so that memory does not grow with the store."""

MAX_KILLS = 3
"""Kills in a row, without a finished batch between them, after which the job fails."""

T = TypeVar("T")
BatchFunction = Callable[[EventStore, Sequence[str]], T]
"""What is done with the ids of a batch of matches; it can be pickled."""


class ProcessesKilledError(Exception):
    """The processes were killed several times in a row, without any progress."""


def count_matches(store: EventStore) -> int:
    """Return the number of matches in ``store``. Raises StoreUnavailableError."""
    return sum(1 for _ in readable_streams(store))


def run_in_batches(settings: Settings, function: BatchFunction[T], batch_size: int, processes: int) -> Iterator[T]:
    """Yield what ``function`` returns for the matches of a store, ``batch_size`` at a time, in the order of the store.

    Crash-safe: any process may be killed; nothing is written, so another one runs its batches again. Raises
    ProcessesKilledError when that does not help, and what ``function`` raises.
    """
    store = make_store(settings)
    batches = _batches(store, batch_size)
    if processes == 1:
        yield from (function(store, batch) for batch in batches)
        return
    unfinished: deque[list[str]] = deque()
    kills = 0
    while kills < MAX_KILLS:
        running: deque[tuple[list[str], Future[T]]] = deque()
        # A forked child would share the parent's connections and threads.
        with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
            try:
                while True:
                    while len(running) <= QUEUED_BATCHES * processes:
                        batch = unfinished.popleft() if unfinished else next(batches, None)
                        if batch is None:
                            break
                        running.append((batch, _submit(pool, settings, function, batch)))
                    if not running:
                        return
                    result = running[0][1].result()
                    running.popleft()
                    kills = 0
                    yield result
            except BrokenProcessPool:
                kills += 1
                unfinished.extendleft(batch for batch, _ in reversed(running))
    first, last = unfinished[0][0], unfinished[min(len(unfinished), processes) - 1][-1]
    raise ProcessesKilledError(
        f"the processes were killed {MAX_KILLS} times in a row, the last time at the matches {first} to {last}: is "
        "there enough memory? --processes 1 shows more"
    )


def _submit(
    pool: ProcessPoolExecutor, settings: Settings, function: BatchFunction[T], batch: Sequence[str]
) -> Future[T]:
    try:
        return pool.submit(_run_batch, settings, function, batch)
    except BrokenProcessPool as broken:
        # The pool broke between two batches: report that like a failure of this one.
        failed: Future[T] = Future()
        failed.set_exception(broken)
        return failed


def _run_batch(settings: Settings, function: BatchFunction[T], batch: Sequence[str]) -> T:
    store = make_store(settings)
    try:
        return function(store, batch)
    finally:
        store.client.close()


def _batches(store: EventStore, size: int) -> Iterator[list[str]]:
    match_ids = readable_streams(store)
    while batch := list(islice(match_ids, size)):
        yield batch
