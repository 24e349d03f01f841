"""Which relays live, and which of their lines of work make progress: recorded in the store by each relay itself."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import msgspec

from events.runtime.connections import StoreClient
from events.runtime.keys import InstallationKeys
from events.runtime.scripts import load_script

MAX_REPORT_AGE_MS = 6_000
"""A relay counts as living for so long after its last report: its share of the work goes to others then."""

MAX_SILENCE_S = 15.0
REMEMBERED_MS = 3_600_000
"""How long a silent relay stays listed, so that its shards are reported as unattended."""


class RelayReport(NamedTuple):
    """The report of a relay ``age_ms`` ago: for how many seconds each of its lines had been silent."""

    relay: str
    age_ms: int
    silences_s: Mapping[str, float]

    @property
    def is_fresh(self) -> bool:
        """Whether the relay lives, by all that is known."""
        return self.age_ms < MAX_REPORT_AGE_MS


class RedisLiveness:
    """The reports of the relays, aged by the clock of the Redis of ``client``."""

    def __init__(self, client: StoreClient, prefix: str) -> None:
        self._client = client
        self._key = InstallationKeys(prefix).relays
        self._report = load_script(client, __package__, "report_liveness")
        self._read = load_script(client, __package__, "read_liveness")

    def report(self, relay: str, silences_s: Mapping[str, float]) -> list[RelayReport]:
        """Record that ``relay`` lives, with the silences of its lines; return the reports of all relays, this too."""
        silences = msgspec.json.encode({line: round(seconds, 1) for line, seconds in silences_s.items()})
        now, relays = self._report(keys=[self._key], args=[relay, silences, REMEMBERED_MS])
        return _read(int(now), zip(relays[::2], relays[1::2], strict=True))

    def leave(self, relay: str) -> None:
        """Record that ``relay`` works no more, so that others need not wait for its reports to be old."""
        self._client.hdel(self._key, relay)

    def reports(self) -> list[RelayReport]:
        """Return the last reports of all relays."""
        now, relays = self._read(keys=[self._key])
        return _read(int(now), zip(relays[::2], relays[1::2], strict=True))

    def ages_s(self) -> dict[str, float]:
        """Return for how many seconds each line of work has made no progress, by its name.

        The longest of living relays, which share the work; without one the shortest.
        """
        reports = self.reports()
        living = [report for report in reports if report.is_fresh]
        ages: dict[str, list[float]] = {}
        for report in living or reports:
            for line, silence in report.silences_s.items():
                ages.setdefault(line, []).append(silence + report.age_ms / 1000)
        worst = max if living else min
        return {line: worst(of_line) for line, of_line in sorted(ages.items())}


def working_relays(reports: Iterable[RelayReport]) -> list[str]:
    """Return the relays that share the work, sorted: living ones of which no line hangs, or else all living."""
    living = [report for report in reports if report.is_fresh]
    whole = [report for report in living if max(report.silences_s.values(), default=0.0) < MAX_SILENCE_S]
    return sorted(report.relay for report in whole or living)


def _read(now: int, relays: Iterable[tuple[bytes, bytes]]) -> list[RelayReport]:
    reports = []
    for relay, written in relays:
        at, _, silences = written.partition(b" ")
        reports.append(RelayReport(relay.decode(), max(0, now - int(at)), msgspec.json.decode(silences)))
    return reports
