"""Messages of chats that readers have reported to the arbiters, and those that arbiters have hidden.

Nothing here copies a message: when its author is erased, so is what was reported. What lies in the slot of a match says
which message and why; beside it are an index of the matches that wait for an arbiter, and one of the reporters.
"""

from collections.abc import Callable
from typing import NamedTuple

from events.runtime.connections import StoreClient
from events.runtime.keys import ChatKeys


class Report(NamedTuple):
    """Why ``reporter`` has reported the ``number``-th message of the chat of ``match``."""

    match: str
    number: int
    reporter: str
    reason: str


class Reports:
    """The reports of an installation. Safe to share between threads; every method raises redis-py's errors."""

    def __init__(self, client: StoreClient, prefix: str, now: Callable[[], int]) -> None:
        self._client = client
        self._keys = ChatKeys(prefix)
        self._now = now

    def add(self, report: Report) -> bool:
        """Keep ``report``; return False when its reporter has reported the message before.

        Crash-safe: the indexes come first; killed in between, they name a match without a report, which is not shown.
        """
        self._client.sadd(self._keys.matches_reported_by(report.reporter), report.match)
        self._client.zadd(self._keys.reported, {report.match: self._now()}, nx=True)
        field = f"{report.number}:{report.reporter}"
        return bool(self._client.hsetnx(self._keys.reports(report.match), field, report.reason))

    def of(self, match: str) -> list[Report]:
        """Return the reports about the chat of ``match`` that no arbiter has dealt with, by message."""
        found = self._client.hgetall(self._keys.reports(match))
        return sorted(
            Report(match, int(number), reporter, reason.decode())
            for field, reason in found.items()
            for number, _, reporter in [field.decode().partition(":")]
        )

    def waiting(self, after: int, limit: int) -> list[str]:
        """Return up to ``limit`` matches that have reports, beyond the first ``after``, the longest wait first."""
        return [match.decode() for match in self._client.zrange(self._keys.reported, after, after + limit - 1)]

    def settle(self, match: str, number: int, hide: bool) -> int:
        """Hide a message from everybody, or show it again; return how many reports about it this has dealt with.

        Crash-safe: killed before the reports are gone, an arbiter finds them again and decides once more.
        """
        hidden = self._keys.hidden(match)
        if hide:
            self._client.sadd(hidden, number)
        else:
            self._client.srem(hidden, number)
        dealt_with = [report for report in self.of(match) if report.number == number]
        if dealt_with:
            fields = [f"{number}:{report.reporter}" for report in dealt_with]
            self._client.hdel(self._keys.reports(match), *fields)
        self._forget_if_none(match)
        return len(dealt_with)

    def hidden(self, match: str) -> set[int]:
        """Return the numbers of the messages of ``match`` that arbiters have hidden."""
        return {int(number) for number in self._client.smembers(self._keys.hidden(match))}

    def by(self, reporter: str) -> list[Report]:
        """Return what ``reporter`` has reported and no arbiter has dealt with yet."""
        matches = sorted(match.decode() for match in self._client.smembers(self._keys.matches_reported_by(reporter)))
        return [report for match in matches for report in self.of(match) if report.reporter == reporter]

    def erase(self, reporter: str) -> None:
        """Forget what ``reporter`` has reported. Crash-safe: which matches they are is forgotten last."""
        for report in self.by(reporter):
            self._client.hdel(self._keys.reports(report.match), f"{report.number}:{reporter}")
            self._forget_if_none(report.match)
        self._client.delete(self._keys.matches_reported_by(reporter))

    def _forget_if_none(self, match: str) -> None:
        reports = self._keys.reports(match)
        if not self._client.exists(reports):
            self._client.zrem(self._keys.reported, match)
            if self._client.exists(reports):  # another report was made in between
                self._client.zadd(self._keys.reported, {match: self._now()}, nx=True)
