"""How a rating came about, match by match: what each counted, against whom, and what was expected."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from domain.rating import NO_RESULTS, Period, Rating, expected_score, weight_of_result
from events.archive.errors import DamagedArchiveError
from events.readmodels.archived_periods import ArchivedDays, ArchivedPeriods
from events.readmodels.generations import Current
from events.readmodels.paging import Page, check_page_size
from events.readmodels.rating_generations import RATINGS, parse_version
from events.readmodels.standings import (
    MAX_ENTRIES_PER_PART,
    DayEnd,
    Entry,
    Part,
    count_field,
    part_field,
    rating_at_start,
    unpack_end,
    unpack_part,
)
from events.readmodels.summary import seats_of
from events.runtime.connections import StorePipeline
from events.runtime.keys import ReadModelKeys

Read = Callable[[Callable[[StorePipeline, Current], object]], list[Any]]
"""Reads from the current generation of ratings: see ``RatingReader.read``."""

_CURSOR = re.compile(r"(\d{1,8})\.(\d{1,8})")


class Compared(NamedTuple):
    """A pairwise result: the opponent, rated as at the start of the day, and the score, beside the expected one."""

    opponent: str
    start: Rating
    score: float
    expected: float


class RatedMatch(NamedTuple):
    """A match in a player's rating: all that its number follows from.

    The period is the UTC day ``day`` (since 1970), which the player began with ``start``, after ``rested`` days without
    a rated match (None: before the first one). Each of ``results`` counts ``weight``. ``before`` and ``after`` are the
    ratings after all of the day's results before this match, and with it. ``at`` is milliseconds since 1970 UTC.
    """

    match: str
    at: int
    day: int
    start: Rating
    rested: int | None
    weight: float
    results: tuple[Compared, ...]
    before: Rating
    after: Rating


class RatedMatches(NamedTuple):
    """A page of rated matches, the last to end first, and the version of the ratings."""

    page: Page[RatedMatch]
    version: int


class _DayPart(NamedTuple):
    """A part of a player's day, with the end of the last rated day before; ``part`` is None until it is read."""

    end: DayEnd
    previous: DayEnd | None
    number: int
    matches: int
    part: Part | None


