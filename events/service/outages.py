"""The heartbeat of an installation, and its outages: the times in which nobody kept the clocks.

Whoever keeps time says every second that it does. Where that is missing for longer than MAX_BEAT_GAP_MS, the server was
away or no flag could have been noticed: the whole gap is an outage, and counts for no player. One that is longer than a
day is provisional: it is credited like any other, but it may be a wrong clock that has made it, and the operator is
asked to confirm or to repair it (events.service.clock_repair).
"""

from abc import ABC, abstractmethod
from threading import Lock
from typing import Any

from domain.match.due import MAX_BEAT_GAP_MS, Outage
from domain.match.terms import DAY, MINUTE
from events.runtime.connections import StoreClient
from events.runtime.scripts import load_script
from events.store.time import StoreClock, with_clock_check

PROVISIONAL_FROM = DAY
"""An outage that is longer than this (milliseconds) waits for the operator's word."""

REPORTED_FOR = MINUTE
"""Milliseconds for which what a process has said about its clock counts."""


class Heartbeat(ABC):
    """The recorded heartbeat. Any number of processes may beat at once; implementations are safe to share."""

    @abstractmethod
    def beat(self, now: int, since: int) -> list[Outage]:
        """Record that time is kept at ``now``, and that it was not before if the gap is too long, in one step.

        Returns the outages that ended after ``since``, the earliest first; a new one among them waits for ``credited``,
        and if it is longer than PROVISIONAL_FROM for ``confirm`` or ``correct``. A clock that is behind another one's
        changes nothing. Raises redis errors, and ClockDiffers, with nothing recorded, when clocks are judged and that
        of this process is wrong.
        """

    @abstractmethod
    def last(self) -> int | None:
        """Return the instant of the last beat; None when there never was one. Raises redis errors."""

    @abstractmethod
    def outages(self) -> list[Outage]:
        """Return all outages, by their end. Raises redis errors."""

    @abstractmethod
    def uncredited(self) -> list[Outage]:
        """Return the outages that not all matches know of yet, the earliest first. Raises redis errors."""

    @abstractmethod
    def credited(self, outage: Outage) -> None:
        """Record that all matches know of ``outage``. Raises redis errors."""

    @abstractmethod
    def provisional(self) -> list[Outage]:
        """Return the outages that wait for the operator's word, by their end. Raises redis errors."""

    @abstractmethod
    def confirm(self, outage: Outage) -> bool:
        """Record that ``outage`` was one; return False when it did not wait for that. Raises redis errors."""

    @abstractmethod
    def correct(self, outage: Outage, until: int) -> None:
        """Record, in one step, that ``outage`` ended at ``until`` already.

        If that is no later than it began, there was none. Done again, or when there is no such outage, it changes
        nothing. Raises redis errors.
        """

    def offsets(self) -> dict[str, int]:
        """Return by how many milliseconds the clocks of the processes that keep time are ahead of the store's.

        Only clocks reported in the last REPORTED_FOR are included, by the names of the processes; none where clocks
        are not judged. Raises redis errors.
        """
        return {}


