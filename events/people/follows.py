"""Private lists of the people whom a person follows, known to that person only."""

from collections.abc import Callable, Mapping
from typing import Any

from events.runtime.connections import StoreClient
from events.runtime.errors import LimitReachedError
from events.runtime.keys import PeopleKeys

MAX_FOLLOWED = 500


class Follows:
    """The lists of an installation."""

    def __init__(self, client: StoreClient, prefix: str, now: Callable[[], int]) -> None:
        self._client = client
        self._keys = PeopleKeys(prefix)
        self._now = now

    def put(self, person: str, other: str) -> None:
        """Put ``other`` on the list of ``person``, first. Raises LimitReachedError."""
        key = self._keys.follows(person)
        if self._client.zcard(key) >= MAX_FOLLOWED and self._client.zscore(key, other) is None:
            raise LimitReachedError(f"you follow {MAX_FOLLOWED} people: remove one first")
        self._client.zadd(key, {other: self._now()}, nx=True)

    def remove(self, person: str, other: str) -> bool:
        """Take ``other`` off the list of ``person``; return False when they were not on it."""
        return bool(self._client.zrem(self._keys.follows(person), other))

    def has(self, person: str, other: str) -> bool:
        """Tell whether ``person`` follows ``other``."""
        return self._client.zscore(self._keys.follows(person), other) is not None

    def of(self, person: str) -> Mapping[str, int]:
        """Return the people whom ``person`` follows, the last first, each with the instant since when."""
        followed: Any = self._client.zrevrange(self._keys.follows(person), 0, -1, withscores=True)
        return {other.decode(): int(since) for other, since in followed}

    def erase(self, person: str) -> None:
        """Delete the list of ``person``."""
        self._client.delete(self._keys.follows(person))
