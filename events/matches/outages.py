"""The heartbeat of an installation, and its outages: the times in which the clocks were not kept.

A gap of more than MAX_BEAT_GAP_MS counts for no player. One longer than a day is credited, too, but provisional: the
operator confirms or repairs it, since a wrong clock may have made it.
"""

from typing import Any

from domain.match.due import MAX_BEAT_GAP_MS, Outage
from domain.match.terms import DAY, MINUTE
from events.runtime.connections import StoreClient
from events.runtime.keys import TimeKeys
from events.runtime.scripts import load_script
from events.store.time import StoreClock, with_clock_check

PROVISIONAL_FROM_MS = DAY
"""An outage that is longer than this waits for confirmation by the operator."""

MAX_REPORT_AGE_MS = MINUTE
"""The report of a process about its clock counts for so long."""


class Heartbeat:
    """The recorded heartbeat. With ``clock`` that of this process is compared, and recorded under ``name``."""

    def __init__(self, client: StoreClient, prefix: str, clock: StoreClock | None = None, name: str = "") -> None:
        self._client = client
        self._clock = clock
        self._name = name
        self._keys = keys = TimeKeys(prefix)
        self._all_keys = [keys.heartbeat, keys.outages, keys.uncredited, keys.provisional, keys.offsets]
        self._record_beat = load_script(client, __package__, "record_beat")
        self._correct_outage = load_script(client, __package__, "correct_outage")

    def beat(self, now: int, since: int) -> list[Outage]:
        """Record that time is kept at ``now``; return the outages that ended after ``since``, the earliest first.

        A new one waits for ``mark_credited``, a long one for ``confirm`` or ``correct``. Raises ClockMismatchError.
        """
        arguments: list[Any] = [now, MAX_BEAT_GAP_MS, since, PROVISIONAL_FROM_MS, self._name]

        def record(instants: tuple[int | str, ...]) -> Any:
            return self._record_beat(keys=self._all_keys, args=[*arguments, *instants])

        return _parse_outages(with_clock_check(self._clock, record, now))

    def last_beat(self) -> int | None:
        """Return the instant of the last beat; None when there never was one."""
        instant = self._client.get(self._keys.heartbeat)
        return None if instant is None else int(instant)

    def outages(self) -> list[Outage]:
        """Return all outages, by their end."""
        return self._all(self._keys.outages)

    def uncredited(self) -> list[Outage]:
        """Return the outages that not all matches know of yet, the earliest first."""
        return self._all(self._keys.uncredited)

    def mark_credited(self, outage: Outage) -> None:
        """Record that all matches know of ``outage``."""
        self._client.zrem(self._keys.uncredited, _format_outage(outage))

    def provisional(self) -> list[Outage]:
        """Return the outages that wait for confirmation, by their end."""
        return self._all(self._keys.provisional)

    def confirm(self, outage: Outage) -> bool:
        """Record that ``outage`` was one; return False when it did not wait for that."""
        return bool(self._client.zrem(self._keys.provisional, _format_outage(outage)))

    def correct(self, outage: Outage, until: int) -> None:
        """Record that ``outage`` ended at ``until`` already, or never was. Repeated, it changes nothing."""
        shorter = _format_outage(outage._replace(until=until)) if until > outage.since else ""
        self._correct_outage(keys=self._all_keys, args=[_format_outage(outage), shorter, until])

    def offsets(self) -> dict[str, int]:
        """Return by how many milliseconds clocks reported within MAX_REPORT_AGE_MS are ahead, by process."""
        reported = {
            name.decode(): [int(part) for part in packed.split(b":")]
            for name, packed in self._client.hgetall(self._keys.offsets).items()
        }
        seconds, _ = self._client.server_of(self._keys.offsets).time()
        since = int(seconds) * 1000 - MAX_REPORT_AGE_MS
        stale = [name for name, (_, at) in reported.items() if at < since]
        if stale:
            self._client.hdel(self._keys.offsets, *stale)
        return {name: offset for name, (offset, _) in reported.items() if name not in stale}

    def _all(self, key: str) -> list[Outage]:
        return _parse_outages(self._client.zrange(key, 0, -1))


def _format_outage(outage: Outage) -> str:
    return f"{outage.since}:{outage.until}"


def _parse_outages(members: list[bytes]) -> list[Outage]:
    return [Outage(*map(int, member.split(b":"))) for member in members]
