"""Beats: how the lines of work of a process (threads, or its main loop) tell the supervisor that they make progress.

The supervisor hands each child a pipe (its number is in ROOKERY_BEATS) and ends a process with a silent line. Where a
probe watches a container, beats are kept in files (``keep_in``).
"""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from events.runtime.beat_files import BeatFiles

DESCRIPTOR = "ROOKERY_BEATS"
NEED = "need "
"""Begins the line that names a program which is needed."""

INTERVAL_S = 2.0
"""A line that beats more often than that is passed on once."""

_local = threading.local()
_passed_on: dict[tuple[int, str], float] = {}
_progress: dict[str, float] = {}


class _Files:
    """Where beats are kept besides; None: nowhere."""

    kept: BeatFiles | None = None


def keep_in(directory: Path) -> None:
    """Keep the beats of this process, and of those that it forks from now on, in ``directory``; raises OSError."""
    _Files.kept = BeatFiles(directory)


@contextmanager
def line(name: str) -> Iterator[None]:
    """Make this thread the line ``name`` while the block lasts."""
    _local.line = name
    beat(name)
    try:
        yield
    finally:
        del _local.line
        rest(name)


def beat(name: str | None = None, extra_s: float = 0.0) -> None:
    """Say that the line ``name`` (None: of this thread) makes progress; the next beat may be ``extra_s`` late."""
    name = name or getattr(_local, "line", None)
    if name is None:
        return
    now, key = time.monotonic(), (os.getpid(), name)
    _progress[name] = now
    if extra_s or now >= _passed_on.get(key, 0.0) + INTERVAL_S:
        # After a longer leave the next beat is passed on at once.
        _passed_on[key] = 0.0 if extra_s else now
        _send(f"{key[0]} {name} {extra_s:g}\n")
        if _Files.kept is not None:
            _Files.kept.beat(name, extra_s)


def wait(stop: threading.Event, seconds: float) -> bool:
    """Wait until ``stop`` is set, ``seconds`` at most, and beat meanwhile; return whether it is set."""
    end = time.monotonic() + seconds
    while True:
        beat()
        left = end - time.monotonic()
        if stop.wait(max(0.0, min(left, INTERVAL_S))):
            return True
        if left <= INTERVAL_S:
            return False


def rest(name: str) -> None:
    """Say that the line ``name`` has ended and need not be heard of any more."""
    _progress.pop(name, None)
    _passed_on.pop((os.getpid(), name), None)
    _send(f"{os.getpid()} {name} -\n")
    if _Files.kept is not None:
        _Files.kept.rest(name)


def need(program: str) -> None:
    """Say that there is work for ``program``: a supervisor that has not started it yet does so."""
    _send(f"{NEED}{program}\n")


def progress() -> dict[str, float]:
    """Return when each line of this process last made progress (``time.monotonic``)."""
    return dict(_progress)


def _send(message: str) -> None:
    descriptor = _descriptor()
    if descriptor is not None:
        with suppress(OSError):  # the supervisor has ended, or is so far behind that it has beats enough to read
            os.write(descriptor, message.encode())


@cache
def _descriptor() -> int | None:
    given = os.environ.get(DESCRIPTOR, "")
    return int(given) if given.isdigit() else None
