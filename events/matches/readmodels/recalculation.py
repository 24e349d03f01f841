"""The ratings of one pool as a function of its results alone: which results, never in what order they arrived.

A rating after a day is Glicko-2 over all results of that day, with all players rated as at its start. A late result is
put into its day, and all that depended on it is calculated again, in bounded steps; the rest is stored
(``Unsettled``) and taken up by the next step.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import NamedTuple, Protocol

from domain.rating import NO_RESULTS, Period, PeriodSums, Rating, Result, weight_of_result
from events.matches.readmodels.standings import (
    BEGIN_OF_DAY,
    MAX_ENTRIES_PER_PART,
    PROVISIONAL_DEVIATION,
    DayEnd,
    DayEntry,
    DayPart,
    DayPlace,
    Ends,
    rating_at_start,
)
from events.matches.readmodels.summary import RatedResult, seats_of

MAX_PLAYERS_AT_ONCE = 100

PlayerDay = tuple[str, int]


class Unsettled(NamedTuple):
    """A day of a player to be calculated again; when ``restarted``, so is the rest of that day of all they met."""

    pool: str
    day: int
    player: str
    restarted: bool

    @property
    def order(self) -> float:
        """Orders unsettled entries: by day, and first those that lead to more on the same day."""
        return self.day if self.restarted else self.day + 0.5


class StoredPeriods(Protocol):
    """The ratings of a pool as they are stored; each call is one round trip."""

    def ends(self, wanted: Collection[PlayerDay]) -> Mapping[PlayerDay, Ends]:
        """Return how days of players begin and end."""

    def parts(self, wanted: Mapping[PlayerDay, range]) -> Mapping[PlayerDay, list[DayPart]]:
        """Return parts of days of players by their numbers; those that are not there are left out."""


@dataclass
class Day:
    """The matches of a player's day, from a part of it on; ``sums`` precede each part, ``stored`` is their number."""

    first: int
    stored: int
    sums: list[PeriodSums] = field(default_factory=list)
    entries: list[DayEntry] = field(default_factory=list)
    changed_from: DayPlace | None = None

    def put_before(self, parts: Sequence[DayPart], first: int) -> None:
        """Put the parts from ``first`` on before those that are here."""
        self.first = first
        self.sums[:0] = [part.sums for part in parts]
        self.entries[:0] = [entry for part in parts for entry in part.entries]

    def covers(self, place: DayPlace) -> bool:
        """Tell whether a match stands before ``place`` here, or none does in the whole day."""
        return self.first == 0 or (bool(self.entries) and self.entries[0].place < place)

    @property
    def matches(self) -> int:
        """How many matches the day has."""
        return self.first * MAX_ENTRIES_PER_PART + len(self.entries)

    def changed_parts(self) -> Iterator[tuple[int, DayPart | None]]:
        """Yield the parts that have changed, with their numbers; None for those that are not there any more."""
        unchanged = sum(1 for _ in takewhile(lambda entry: not self._is_changed(entry), self.entries))
        number = self.first + unchanged // MAX_ENTRIES_PER_PART
        while rest := self.entries[(number - self.first) * MAX_ENTRIES_PER_PART :]:
            yield number, DayPart(self.sums[number - self.first], tuple(rest[:MAX_ENTRIES_PER_PART]))
            number += 1
        yield from ((gone, None) for gone in range(number, self.stored))

    def _is_changed(self, entry: DayEntry) -> bool:
        return self.changed_from is not None and entry.place >= self.changed_from


@dataclass
class _Work:
    """The work on one day: the players who have restarted, and from where on others are calculated again."""

    restarted: set[str] = field(default_factory=set)
    again: dict[str, DayPlace] = field(default_factory=dict)

    def add(self, player: str, place: DayPlace) -> None:
        self.again[player] = min(place, self.again.get(player, place))


