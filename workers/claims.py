"""Working through a work list: one entry after the other is claimed, done and finished."""

import threading
import time
from collections.abc import Callable, Collection
from functools import partial
from types import TracebackType

import structlog
from kombu.exceptions import OperationalError

from events.runtime.errors import StoreError
from events.runtime.work_list import Claim, WorkList
from workers.broker import MAX_TASK_S
from workers.retries import DELAYS_MS
from workers.threads import TRANSIENT

TASK_S = 10.0
"""A task claims no further entry after this time, so that a worker can be stopped in good order."""

BROKER_ERRORS = (OperationalError, OSError)
MIN_INTERVAL_S = 0.5
MAX_ATTEMPTS = 3

log = structlog.get_logger("worker")


def do_due(
    work: WorkList,
    lanes: Collection[str],
    do: Callable[[Claim], object],
    request: Callable[[], object],
    now: Callable[[], int],
) -> int:
    """Claim and ``do`` the entries that are due in ``lanes``, for TASK_S at most; return their number.

    ``request`` enqueues another task for more. An entry that fails, or kills its worker, is tried MAX_ATTEMPTS times.
    Crash-safe: it is claimed again when its lease ends.
    """
    deadline, done = time.monotonic() + TASK_S, 0
    while time.monotonic() < deadline:
        claim = work.claim(lanes)
        if claim is None:
            return done
        done += 1
        if claim.attempts > MAX_ATTEMPTS:
            log.error("given up: its workers were killed", entry=claim.id)
            work.finish(claim)
            continue
        try:
            with Renewal(partial(work.renew, claim), work.lease_ms):
                do(claim)
        except TRANSIENT:
            raise
        except Exception:
            log.exception("failed", entry=claim.id, attempt=claim.attempts)
            if claim.attempts < MAX_ATTEMPTS:
                work.postpone(claim, now() + int(DELAYS_MS.after(claim.attempts)))
                continue
        work.finish(claim)
    if any(lane in lanes and at <= now() for lane, at in work.next_due().items()):
        try:
            request()
        except BROKER_ERRORS as error:
            log.warning("the rest is left to the next hint", error=str(error))
    return done


class Renewal:
    """Renews a claim from a thread, for ``max_s`` at most, while the block lasts; ``renew`` returns False if lost."""

    def __init__(self, renew: Callable[[], bool], lease_ms: int, max_s: float = MAX_TASK_S) -> None:
        self._renew_claim = renew
        self._interval_s = max(MIN_INTERVAL_S, lease_ms / 4000)
        self._max_s = max_s
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._renew, name="lease", daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        self._thread.join()

    def _renew(self) -> None:
        deadline = time.monotonic() + self._max_s
        while not self._done.wait(self._interval_s) and time.monotonic() < deadline:
            try:
                if not self._renew_claim():
                    return
            except StoreError as error:
                log.warning("a lease was not renewed", error=str(error))
