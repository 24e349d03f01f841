"""The policy by which anything is requested or tried again: less and less often while nothing changes."""

from collections.abc import Collection, Hashable
from typing import NamedTuple

from events.runtime.backoff import Backoff

DELAYS_MS = Backoff(10_000, 600_000)


class Attempt(NamedTuple):
    """The ``failures``-th attempt in a row at a state lasting ``since``; the next one is due at ``again_at``."""

    since: int
    failures: int
    again_at: int


class Retries:
    """The last attempts, by their subject, repeated after ``delays``. All instants are milliseconds since 1970 UTC."""

    def __init__(self, delays: Backoff = DELAYS_MS) -> None:
        self._delays = delays
        self._attempts: dict[Hashable, Attempt] = {}

    def __len__(self) -> int:
        return len(self._attempts)

    def is_due(self, subject: Hashable, since: int | None, now: int) -> bool:
        """Tell whether ``subject``, in its state ``since`` an instant, may be tried; None: in any state."""
        last = self._attempts.get(subject)
        # A clock that was set back must not put attempts off.
        return last is None or since not in (None, last.since) or not 0 < last.again_at - now <= self._delays.longest

    def record(self, subject: Hashable, since: int, now: int) -> int:
        """Record an attempt at ``now``; return the milliseconds until the next one is due."""
        last = self._attempts.get(subject)
        failures = last.failures + 1 if last is not None and last.since == since else 1
        delay = int(self._delays.after(failures))
        # A subject that has not been tried again for so long has succeeded.
        forgotten = now - self._delays.longest
        self._attempts = {other: attempt for other, attempt in self._attempts.items() if attempt.again_at > forgotten}
        self._attempts[subject] = Attempt(since, failures, now + delay)
        return delay

    def keep(self, subjects: Collection[Hashable]) -> None:
        """Forget the attempts at all but ``subjects``: the others have succeeded."""
        self._attempts = {subject: last for subject, last in self._attempts.items() if subject in subjects}
