"""The ratings of a simulated year, twice: as results came and went, and as if only the last had ever been there."""

from collections import defaultdict
from collections.abc import Iterable

from domain.match.state import MatchState
from events.readmodels import RatedResult, rated_result, summarise
from events.readmodels.recalculation import RatingRecalculation
from events.readmodels.standings import DayEnd

Ends = dict[tuple[str, str, int], DayEnd]
"""How players' days end, by pool, player and day."""


class LiveRatings:
    """Ratings that follow matches as they change; ``undone`` counts the results that went out again."""

    def __init__(self) -> None:
        self._pools: dict[str, RatingRecalculation] = {}
        self._included: dict[str, RatedResult] = {}
        self.undone = 0

    def follow(self, state: MatchState) -> None:
        """Bring the ratings up to a match as it stands."""
        before = self._included.get(state.match)
        if not state.rated or (before is None and not state.ended):
            return
        result = rated_result(summarise(state))
        if result == before:
            return
        self.undone += before is not None
        pool = (result or before).pool
        recalculation = self._pools.setdefault(pool, RatingRecalculation(pool))
        recalculation.replace([] if before is None else [before], [] if result is None else [result])
        if result is None:
            del self._included[state.match]
        else:
            self._included[state.match] = result

    def ends(self) -> Ends:
        """Return how all days have ended."""
        return _ends(self._pools.values())


def from_scratch(states: Iterable[MatchState]) -> Ends:
    """Return how all days end when only what ``states`` say now has ever been rated."""
    by_pool: dict[str, list[RatedResult]] = defaultdict(list)
    for state in states:
        result = rated_result(summarise(state)) if state.rated else None
        if result is not None:
            by_pool[result.pool].append(result)
    pools = []
    for pool, results in sorted(by_pool.items()):
        pools.append(RatingRecalculation(pool))
        pools[-1].replace([], results)
    return _ends(pools)


def _ends(pools: Iterable[RatingRecalculation]) -> Ends:
    return {
        (recalculation.pool, player, day): end
        for recalculation in pools
        for player, day, end, _ in recalculation.changes()
        if end is not None
    }
