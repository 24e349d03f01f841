"""A heartbeat in memory, for tests and simulations."""

from threading import Lock

from domain.match.due import MAX_BEAT_GAP_MS, Outage
from events.matches.outages import PROVISIONAL_FROM_MS, Heartbeat


class MemoryHeartbeat(Heartbeat):
    """A heartbeat that is recorded as long as this object lives."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._last: int | None = None
        self._outages: list[Outage] = []
        self._uncredited: list[Outage] = []
        self._provisional: list[Outage] = []

    def beat(self, now: int, since: int) -> list[Outage]:
        with self._lock:
            if self._last is not None and now - self._last > MAX_BEAT_GAP_MS:
                outage = Outage(self._last, now)
                self._outages.append(outage)
                self._uncredited.append(outage)
                if now - self._last > PROVISIONAL_FROM_MS:
                    self._provisional.append(outage)
            self._last = now if self._last is None else max(self._last, now)
            return [outage for outage in self._outages if outage.until > since]

    def last_beat(self) -> int | None:
        return self._last

    def outages(self) -> list[Outage]:
        return list(self._outages)

    def uncredited(self) -> list[Outage]:
        return list(self._uncredited)

    def mark_credited(self, outage: Outage) -> None:
        with self._lock:
            self._uncredited = [other for other in self._uncredited if other != outage]

    def provisional(self) -> list[Outage]:
        return list(self._provisional)

    def confirm(self, outage: Outage) -> bool:
        with self._lock:
            was_provisional = outage in self._provisional
            self._provisional = [other for other in self._provisional if other != outage]
            return was_provisional

    def correct(self, outage: Outage, until: int) -> None:
        with self._lock:
            if outage in self._outages:
                shorter = [Outage(outage.since, until)] if until > outage.since else []
                self._outages = sorted({*self._outages, *shorter} - {outage}, key=lambda each: each.until)
                self._uncredited = sorted({*self._uncredited, *shorter} - {outage}, key=lambda each: each.until)
                self._provisional = [other for other in self._provisional if other != outage]
