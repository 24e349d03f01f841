"""How a rating came about, match by match: the weight of each, the other player, and the expected score."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from domain.rating import Period, Rating, expected_score, weight_of_result
from events.matches.readmodels import standings
from events.matches.readmodels.generations import RATINGS, Current
from events.matches.readmodels.paging import Page, Place, check_page_size, format_cursor, parse_cursor
from events.matches.readmodels.summary import seats_of
from events.runtime.connections import StorePipeline
from events.runtime.keys import ReadModelKeys

Read = Callable[[Callable[[StorePipeline, Current], object]], list[Any]]


class Compared(NamedTuple):
    """A pairwise result: the opponent, rated as at the start of the day, and the score, beside the expected one."""

    opponent: str
    start: Rating
    score: float
    expected: float


class RatedMatch(NamedTuple):
    """A match in a player's rating: all that its number follows from.

    ``day`` (since 1970, UTC) began with ``start`` after ``rested`` days without a rated match. Each of ``results``
    counts ``weight``. ``before`` and ``after`` are ratings after the day's results before it, and with it.
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


class _DayPart(NamedTuple):
    """Where a part of a player's day is, with the end of the last rated day before, and how many matches it has."""

    end: standings.DayEnd
    previous: standings.DayEnd | None
    number: int
    matches: int


class RatedMatchReader:
    """Reads how ratings came about."""

    def __init__(self, read: Read, keys: ReadModelKeys) -> None:
        self._read = read
        self._keys = keys

    def page(self, pool: str, player: str, cursor: str | None, limit: int) -> Page[RatedMatch]:
        """Return rated matches of a player, the last to end first, in whole parts of days until ``limit`` (1 to 200).

        Raises ValueError for an invalid cursor or limit. Four round trips.
        """
        check_page_size(limit)
        place = parse_cursor(cursor)
        # The day from which on, backwards, the page begins, and which of its parts are on earlier pages.
        from_day, from_part = (None, 0) if place is None else (place.score, int(place.member))

        def queue(pipeline: StorePipeline, current: Current) -> None:
            of = self._keys.rating_keys(current[RATINGS])
            latest = "+inf" if from_day is None else from_day
            pipeline.zrevrangebyscore(of.timeline(pool, player), latest, "-inf", start=0, num=limit + 2)

        (packed,) = self._read(queue)
        chosen: list[_DayPart] = []
        following, matches = None, 0
        for of in self._parts(pool, player, [standings.unpack_end(end) for end in packed], limit + 1):
            if of.end.day == from_day and of.number >= from_part:
                continue
            if matches >= limit:
                following = format_cursor(Place(of.end.day, str(of.number + 1)))
                break
            chosen.append(of)
            matches += of.matches
        parts = self._with_parts(pool, player, chosen)
        if not parts:
            return Page([], following)  # the pool may be none at all, without a number of seats
        starts = self._starts(pool, parts)
        weight = weight_of_result(seats_of(pool))
        return Page([change for of, part in parts for change in _explain(of, part, starts, weight)], following)

    def _parts(self, pool: str, player: str, ends: Sequence[standings.DayEnd], max_days: int) -> Iterator[_DayPart]:
        """Yield the parts of days, the last first; ``ends`` may have one more, which precedes them."""
        days = ends[:max_days]

        def queue(pipeline: StorePipeline, current: Current) -> None:
            for end in days:
                day = self._keys.rating_keys(current[RATINGS]).day(pool, end.day)
                pipeline.hget(day, standings.count_field(player))

        counts = self._read(queue) if days else []
        for end, previous, count in zip(days, [*ends[1:], None], counts, strict=False):
            parts = int(count or 1)
            last = end.matches - (previous.matches if previous else 0) - (parts - 1) * standings.MAX_ENTRIES_PER_PART
            for number in range(parts - 1, -1, -1):
                yield _DayPart(end, previous, number, last if number == parts - 1 else standings.MAX_ENTRIES_PER_PART)

    def _with_parts(
        self, pool: str, player: str, chosen: Sequence[_DayPart]
    ) -> list[tuple[_DayPart, standings.DayPart]]:
        """Return the chosen parts; one that is gone was taken out since: its matches do not count."""

        def queue(pipeline: StorePipeline, current: Current) -> None:
            for of in chosen:
                day = self._keys.rating_keys(current[RATINGS]).day(pool, of.end.day)
                pipeline.hget(day, standings.part_field(player, of.number))

        packed = self._read(queue) if chosen else []
        parts = (
            (of, standings.unpack_part(packed_part, of.number)) for of, packed_part in zip(chosen, packed, strict=True)
        )
        return [(of, part) for of, part in parts if part is not None]

    def _starts(self, pool: str, parts: Iterable[tuple[_DayPart, standings.DayPart]]) -> dict[tuple[int, str], Rating]:
        met = sorted(
            {(of.end.day, other) for of, part in parts for entry in part.entries for other, _ in entry.results}
        )

        def queue(pipeline: StorePipeline, current: Current) -> None:
            for day, other in met:
                timeline = self._keys.rating_keys(current[RATINGS]).timeline(pool, other)
                pipeline.zrevrangebyscore(timeline, f"({day}", "-inf", start=0, num=1)

        replies = self._read(queue) if met else []
        return {
            (day, other): standings.rating_at_start(standings.unpack_end(reply[0]) if reply else None, day)
            for (day, other), reply in zip(met, replies, strict=True)
        }


def _explain(
    of: _DayPart, part: standings.DayPart, starts: Mapping[tuple[int, str], Rating], weight: float
) -> Iterator[RatedMatch]:
    """Yield the matches of a part, the last first."""
    day = of.end.day
    start = standings.rating_at_start(of.previous, day)
    rested = None if of.previous is None else day - of.previous.day - 1
    # Without results a period would be one of rest: before its first match the rating is that at the start.
    first = Period(start, part.sums).rating() if part.sums.certainty else start
    before = [first, *(entry.after for entry in part.entries)]
    for entry, rating in reversed(list(zip(part.entries, before, strict=False))):
        yield RatedMatch(
            entry.match, entry.at, day, start, rested, weight, _compared(entry, start, day, starts), rating, entry.after
        )


def _compared(
    entry: standings.DayEntry, start: Rating, day: int, starts: Mapping[tuple[int, str], Rating]
) -> tuple[Compared, ...]:
    return tuple(
        Compared(other, starts[day, other], score, expected_score(start, starts[day, other]))
        for other, score in entry.results
    )
