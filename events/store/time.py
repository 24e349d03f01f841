"""Whether this process's wall clock agrees with the store's: else it neither appends nor keeps time."""

import time
from collections.abc import Callable
from typing import Any

from events.runtime.connections import StoreClient
from events.runtime.errors import StoreUnavailableError
from events.store.contract import ClockMismatchError

MAX_CLOCK_DIFFERENCE_MS = 2000
MAX_ATTEMPTS = 3
CHECK_EVERY_S = 1.0
MAX_STEP_MS = 500
"""A wall clock that has moved by this much more or less than the monotonic one was set, and is compared at once."""


class StoreClock:
    """The wall clock ``now`` of this process beside the TIME of the store of ``client``."""

    def __init__(self, client: StoreClient, now: Callable[[], int]) -> None:
        self._client = client
        self.now = now
        self._agreed: tuple[float, int] | None = None

    def offset_ms(self) -> int:
        """Return by how many milliseconds this process's clock is ahead of the store's; negative: behind.

        Any instant between request and reply counts as agreement. On a cluster it is the largest offset.
        """
        return max(map(self._offset_of, self._client.servers()), key=abs)

    def _offset_of(self, server: StoreClient) -> int:
        before, at, after = self.now(), _instant(server.time()), self.now()
        return before - at if at < before else min(0, after - at)

    def store_now(self) -> int:
        """Return the present instant by the store's clock, on a cluster of one server."""
        return _instant(self._client.servers()[0].time())

    def check(self) -> None:
        """Raise ClockMismatchError unless the clocks agree, asked once a second, for writes without that script."""
        elapsed, now = time.monotonic(), self.now()
        if self._agreed is not None:
            since, was = self._agreed
            if elapsed - since < CHECK_EVERY_S and abs(now - was - 1000 * (elapsed - since)) <= MAX_STEP_MS:
                return
        self._agreed = None
        self.refuse(self.offset_ms())
        self._agreed = elapsed, now

    def refuse(self, offset_ms: int) -> None:
        """Raise ClockMismatchError if ``offset_ms`` is more than MAX_CLOCK_DIFFERENCE_MS."""
        if abs(offset_ms) > MAX_CLOCK_DIFFERENCE_MS:
            raise ClockMismatchError(offset_ms)


def _instant(reply: Any) -> int:
    seconds, microseconds = reply
    return int(seconds) * 1000 + int(microseconds) // 1000


def with_clock_check(
    clock: StoreClock | None, run: Callable[[tuple[int | str, ...]], Any], decided_at: int | None = None
) -> Any:
    """Call a script that writes only if the clocks agree, and return its reply; raises ClockMismatchError.

    ``run`` gets this process's instant, ``decided_at`` (None: the same) and MAX_CLOCK_DIFFERENCE_MS, all empty without
    ``clock``. The script replies {'clock', TIME in ms} where they disagree. A call that was only late is repeated.
    """
    if clock is None:
        return run(("", "", ""))
    for _ in range(MAX_ATTEMPTS):
        now = clock.now()
        decided = now if decided_at is None else decided_at
        reply = run((now, decided, MAX_CLOCK_DIFFERENCE_MS))
        if not isinstance(reply, list) or reply[:1] != [b"clock"]:
            return reply
        clock.refuse(decided - int(reply[1]) if decided > now else 0)
        clock.refuse(clock.offset_ms())
    raise StoreUnavailableError("the event store is too slow to be written to now")