class MemoryHeartbeat(Heartbeat):
    """A heartbeat that is recorded as long as this object lives: for tests and simulations."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._last: int | None = None
        self._outages: list[Outage] = []
        self._uncredited: list[Outage] = []
        self._provisional: list[Outage] = []

    def beat(self, now: int, since: int) -> list[Outage]:
        """See Heartbeat."""
        with self._lock:
            if self._last is not None and now - self._last > MAX_BEAT_GAP_MS:
                outage = Outage(self._last, now)
                self._outages.append(outage)
                self._uncredited.append(outage)
                if now - self._last > PROVISIONAL_FROM:
                    self._provisional.append(outage)
            self._last = now if self._last is None else max(self._last, now)
            return [outage for outage in self._outages if outage.until > since]

    def last(self) -> int | None:
        """See Heartbeat."""
        return self._last

    def outages(self) -> list[Outage]:
        """See Heartbeat."""
        return list(self._outages)

    def uncredited(self) -> list[Outage]:
        """See Heartbeat."""
        return list(self._uncredited)

    def credited(self, outage: Outage) -> None:
        """See Heartbeat."""
        with self._lock:
            self._uncredited = [other for other in self._uncredited if other != outage]

    def provisional(self) -> list[Outage]:
        """See Heartbeat."""
        return list(self._provisional)

    def confirm(self, outage: Outage) -> bool:
        """See Heartbeat."""
        with self._lock:
            waiting = outage in self._provisional
            self._provisional = [other for other in self._provisional if other != outage]
            return waiting

    def correct(self, outage: Outage, until: int) -> None:
        """See Heartbeat."""
        with self._lock:
            if outage in self._outages:
                instead = [Outage(outage.since, until)] if until > outage.since else []
                self._outages = sorted({*self._outages, *instead} - {outage}, key=lambda each: each.until)
                self._uncredited = sorted({*self._uncredited, *instead} - {outage}, key=lambda each: each.until)
                self._provisional = [other for other in self._provisional if other != outage]


class RedisHeartbeat(Heartbeat):
    """A heartbeat recorded in the Redis of ``client``; all keys share one hash tag.

    With ``clock`` that of this process is held against the store's at every beat, and what differs is recorded under
    ``name`` for operators to see.
    """

    def __init__(self, client: StoreClient, prefix: str, clock: StoreClock | None = None, name: str = "") -> None:
        self._client = client
        self._clock = clock
        self._name = name
        tag = f"{prefix}{{time}}:"
        self._keys = [f"{tag}{part}" for part in ("heartbeat", "outages", "uncredited", "provisional", "offsets")]
        self._beat = load_script(client, __package__, "record_beat")
        self._correct = load_script(client, __package__, "correct_outage")

    def beat(self, now: int, since: int) -> list[Outage]:
        """See Heartbeat. One round trip."""
        arguments: list[Any] = [now, MAX_BEAT_GAP_MS, since, PROVISIONAL_FROM, self._name]
        beat = self._beat
        return _outages(
            with_clock_check(self._clock, lambda instants: beat(keys=self._keys, args=[*arguments, *instants]), now)
        )

    def last(self) -> int | None:
        """See Heartbeat."""
        found = self._client.get(self._keys[0])
        return None if found is None else int(found)

    def outages(self) -> list[Outage]:
        """See Heartbeat."""
        return self._all(1)

    def uncredited(self) -> list[Outage]:
        """See Heartbeat."""
        return self._all(2)

    def credited(self, outage: Outage) -> None:
        """See Heartbeat."""
        self._client.zrem(self._keys[2], _member(outage))

    def provisional(self) -> list[Outage]:
        """See Heartbeat."""
        return self._all(3)

    def confirm(self, outage: Outage) -> bool:
        """See Heartbeat."""
        return bool(self._client.zrem(self._keys[3], _member(outage)))

    def correct(self, outage: Outage, until: int) -> None:
        """See Heartbeat."""
        instead = _member(outage._replace(until=until)) if until > outage.since else ""
        self._correct(keys=self._keys, args=[_member(outage), instead, until])

    def offsets(self) -> dict[str, int]:
        """See Heartbeat."""
        reported = {
            name.decode(): [int(part) for part in said.split(b":")]
            for name, said in self._client.hgetall(self._keys[4]).items()
        }
        seconds, _ = self._client.time()
        since = int(seconds) * 1000 - REPORTED_FOR
        stale = [name for name, (_, at) in reported.items() if at < since]
        if stale:
            self._client.hdel(self._keys[4], *stale)
        return {name: offset for name, (offset, _) in reported.items() if name not in stale}

    def _all(self, key: int) -> list[Outage]:
        return _outages(self._client.zrange(self._keys[key], 0, -1))


def _member(outage: Outage) -> str:
    return f"{outage.since}:{outage.until}"


def _outages(members: list[bytes]) -> list[Outage]:
    return [Outage(*map(int, member.split(b":"))) for member in members]