class RatingRecalculation:
    """One step of changing the ratings of a pool: reads and calculates; its outcome is in its attributes."""

    def __init__(self, pool: str, stored: StoredPeriods) -> None:
        self.pool = pool
        self._weight = weight_of_result(seats_of(pool))
        self._stored = stored
        self._ends: dict[PlayerDay, Ends] = {}
        self._after: dict[str, dict[int, DayEnd | None]] = defaultdict(dict)
        self._days: dict[PlayerDay, Day] = {}
        self._work: dict[int, _Work] = defaultdict(_Work)
        self._removed: dict[PlayerDay, set[str]] = defaultdict(set)
        self._added: dict[PlayerDay, list[DayEntry]] = defaultdict(list)

    def replace(self, removed: Iterable[RatedResult], added: Iterable[RatedResult]) -> None:
        """Take results out and put results in, with all matches of their players that come later in the same day."""
        for result in removed:
            for player in set(result.players):
                self._removed[player, result.day].add(result.match)
                self._work[result.day].add(player, DayPlace(result.at, result.match))
        for result in added:
            for player, scores in result.results().items():
                self._added[player, result.day].append(DayEntry(result.at, result.match, scores, _UNRATED))
                self._work[result.day].add(player, DayPlace(result.at, result.match))
        for day in sorted(self._work):
            edited = {player for player, of in (*self._removed, *self._added) if of == day}
            self._rate(day, edited)

    def settle(self, unsettled: Iterable[Unsettled], max_entries: int) -> None:
        """Go on with the unsettled entries, and those that follow from the results, until ``max_entries`` are rated."""
        for item in unsettled:
            if item.restarted:
                self._work[item.day].restarted.add(item.player)
            else:
                self._work[item.day].add(item.player, BEGIN_OF_DAY)
        rated = 0
        while rated < max_entries and (
            days := [day for day, work in self._work.items() if work.restarted or work.again]
        ):
            day = min(days)
            work = self._work[day]
            if work.restarted:
                rated += self._restart(day, sorted(work.restarted)[:MAX_PLAYERS_AT_ONCE])
            else:
                rated += self._rate(day, sorted(work.again)[:MAX_PLAYERS_AT_ONCE])

    @property
    def unsettled(self) -> list[Unsettled]:
        """The work left for this step."""
        return [
            Unsettled(self.pool, day, player, restarted)
            for day, work in sorted(self._work.items())
            for restarted, players in ((True, work.restarted), (False, work.again))
            for player in sorted(players)
        ]

    def days(self) -> Iterator[tuple[str, int, Day]]:
        """Yield the days of players that have changed."""
        for (player, day), played in sorted(self._days.items(), key=lambda item: item[0]):
            if played.changed_from is not None:
                yield player, day, played

    def ends(self) -> Iterator[tuple[str, int, DayEnd | None]]:
        """Yield how days of players end that were calculated; None when nothing is left of one."""
        for player, ends in sorted(self._after.items()):
            for day, end in sorted(ends.items()):
                yield player, day, end

    def places_in_leaderboard(self) -> Iterator[tuple[str, float | None]]:
        """Yield the players whose last rated day has changed, with their ratings; None for none."""
        for player, end in self._last_ends():
            yield player, None if end is None else end.rating.rating

    def ranks(self) -> Iterator[tuple[str, float | None]]:
        """Yield the same players with their ratings; None for those that are provisional after their last rated day."""
        for player, end in self._last_ends():
            certain = end is not None and end.rating.deviation <= PROVISIONAL_DEVIATION
            yield player, end.rating.rating if end is not None and certain else None

    def _last_ends(self) -> Iterator[tuple[str, DayEnd | None]]:
        for player, ends in sorted(self._after.items()):
            last = max(ends)
            if self._next_day(player, last) is None:
                yield player, ends[last] or self._previous(player, last)

    def _restart(self, day: int, players: Collection[str]) -> int:
        """Note the effects of other ratings of ``players`` at the start of a day; return how many matches they have."""
        work = self._work[day]
        self._read(day, dict.fromkeys(players, BEGIN_OF_DAY))
        matches = 0
        for player in players:
            work.restarted.discard(player)
            work.add(player, BEGIN_OF_DAY)
            for entry in self._days[player, day].entries:
                matches += 1
                for other, _ in entry.results:
                    work.add(other, entry.place)
        return matches

    def _rate(self, day: int, players: Collection[str]) -> int:
        """Rate the matches of players in a day, each from the place on that is noted; return how many matches."""
        places = {player: self._work[day].again.pop(player) for player in players}
        self._read(day, places)
        for player in players:
            self._edit(player, day)
        entries = (entry for player in players for entry in self._days[player, day].entries)
        met = {other for entry in entries for other, _ in entry.results}
        self._read_ends(day, met)
        starts = {player: rating_at_start(self._previous(player, day), day) for player in met.union(players)}
        return sum(self._rate_player(player, day, places[player], starts) for player in sorted(players))

    def _rate_player(self, player: str, day: int, place: DayPlace, starts: Mapping[str, Rating]) -> int:
        played, previous = self._days[player, day], self._previous(player, day)
        period = Period(starts[player], played.sums[0] if played.sums else NO_RESULTS)
        played.sums, first = [], len(played.entries)
        for index, entry in enumerate(played.entries):
            if index % MAX_ENTRIES_PER_PART == 0:
                played.sums.append(period.sums)
            for other, score in entry.results:
                period.add(Result(starts[other], score, self._weight))
            if entry.place >= place:
                first = min(first, index)
                played.entries[index] = entry._replace(after=period.rating())
        played.changed_from = place if played.changed_from is None else min(place, played.changed_from)
        end = None
        if played.entries:
            last = played.entries[-1]
            end = DayEnd(day, last.after, (previous.matches if previous else 0) + played.matches, last.at)
        stored = self._ends[player, day].own
        before = self._after[player].get(day, stored)
        self._after[player][day] = end
        # A day that is gone hands on changes even if its end is the same: they may come from an earlier one.
        later = self._next_day(player, day) if end != before or end is None else None
        if later is not None:
            self._work[later].restarted.add(player)
        return len(played.entries) - first

    def _edit(self, player: str, day: int) -> None:
        removed = self._removed.pop((player, day), set())
        added = self._added.pop((player, day), [])
        entries = self._days[player, day].entries
        if removed:
            entries[:] = [entry for entry in entries if entry.match not in removed]
        if added:
            entries += added
            entries.sort(key=lambda entry: entry.place)

    def _previous(self, player: str, day: int) -> DayEnd | None:
        stored = self._ends[player, day].previous
        earlier = [earlier_day for earlier_day in self._after.get(player, ()) if earlier_day < day]
        if not earlier or (stored is not None and stored.day > max(earlier)):
            return stored
        return self._after[player][max(earlier)] or self._previous(player, max(earlier))

    def _next_day(self, player: str, day: int) -> int | None:
        stored = self._ends[player, day].next_day
        later = [later_day for later_day in self._after[player] if later_day > day]
        return min([*later, *([] if stored is None else [stored])], default=None)

    def _read_ends(self, day: int, players: Iterable[str]) -> None:
        unknown = {(player, day) for player in players} - self._ends.keys()
        if unknown:
            self._ends |= self._stored.ends(unknown)

    def _read(self, day: int, places: Mapping[str, DayPlace]) -> None:
        """Read the days of players, each at least from the part on in which its place is."""
        self._read_ends(day, places)
        for player in places:
            if (player, day) not in self._days:
                parts = self._ends[player, day].parts
                self._days[player, day] = Day(first=parts, stored=parts)
        number = 1
        while missing := {
            (player, day): range(0 if place == BEGIN_OF_DAY else max(0, played.first - number), played.first)
            for player, place in places.items()
            if not (played := self._days[player, day]).covers(place)
        }:
            for player_day, day_parts in self._stored.parts(missing).items():
                self._days[player_day].put_before(day_parts, missing[player_day].start)
            number *= 2


_UNRATED = Rating(0.0, 0.0, 0.0)
"""Stands in an entry until its rating is calculated."""
