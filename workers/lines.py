"""The lines of a relay: threads that all work, or none.

One that ends by itself, or hangs, must not be missed: the process would live on and do only a part of its work. So the
death of a line ends all of them, and each beats (``events.runtime.beats``) and has its progress recorded in the store.
"""

import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence

import structlog
from kombu.exceptions import OperationalError

from events.runtime import beats
from events.runtime.errors import StoreError
from events.runtime.liveness import RedisLiveness
from events.store.contract import WrongInstallation

REPORT_EVERY_S = 5.0
STOP_WITHIN_S = 10.0
FIRST_DELAY_S = 0.05
MAX_DELAY_S = 5.0

UNAVAILABLE = (StoreError, OperationalError, OSError)
"""What waiting helps against."""

log = structlog.get_logger("relay")


class LineDied(Exception):
    """A line has ended without being stopped; the process must be started again."""


def run_lines(
    works: Mapping[str, Callable[[threading.Event], None]], stop: threading.Event, liveness: RedisLiveness
) -> None:
    """Run every work in a thread of its own, a line (``events.runtime.beats``), until ``stop`` is set.

    Which lines make progress is recorded in ``liveness``. Raises LineDied, with ``stop`` set, when a work returns or
    raises before it was told to stop.
    """
    died: list[str] = []

    def keep(name: str, work: Callable[[threading.Event], None]) -> None:
        try:
            with beats.line(name):
                work(stop)
        except BaseException:
            log.exception("a line died", line=name)
        if not stop.is_set():
            died.append(name)
            stop.set()

    reported = list(works)
    works = {**works, "reporter": lambda stop: _report(stop, reported, liveness)}
    # Daemons: a line that hangs must not keep the process of one that has died from ending.
    threads = [threading.Thread(target=keep, args=each, name=each[0], daemon=True) for each in works.items()]
    for thread in threads:
        thread.start()
    stop.wait()
    deadline = time.monotonic() + STOP_WITHIN_S
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    if died:
        raise LineDied(f"the line {died[0]} has ended by itself")


def repeat(step: Callable[[], float], stop: threading.Event, failed: Callable[[], None], **context: object) -> None:
    """Call ``step`` until ``stop`` is set, each time waiting for as many seconds as it returned.

    One that raises is logged with ``context``, ``failed`` is called, and it is tried again after growing delays.
    """
    delay = FIRST_DELAY_S
    while not stop.is_set():
        beats.beat()
        try:
            pause = step()
        except UNAVAILABLE as error:
            log.warning("waits", seconds=delay, error=str(error), **context)
        except Exception:
            log.exception("failed", **context)
        else:
            delay = FIRST_DELAY_S
            if pause > 0:
                beats.wait(stop, pause)
            continue
        failed()
        beats.wait(stop, delay)
        delay = min(2 * delay, MAX_DELAY_S)


def until_available(stop: threading.Event, attempt: Callable[[], object]) -> bool:
    """Call ``attempt`` until the store is there; return False when ``stop`` was set before.

    Raises WrongInstallation, against which waiting does not help.
    """
    delay = FIRST_DELAY_S
    with beats.line("start"):
        while not stop.is_set():
            beats.beat()
            try:
                attempt()
            except WrongInstallation:
                raise
            except UNAVAILABLE as error:
                log.warning("waits for the store", seconds=delay, error=str(error))
                beats.wait(stop, delay)
                delay = min(2 * delay, MAX_DELAY_S)
            else:
                return True
    return False


def _report(stop: threading.Event, lines: Sequence[str], liveness: RedisLiveness) -> None:
    """Record now and then, until ``stop`` is set, which of ``lines`` have made progress."""
    reported = -math.inf
    while not stop.is_set():
        beats.beat()
        now, progress = time.monotonic(), beats.progress()
        try:
            liveness.report([line for line in lines if progress.get(line, -math.inf) > reported])
            reported = now
        except StoreError as error:
            log.warning("cannot report", error=str(error))
        beats.wait(stop, REPORT_EVERY_S)
