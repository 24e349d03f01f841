"""The ratings of a pool kept in this process instead of in Redis."""

from collections.abc import Collection, Mapping

from domain.rating import Rating
from events.matches.readmodels.recalculation import PlayerDay, RatingRecalculation, Unsettled
from events.matches.readmodels.standings import DayEnd, DayEntry, DayPart, Ends, change_in, rating_at_start
from events.matches.readmodels.summary import RatedResult


class RatingBook:
    """The ratings of a pool as recalculations leave them; ``rated`` counts the matches of players they rated."""

    def __init__(self, pool: str) -> None:
        self.pool = pool
        self.timelines: dict[str, dict[int, DayEnd]] = {}
        self.stored_parts: dict[PlayerDay, dict[int, DayPart]] = {}
        self.unsettled: set[Unsettled] = set()
        self.leaderboard: dict[str, float] = {}
        self.rated = 0

    def ends(self, wanted: Collection[PlayerDay]) -> Mapping[PlayerDay, Ends]:
        return {(player, day): self._ends(player, day) for player, day in wanted}

    def parts(self, wanted: Mapping[PlayerDay, range]) -> Mapping[PlayerDay, list[DayPart]]:
        return {
            of: [self.stored_parts[of][number] for number in numbers if number in self.stored_parts.get(of, {})]
            for of, numbers in wanted.items()
        }

    def put(self, *added: RatedResult, removed: tuple[RatedResult, ...] = (), step: int = 2000) -> None:
        """Put results in and out, and calculate in steps of ``step`` matches until all is settled."""
        self.step(added, removed, step)
        while self.unsettled:
            self.step((), (), step)

    def step(self, added: Collection[RatedResult], removed: Collection[RatedResult], step: int) -> None:
        recalculation = RatingRecalculation(self.pool, self)
        recalculation.replace(removed, added)
        taken = sorted(self.unsettled, key=lambda item: (item.order, item.player))[:3]
        recalculation.settle(taken, step)
        self.unsettled = (self.unsettled - set(taken)) | set(recalculation.unsettled)
        for player, day, end in recalculation.ends():
            days = self.timelines.setdefault(player, {})
            days.pop(day, None)
            if end is not None:
                days[day] = end
        for player, day, played in recalculation.days():
            stored = self.stored_parts.setdefault((player, day), {})
            for number, part in played.changed_parts():
                stored.pop(number, None)
                if part is not None:
                    stored[number] = part
            self.rated += sum(played.changed_from <= entry.place for entry in played.entries if played.changed_from)
        for player, rating in recalculation.places_in_leaderboard():
            self.leaderboard.pop(player, None)
            if rating is not None:
                self.leaderboard[player] = rating
        self.timelines = {player: days for player, days in self.timelines.items() if days}
        self.stored_parts = {place: parts for place, parts in self.stored_parts.items() if parts}

    @property
    def days(self) -> dict[PlayerDay, list[DayEntry]]:
        return {
            of: [entry for _, part in sorted(parts.items()) for entry in part.entries]
            for of, parts in self.stored_parts.items()
        }

    def changes(self, player: str, day: int) -> list[tuple[float, float] | None]:
        start = rating_at_start(self._ends(player, day).previous, day)
        parts = sorted(self.stored_parts[player, day].items())
        return [change_in(part, entry.match, start) for _, part in parts for entry in part.entries]

    def after(self, player: str, day: int) -> Rating:
        return self.timelines[player][day].rating

    def _ends(self, player: str, day: int) -> Ends:
        timeline, parts = self.timelines.get(player, {}), self.stored_parts.get((player, day), {})
        earlier = [each for each in timeline if each < day]
        later = [each for each in timeline if each > day]
        return Ends(
            timeline[max(earlier)] if earlier else None, timeline.get(day), min(later, default=None), len(parts)
        )
