"""Waiting in tests for what other threads and processes do: until it shows, not for a time."""

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")

DEADLINE_S = 60.0
"""Long enough for a process to start and to answer on a machine that has much else to do."""

PAUSE_S = 0.01


def eventually(look: Callable[[], T], what: str, deadline_s: float = DEADLINE_S) -> T:
    """Return what ``look`` returns as soon as that is true; fails, naming ``what``, when it is not by the deadline."""
    end = time.monotonic() + deadline_s
    while not (seen := look()):
        if time.monotonic() > end:
            raise AssertionError(f"{what} did not happen within {deadline_s:g} s; last seen: {seen!r}")
        time.sleep(PAUSE_S)
    return seen


@contextmanager
def working(works: Iterable[Callable[[], None]], end: threading.Event) -> Iterator[None]:
    """Do each of ``works`` in a thread of its own during the block, then set ``end``, at which they return."""
    threads = [threading.Thread(target=work) for work in works]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        end.set()
        for thread in threads:
            thread.join()
