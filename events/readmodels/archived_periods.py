"""Archived rating periods as they are read: which days are archived, and what was played and rated in them.

All days up to one, ``until``, are archived, of all pools. Live of them stay each player's last DayEnd, on which the
next day builds, and for each match the day of its result: 14 bytes, of which 8 are a part of the SHA-256 of its name.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from events.readmodels.period_files import PeriodFile, PeriodFiles, PlayedDay
from events.readmodels.standings import Entry, change_in, rating_at_start
from events.readmodels.summary import RatedResult
from events.runtime.connections import StoreClient, StorePipeline
from events.runtime.keys import RatingKeys

BLOCKS = 4096
"""Hashes of days by match: up to 512 fields in each, two million matches, the server keeps them as packed bytes."""

FIELD_BYTES = 8
NOTHING_ARCHIVED = -1


class ArchivedDays(NamedTuple):
    """The days up to ``until`` are archived, in ``files`` by their first days; a file counts up to the next one."""

    until: int
    files: tuple[PeriodFile, ...]

    def file_of(self, day: int) -> PeriodFile | None:
        """Return the file in which ``day`` is; None when it is not archived, or nothing was played until then."""
        return next((file for file in reversed(self.files) if file.first <= day), None) if day <= self.until else None

    def ranges(self) -> Iterator[tuple[PeriodFile, int]]:
        """Yield each file with the last day for which it counts, the earliest first."""
        following = [file.first - 1 for file in self.files[1:]]
        yield from zip(self.files, [*following, self.until], strict=False)


class ResultPlace(NamedTuple):
    """Where the day of an archived result is: a key, and a field of its hash."""

    key: str
    field: bytes


def result_place(keys: RatingKeys, match_id: str) -> ResultPlace:
    """Return where the day of an archived result is looked for."""
    digest = hashlib.sha256(match_id.encode(errors="surrogateescape")).digest()
    block = int.from_bytes(digest[8:10], "big") % BLOCKS
    return ResultPlace(keys.archived_results(block), digest[10 : 10 + FIELD_BYTES])


def queue_archived_days(pipeline: StorePipeline, keys: RatingKeys) -> None:
    """Queue the two reads whose replies ``archived_days`` is given."""
    pipeline.get(keys.archived_until)
    pipeline.hgetall(keys.period_files)


def archived_days(until: bytes | None, files: dict[bytes, bytes]) -> ArchivedDays:
    """Return which days are archived, as they are stored."""
    found = sorted(PeriodFile(int(first), *json.loads(packed)) for first, packed in files.items())
    return ArchivedDays(NOTHING_ARCHIVED if until is None else int(until), tuple(found))


class ArchivedPeriods:
    """Reads archived rating periods of any generation. Safe to share between threads.

    Methods raise StoreUnavailableError, ArchiveUnavailableError, and DamagedArchiveError.
    """

    def __init__(self, client: StoreClient, files: PeriodFiles) -> None:
        self.files = files
        self._client = client

    def days(self, keys: RatingKeys) -> ArchivedDays:
        """Return which days are archived."""
        with self._client.pipeline(transaction=True) as pipeline:
            queue_archived_days(pipeline, keys)
            return archived_days(*pipeline.execute())

    def results(self, keys: RatingKeys, match_ids: Sequence[str]) -> dict[str, RatedResult]:
        """Return the archived results of those of ``match_ids`` that have one."""
        while True:
            archived, found = self.days(keys), {}
            with self._client.pipeline(transaction=False) as pipeline:
                for match_id in match_ids:
                    pipeline.hget(*result_place(keys, match_id))
                days = pipeline.execute()
            for match_id, day in zip(match_ids, days, strict=True):
                result = None if day is None else self.result(archived, match_id, int(day))
                if result is not None:
                    found[match_id] = result
            # Days that were moved meanwhile may be in other files, or live.
            if not any(days) or self.days(keys) == archived:
                return found

    def result(self, archived: ArchivedDays, match_id: str, day: int) -> RatedResult | None:
        """Return the archived result of a match that ended on ``day``; None for another match with the same field."""
        file = archived.file_of(day)
        return None if file is None else self.files.result(file, match_id)

    def all_results(self, archived: ArchivedDays) -> Iterator[RatedResult]:
        """Yield all archived results."""
        for file, last in archived.ranges():
            yield from (result for result in self.files.results(file) if result.day <= last)

    def entries(self, archived: ArchivedDays, pool: str, player: str, day: int) -> list[Entry]:
        """Return what a player has played up to ``day``, a rated one, in order; reads the player's days alone."""
        found: list[PlayedDay] = []
        last: int | None = day
        while last is not None and (file := archived.file_of(last)) is not None:
            run = self.files.played(file, pool, player, last)
            found[:0] = run.days
            last = run.previous and run.previous.day
        return [entry for played in found for entry in played.entries]

    def changes(self, archived: ArchivedDays, match_id: str, day: int) -> dict[str, tuple[float, float]]:
        """Return for each player of an archived match that ended on ``day`` the ratings before and after it."""
        file, result = archived.file_of(day), self.result(archived, match_id, day)
        changes: dict[str, tuple[float, float]] = {}
        if file is None or result is None:
            return changes
        for player in dict.fromkeys(result.players):
            run = self.files.played(file, result.pool, player, day)
            start = rating_at_start(run.end_before(day), day)
            found = (change_in(part, match_id, start) for part in run.days[-1].parts)
            changes.update((player, change) for change in found if change is not None)
        return changes
