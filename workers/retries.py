"""What was tried in vain is tried again, less and less often."""

from collections.abc import Hashable
from typing import NamedTuple

from events.runtime.backoff import Backoff

DELAYS_MS = Backoff(10_000, 600_000)


class Attempt(NamedTuple):
    """The ``failures``-th attempt in a row about what has been so ``since``; the next one is due at ``again_at``."""

    since: int
    failures: int
    again_at: int


class Retries:
    """The attempts that failed, by their subject. All instants are milliseconds since 1970 UTC."""

    def __init__(self) -> None:
        self._attempts: dict[Hashable, Attempt] = {}

    def __len__(self) -> int:
        return len(self._attempts)

    def is_due(self, subject: Hashable, since: int, now: int) -> bool:
        """Tell whether ``subject``, in the state it has been in ``since`` an instant, may be tried at ``now``."""
        last = self._attempts.get(subject)
        return last is None or last.since != since or now >= last.again_at

    def record(self, subject: Hashable, since: int, now: int) -> int:
        """Record an attempt at ``now``; return the milliseconds until the next one is due."""
        last = self._attempts.get(subject)
        failures = last.failures + 1 if last is not None and last.since == since else 1
        delay = int(DELAYS_MS.after(failures))
        # What has not been tried again for so long has succeeded.
        forgotten = now - DELAYS_MS.longest
        self._attempts = {other: attempt for other, attempt in self._attempts.items() if attempt.again_at > forgotten}
        self._attempts[subject] = Attempt(since, failures, now + delay)
        return delay
