"""Chat messages that were reported to the arbiters, and those hidden by them. No text is copied here."""

from collections.abc import Callable
from typing import NamedTuple

from events.runtime.connections import StoreClient
from events.runtime.keys import ChatKeys


class AbuseReport(NamedTuple):
    """The reason why ``reporter`` has reported the ``number``-th message of the chat of ``match``."""

    match: str
    number: int
    reporter: str
    reason: str


class Reports:
    """The reports of an installation."""

    def __init__(self, client: StoreClient, prefix: str, now: Callable[[], int]) -> None:
        self._client = client
        self._keys = ChatKeys(prefix)
        self._now = now

    def add(self, report: AbuseReport) -> bool:
        """Store ``report``; return False when its reporter has reported the message before."""
        # Crash-safe: the indexes come first; after a kill they name a match without a report, which is not shown.
        self._client.sadd(self._keys.matches_reported_by(report.reporter), report.match)
        self._client.zadd(self._keys.reported, {report.match: self._now()}, nx=True)
        field = f"{report.number}:{report.reporter}"
        return bool(self._client.hsetnx(self._keys.reports(report.match), field, report.reason))

    def of(self, match_id: str) -> list[AbuseReport]:
        """Return the open reports about the chat of a match, by message."""
        packed = self._client.hgetall(self._keys.reports(match_id))
        return sorted(
            AbuseReport(match_id, int(number), reporter, reason.decode())
            for field, reason in packed.items()
            for number, _, reporter in [field.decode().partition(":")]
        )

    def waiting(self, after: int, limit: int) -> list[str]:
        """Return up to ``limit`` matches that have reports, after the first ``after``, the longest wait first."""
        match_ids = self._client.zrange(self._keys.reported, after, after + limit - 1)
        return [match_id.decode() for match_id in match_ids]

    def settle(self, match_id: str, number: int, hide: bool) -> int:
        """Hide a message, or show it again; return how many reports about it were closed."""
        # Crash-safe: until its reports are deleted an arbiter finds the message again and decides once more.
        hidden = self._keys.hidden(match_id)
        if hide:
            self._client.sadd(hidden, number)
        else:
            self._client.srem(hidden, number)
        closed = [report for report in self.of(match_id) if report.number == number]
        if closed:
            self._client.hdel(self._keys.reports(match_id), *(f"{number}:{report.reporter}" for report in closed))
        self._unlist_if_none(match_id)
        return len(closed)

    def hidden(self, match_id: str) -> set[int]:
        """Return the numbers of the messages of a match that arbiters have hidden."""
        return {int(number) for number in self._client.smembers(self._keys.hidden(match_id))}

    def by(self, reporter: str) -> list[AbuseReport]:
        """Return the open reports of ``reporter``."""
        match_ids = self._client.smembers(self._keys.matches_reported_by(reporter))
        matches = sorted(match_id.decode() for match_id in match_ids)
        return [report for match_id in matches for report in self.of(match_id) if report.reporter == reporter]

    def erase(self, reporter: str) -> None:
        """Erase the open reports of ``reporter``."""
        # Crash-safe: the index of the reporter is deleted last, so that erasing again completes it.
        for report in self.by(reporter):
            self._client.hdel(self._keys.reports(report.match), f"{report.number}:{reporter}")
            self._unlist_if_none(report.match)
        self._client.delete(self._keys.matches_reported_by(reporter))

    def _unlist_if_none(self, match_id: str) -> None:
        reports = self._keys.reports(match_id)
        if not self._client.exists(reports):
            self._client.zrem(self._keys.reported, match_id)
            if self._client.exists(reports):  # a report was added in between
                self._client.zadd(self._keys.reported, {match_id: self._now()}, nx=True)
