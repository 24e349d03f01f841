"""The threads of a relay: all of them work, or the process ends. Each beats (``events.runtime.beats``)."""

import threading
import time
from collections.abc import Callable, Mapping
from itertools import count

import structlog
from kombu.exceptions import OperationalError

from events.runtime import beats
from events.runtime.backoff import Backoff
from events.runtime.errors import StoreError, StoreUnavailableError
from events.store.contract import WrongInstallationError

MAX_STOP_S = 10.0
DELAYS_S = Backoff(0.05, 5.0)
TRANSIENT = (StoreUnavailableError, OperationalError, OSError)
"""Errors of the store and the broker that may go away by waiting; they concern no single match."""

log = structlog.get_logger("relay")

Work = Callable[[threading.Event], None]
"""The work of one thread: it returns when the event is set."""


class ThreadDiedError(Exception):
    """A thread has ended without being stopped; the process must be restarted."""


def run_threads(works: Mapping[str, Work], stop: threading.Event) -> None:
    """Run each of ``works`` in a thread of that name until ``stop`` is set; raises ThreadDiedError."""
    died: list[str] = []

    def run(name: str, work: Work) -> None:
        try:
            with beats.line(name):
                work(stop)
        except BaseException:
            log.exception("a thread died", line=name)
        if not stop.is_set():
            died.append(name)
            stop.set()

    # Daemons: a thread that hangs must not keep the process from ending when another one has died.
    threads = [threading.Thread(target=run, args=work, name=work[0], daemon=True) for work in works.items()]
    for thread in threads:
        thread.start()
    stop.wait()
    deadline = time.monotonic() + MAX_STOP_S
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    if died:
        raise ThreadDiedError(f"the thread {died[0]} has ended by itself")


def repeat(step: Callable[[], float], stop: threading.Event, on_error: Callable[[], None], **context: object) -> None:
    """Call ``step`` until ``stop`` is set, each time waiting for as many seconds as it returned.

    After an error, logged with ``context``, ``on_error`` is called and ``step`` tried again, less and less often.
    """
    failures = 0
    while not stop.is_set():
        beats.beat()
        try:
            pause = step()
        except TRANSIENT as error:
            failures += 1
            log.warning("waits", seconds=DELAYS_S.after(failures), error=str(error), **context)
        except Exception:
            failures += 1
            log.exception("failed", **context)
        else:
            failures = 0
            if pause > 0:
                beats.wait(stop, pause)
            continue
        on_error()
        beats.wait(stop, DELAYS_S.after(failures))


def wait_until_available(stop: threading.Event, attempt: Callable[[], object]) -> bool:
    """Call ``attempt`` until it succeeds; False when ``stop`` was set before. Raises WrongInstallationError."""
    with beats.line("start"):
        for failures in count(1):
            if stop.is_set():
                break
            beats.beat()
            try:
                attempt()
            except WrongInstallationError:
                raise
            except (*TRANSIENT, StoreError) as error:
                delay = DELAYS_S.after(failures)
                log.warning("waits for the store", seconds=delay, error=str(error))
                beats.wait(stop, delay)
            else:
                return True
    return False
