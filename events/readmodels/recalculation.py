"""The ratings of one pool as a function of its results alone: which results, never in what order they arrived.

A player's rating after a day is Glicko-2 (``domain.rating``) over all results of the player on that day, with the
player and all opponents rated as at the start of the day. A result that arrives late is put into its day, and all that
depended on it is calculated again from there on: the later days of its players, and of those who met them then.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

from domain.rating import Rating, Result, rate
from events.readmodels.standings import (
    DayEnd,
    Entry,
    pack_change,
    pack_entries,
    rating_at_start,
    unpack_entries,
)
from events.readmodels.summary import RatedResult
from events.runtime.connections import StoreClient, StorePipeline
from events.runtime.keys import ReadModelKeys
from events.runtime.scripts import script_source
from events.store.converter import pack, unpack

Timeline = dict[int, DayEnd]
"""A player's rated days and how each of them ended."""

PlayerDay = tuple[str, int]


class RatingRecalculation:
    """The part of a pool's ratings that a change concerns: read as it is needed, calculated, and written at once."""

    def __init__(
        self,
        pool: str,
        read_timeline: Callable[[str, str], Timeline] = lambda _pool, _player: {},
        read_entries: Callable[[str, str, int], list[Entry]] = lambda _pool, _player, _day: [],
    ) -> None:
        """Begin with the ratings of ``pool`` as the two functions read them; without them, with none."""
        self.pool = pool
        self._read_timeline = read_timeline
        self._read_entries = read_entries
        self._timelines: dict[str, Timeline] = {}
        self._days: dict[PlayerDay, list[Entry]] = {}
        self._changed: set[PlayerDay] = set()
        self._gone: set[str] = set()

    def replace(self, removed: Iterable[RatedResult], added: Iterable[RatedResult]) -> None:
        """Take results out, put results in, and calculate every rating that depends on them."""
        touched: dict[int, set[str]] = {}
        moved: dict[int, set[str]] = {}
        for result in removed:
            self._gone.add(result.match)
            for player in result.results():
                entries = self._entries(player, result.day)
                entries[:] = [entry for entry in entries if entry.match != result.match]
                moved.setdefault(result.day, set()).add(player)
        for result in added:
            self._gone.discard(result.match)
            for player, scores in result.results().items():
                self._entries(player, result.day).append(Entry(result.at, result.match, scores, _UNRATED))
                touched.setdefault(result.day, set()).add(player)
        while touched or moved:
            day = min(chain(touched, moved))
            restarted = self._with_those_met(moved.pop(day, set()), day)
            for player in touched.pop(day, set()) | restarted:
                if self._rate_day(player, day, whole=player in restarted):
                    later = [rated for rated in self._timeline(player) if rated > day]
                    if later:
                        moved.setdefault(min(later), set()).add(player)

    def changes(self) -> Iterator[tuple[str, int, DayEnd | None, list[Entry]]]:
        """Yield what has been calculated: player, day, how it ends (None: nothing is left of it) and its matches."""
        for player, day in sorted(self._changed):
            yield player, day, self._timeline(player).get(day), self._entries(player, day)

    def write(self, pipeline: StorePipeline, keys: ReadModelKeys) -> None:
        """Queue on ``pipeline`` what has changed."""
        for match in sorted(self._gone):
            pipeline.delete(keys.change(match))
        pipeline.sadd(keys.pools, self.pool)
        for player, day, end, entries in self.changes():
            pipeline.zremrangebyscore(keys.timeline(self.pool, player), day, day)
            if end is None:
                pipeline.hdel(keys.day(self.pool, day), player)
            else:
                pipeline.zadd(keys.timeline(self.pool, player), {pack(end): day})
                pipeline.hset(keys.day(self.pool, day), player, pack_entries(entries))
            before = self._start(player, day).rating
            for entry in entries:
                pipeline.hset(keys.change(entry.match), player, pack_change(before, entry.after.rating))
                before = entry.after.rating
        for player in sorted({player for player, _ in self._changed}):
            timeline = self._timeline(player)
            if timeline:
                pipeline.zadd(keys.leaderboard(self.pool), {player: timeline[max(timeline)].rating.rating})
            else:
                pipeline.zrem(keys.leaderboard(self.pool), player)
        pipeline.eval(_FORGET_EMPTY_POOL, 2, keys.pools, keys.leaderboard(self.pool), self.pool)

    def _rate_day(self, player: str, day: int, whole: bool) -> bool:
        """Calculate a player's day; return whether it ends otherwise than before.

        Unless ``whole``, the entries before the first one that is new keep the ratings they have.
        """
        timeline, entries = self._timeline(player), self._entries(player, day)
        previous = _last_before(timeline, day)
        start = rating_at_start(previous, day)
        entries.sort(key=lambda entry: (entry.at, entry.match))
        results: list[Result] = []
        for place, entry in enumerate(entries):
            results += [Result(self._start(other, day), score) for other, score in entry.results]
            whole = whole or entry.after is _UNRATED
            if whole:
                entries[place] = entry._replace(after=rate(start, results))
        self._changed.add((player, day))
        before = timeline.pop(day, None)
        if entries:
            matches = (previous.matches if previous else 0) + len(entries)
            timeline[day] = DayEnd(day, entries[-1].after, matches, entries[-1].at)
        return timeline.get(day) != before

    def _with_those_met(self, players: set[str], day: int) -> set[str]:
        """Return ``players`` and all whom they met on ``day``: their ratings count for each other."""
        met = (other for player in players for entry in self._entries(player, day) for other, _ in entry.results)
        return players.union(met)

    def _start(self, player: str, day: int) -> Rating:
        return rating_at_start(_last_before(self._timeline(player), day), day)

    def _timeline(self, player: str) -> Timeline:
        if player not in self._timelines:
            self._timelines[player] = self._read_timeline(self.pool, player)
        return self._timelines[player]

    def _entries(self, player: str, day: int) -> list[Entry]:
        if (player, day) not in self._days:
            self._days[player, day] = self._read_entries(self.pool, player, day)
        return self._days[player, day]


_FORGET_EMPTY_POOL = script_source(__package__, "forget_empty_pool")

_UNRATED = Rating(0.0, 0.0, 0.0)
"""Stands in an entry until its rating is calculated."""


def _last_before(timeline: Timeline, day: int) -> DayEnd | None:
    earlier = [rated for rated in timeline if rated < day]
    return timeline[max(earlier)] if earlier else None


def stored_timelines(client: StoreClient, keys: ReadModelKeys) -> Callable[[str, str], Timeline]:
    """Return a function that reads the timeline of a player in a pool."""

    def read(pool: str, player: str) -> Timeline:
        packed: Any = client.zrange(keys.timeline(pool, player), 0, -1)
        ends = [unpack(DayEnd, end) for end in packed]
        return {end.day: end for end in ends}

    return read


def stored_entries(client: StoreClient, keys: ReadModelKeys) -> Callable[[str, str, int], list[Entry]]:
    """Return a function that reads what a player has played in a pool on a day."""

    def read(pool: str, player: str, day: int) -> list[Entry]:
        packed: Any = client.hget(keys.day(pool, day), player)
        return unpack_entries(packed)

    return read