class RatedMatchReader:
    """Reads how ratings came about; while days are moved to the archive or back, pages may lack some."""

    def __init__(self, read: Read, keys: ReadModelKeys, periods: ArchivedPeriods, archived: ArchivedDays) -> None:
        self._read = read
        self._keys = keys
        self._periods = periods
        self._archived = archived

    def page(self, pool: str, player: str, cursor: str | None, limit: int) -> RatedMatches:
        """Return rated matches of a player in a pool: whole parts of days, until there are ``limit`` matches or more.

        So a page has fewer than ``limit`` and MAX_ENTRIES_PER_PART matches together. Four round trips, more where days
        are archived. Raises ValueError for an invalid cursor and a limit outside 1 to 200, ArchiveUnavailableError and
        DamagedArchiveError.
        """
        check_page_size(limit)
        from_day, from_part = _parse(cursor)

        def queue(pipeline: StorePipeline, current: Current) -> None:
            of = self._keys.rating_keys(current[RATINGS])
            latest = "+inf" if from_day is None else from_day
            pipeline.mget([of.version, of.revision])
            pipeline.zrevrangebyscore(of.timeline(pool, player), latest, "-inf", start=0, num=limit + 2)

        stored_version, packed = self._read(queue)
        version, ends = parse_version(*stored_version), [unpack_end(each) for each in packed]
        parts = chain(
            self._live_parts(pool, player, ends, limit + 1),
            self._archived_parts(pool, player, ends, from_day) if len(ends) < limit + 2 else (),
        )
        chosen: list[_DayPart] = []
        following, matches = None, 0
        for of in parts:
            if of.end.day == from_day and of.number >= from_part:
                continue
            if matches >= limit:
                following = f"{of.end.day}.{of.number + 1}"
                break
            chosen.append(of)
            matches += of.matches
        found = self._with_parts(pool, player, chosen)
        if not found:
            return RatedMatches(Page([], following), version)  # the pool may be none at all, without a number of seats
        starts = self._starts(pool, found)
        weight = weight_of_result(seats_of(pool), version)
        return RatedMatches(Page([each for of in found for each in _explain(of, starts, weight)], following), version)

    def _live_parts(self, pool: str, player: str, ends: Sequence[DayEnd], max_days: int) -> Iterator[_DayPart]:
        """Yield the parts of live days, the last first; one more of ``ends`` tells what lies before them."""
        live = [end for end in ends if end.day > self._archived.until][:max_days]

        def queue(pipeline: StorePipeline, current: Current) -> None:
            for end in live:
                day = self._keys.rating_keys(current[RATINGS]).day(pool, end.day)
                pipeline.hget(day, count_field(player))

        counts = self._read(queue) if live else []
        for end, previous, count in zip(live, [*ends[1:], None], counts, strict=False):
            parts = int(count or 1)
            last = end.matches - (previous.matches if previous else 0) - (parts - 1) * MAX_ENTRIES_PER_PART
            for number in range(parts - 1, -1, -1):
                yield _DayPart(end, previous, number, last if number == parts - 1 else MAX_ENTRIES_PER_PART, None)

    def _archived_parts(
        self, pool: str, player: str, ends: Sequence[DayEnd], from_day: int | None
    ) -> Iterator[_DayPart]:
        """Yield the parts of archived days, the last first; of their ends only the last one is live."""
        last: int | None = next((end.day for end in ends if end.day <= self._archived.until), None)
        if from_day is not None and from_day <= self._archived.until:
            last = from_day
        while last is not None and (file := self._archived.file_of(last)) is not None:
            try:
                run = self._periods.files.played(file, pool, player, last)
            except DamagedArchiveError as error:
                if last == from_day:  # no day of the player: the cursor comes from no page
                    raise ValueError(f"invalid cursor: {from_day}") from error
                raise
            before = [run.previous, *(played.end for played in run.days)]
            for played, previous in reversed(list(zip(run.days, before, strict=False))):
                for number, part in reversed(list(enumerate(played.parts))):
                    yield _DayPart(played.end, previous, number, len(part.entries), part)
            last = run.previous and run.previous.day

    def _with_parts(self, pool: str, player: str, chosen: Sequence[_DayPart]) -> list[_DayPart]:
        """Return what was chosen with its parts; one that is gone was taken out since: its matches do not count."""
        missing = [of for of in chosen if of.part is None]

        def queue(pipeline: StorePipeline, current: Current) -> None:
            for of in missing:
                day = self._keys.rating_keys(current[RATINGS]).day(pool, of.end.day)
                pipeline.hget(day, part_field(player, of.number))

        read = iter(self._read(queue) if missing else ())
        found = (of if of.part is not None else of._replace(part=unpack_part(next(read), of.number)) for of in chosen)
        return [of for of in found if of.part is not None]

    def _starts(self, pool: str, found: Iterable[_DayPart]) -> dict[tuple[int, str], Rating]:
        """Return the ratings of all opponents at the start of the days on which they were met."""
        met = sorted(
            {(of.end.day, other) for of in found if of.part for each in of.part.entries for other, _ in each.results}
        )
        live = [(day, other) for day, other in met if day > self._archived.until]

        def queue(pipeline: StorePipeline, current: Current) -> None:
            for day, other in live:
                timeline = self._keys.rating_keys(current[RATINGS]).timeline(pool, other)
                pipeline.zrevrangebyscore(timeline, f"({day}", "-inf", start=0, num=1)

        replies = self._read(queue) if live else []
        starts = {
            (day, other): rating_at_start(unpack_end(reply[0]) if reply else None, day)
            for (day, other), reply in zip(live, replies, strict=True)
        }
        for day, other in met:
            file = self._archived.file_of(day)
            if (day, other) not in starts and file is not None:
                run = self._periods.files.played(file, pool, other, day)
                starts[day, other] = rating_at_start(run.end_before(day), day)
        return starts


def _explain(of: _DayPart, starts: Mapping[tuple[int, str], Rating], weight: float) -> Iterator[RatedMatch]:
    """Yield the matches of a part, the last first."""
    part = of.part or Part(NO_RESULTS, ())
    day = of.end.day
    start = rating_at_start(of.previous, day)
    rested = None if of.previous is None else day - of.previous.day - 1
    # Without results a period would be one of rest: before its first match the rating is that at the start.
    first = Period(start, part.sums).rating() if part.sums.certainty else start
    before = [first, *(entry.after for entry in part.entries)]
    for entry, rating in reversed(list(zip(part.entries, before, strict=False))):
        yield RatedMatch(
            entry.match, entry.at, day, start, rested, weight, _compared(entry, start, day, starts), rating, entry.after
        )


def _compared(entry: Entry, start: Rating, day: int, starts: Mapping[tuple[int, str], Rating]) -> tuple[Compared, ...]:
    return tuple(
        Compared(other, starts[day, other], score, expected_score(start, starts[day, other]))
        for other, score in entry.results
    )


def _parse(cursor: str | None) -> tuple[int | None, int]:
    """Return the day from which on, backwards, a page begins, and which of its parts are on earlier pages."""
    if cursor is None:
        return None, 0
    found = _CURSOR.fullmatch(cursor)
    if found is None:
        raise ValueError(f"invalid cursor: {cursor:.40}")
    return int(found[1]), int(found[2])
