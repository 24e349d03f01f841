"""The heartbeat of an installation, and its outages: the times in which nobody kept the clocks.

Whoever keeps time says every second that it does. Where that is missing for longer than LONGEST_GAP, the server was
away or nobody could be told of a flag: the whole gap is an outage, and it is nobody's time.
"""

from abc import ABC, abstractmethod
from threading import Lock
from typing import Any, NamedTuple

from redis import Redis

from domain.match.terms import MINUTE

LONGEST_GAP = 2 * MINUTE


class Outage(NamedTuple):
    """Nobody kept the clocks from ``since`` to ``until`` (milliseconds since 1970 UTC)."""

    since: int
    until: int


class Heartbeat(ABC):
    """The recorded heartbeat. Any number of processes may beat at once; implementations are safe to share."""

    @abstractmethod
    def beat(self, now: int, since: int) -> list[Outage]:
        """Record that time is kept at ``now``, and that it was not before if the gap is too long, in one step.

        Returns the outages that ended after ``since``, the earliest first; a new one among them waits for ``credited``.
        A clock that is behind another one's changes nothing. Raises redis errors.
        """

    @abstractmethod
    def last(self) -> int | None:
        """Return the instant of the last beat; None when there never was one. Raises redis errors."""

    @abstractmethod
    def uncredited(self) -> list[Outage]:
        """Return the outages that not all matches know of yet, the earliest first. Raises redis errors."""

    @abstractmethod
    def credited(self, outage: Outage) -> None:
        """Record that all matches know of ``outage``. Raises redis errors."""


class MemoryHeartbeat(Heartbeat):
    """A heartbeat that is recorded as long as this object lives: for tests and simulations."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._last: int | None = None
        self._outages: list[Outage] = []
        self._uncredited: list[Outage] = []

    def beat(self, now: int, since: int) -> list[Outage]:
        """See Heartbeat."""
        with self._lock:
            if self._last is not None and now - self._last > LONGEST_GAP:
                self._outages.append(Outage(self._last, now))
                self._uncredited.append(Outage(self._last, now))
            self._last = now if self._last is None else max(self._last, now)
            return [outage for outage in self._outages if outage.until > since]

    def last(self) -> int | None:
        """See Heartbeat."""
        return self._last

    def uncredited(self) -> list[Outage]:
        """See Heartbeat."""
        return list(self._uncredited)

    def credited(self, outage: Outage) -> None:
        """See Heartbeat."""
        with self._lock:
            self._uncredited = [other for other in self._uncredited if other != outage]


# Killed at any moment it is safe: a gap is recorded, put down to be credited and closed by the new beat in one step.
_BEAT = """
local last = redis.call('GET', KEYS[1])
if last and tonumber(ARGV[1]) - tonumber(last) > tonumber(ARGV[2]) then
  redis.call('ZADD', KEYS[2], ARGV[1], last .. ':' .. ARGV[1])
  redis.call('ZADD', KEYS[3], ARGV[1], last .. ':' .. ARGV[1])
end
if not last or tonumber(ARGV[1]) > tonumber(last) then redis.call('SET', KEYS[1], ARGV[1]) end
return redis.call('ZRANGEBYSCORE', KEYS[2], '(' .. ARGV[3], '+inf')
"""


class RedisHeartbeat(Heartbeat):
    """A heartbeat recorded in the Redis of ``client``; all keys share one hash tag."""

    def __init__(self, client: Redis, prefix: str) -> None:
        self._client: Any = client
        tag = f"{prefix}{{time}}:"
        self._keys = [f"{tag}heartbeat", f"{tag}outages", f"{tag}uncredited"]
        self._beat = client.register_script(_BEAT)

    def beat(self, now: int, since: int) -> list[Outage]:
        """See Heartbeat. One round trip."""
        return _outages(self._beat(keys=self._keys, args=[now, LONGEST_GAP, since]))

    def last(self) -> int | None:
        """See Heartbeat."""
        found = self._client.get(self._keys[0])
        return None if found is None else int(found)

    def uncredited(self) -> list[Outage]:
        """See Heartbeat."""
        return _outages(self._client.zrange(self._keys[2], 0, -1))

    def credited(self, outage: Outage) -> None:
        """See Heartbeat."""
        self._client.zrem(self._keys[2], f"{outage.since}:{outage.until}")


def _outages(members: list[bytes]) -> list[Outage]:
    return [Outage(*map(int, member.split(b":"))) for member in members]
