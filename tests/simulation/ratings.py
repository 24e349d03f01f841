"""The ratings of a simulated year, computed twice: incrementally with every result, and from final results only."""

from collections import defaultdict
from collections.abc import Iterable

from domain.match.state import MatchState
from events.matches.readmodels import RatedResult, rated_result, summarise
from events.matches.readmodels.standings import DayEnd
from tests.support.rating_book import RatingBook

Ends = dict[tuple[str, str, int], DayEnd]
"""The ratings at the end of a day, by pool, player and day."""


class LiveRatings:
    """Ratings that follow the matches as they change; ``undone`` counts results that were removed or replaced."""

    def __init__(self) -> None:
        self._pools: dict[str, RatingBook] = {}
        self._included: dict[str, RatedResult] = {}
        self.undone = 0

    def update(self, state: MatchState) -> None:
        before = self._included.get(state.match_id)
        if not state.rated or (before is None and not state.ended):
            return
        result = rated_result(summarise(state))
        if result == before:
            return
        self.undone += before is not None
        pool = (result or before).pool
        book = self._pools.setdefault(pool, RatingBook(pool))
        book.put(*([] if result is None else [result]), removed=() if before is None else (before,))
        if result is None:
            del self._included[state.match_id]
        else:
            self._included[state.match_id] = result

    def day_ends(self) -> Ends:
        return _ends(self._pools.values())


def final_day_ends(states: Iterable[MatchState]) -> Ends:
    """Return the ratings at the end of all days, computed only from the results of ``states``."""
    by_pool: dict[str, list[RatedResult]] = defaultdict(list)
    for state in states:
        result = rated_result(summarise(state)) if state.rated else None
        if result is not None:
            by_pool[result.pool].append(result)
    pools = []
    for pool, results in sorted(by_pool.items()):
        pools.append(RatingBook(pool))
        pools[-1].put(*results)
    return _ends(pools)


def _ends(pools: Iterable[RatingBook]) -> Ends:
    return {
        (book.pool, player, day): end
        for book in pools
        for player, timeline in book.timelines.items()
        for day, end in timeline.items()
    }
