"""Waiting in tests for what other threads and processes do: until it shows, not for a time."""

import time
from collections.abc import Callable
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
