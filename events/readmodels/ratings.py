"""Ratings: which matches are in them, and how one gets in."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from domain.match.state import MatchState
from events.readmodels import RatedResult, rated_result, summarise
from events.readmodels.generations import scan
from events.readmodels.recalculation import RatingRecalculation, stored_entries, stored_timelines
from events.runtime.connections import StoreClient, StorePipeline
from events.runtime.keys import ReadModelKeys, literal_pattern
from events.runtime.transactions import transact
from events.store.converter import pack, unpack

MAX_ATTEMPTS = 50


class Ratings:
    """The ratings of all pools, stored beside the record of the matches that are in them.

    All changes watch that record, so they happen one after another; a change that is repeated finds its matches in the
    record and does nothing. ``read_result`` returns the result of a match as it counts now. Methods raise
    StoreUnavailableError.
    """

    def __init__(
        self, client: StoreClient, keys: ReadModelKeys, read_result: Callable[[str], RatedResult | None]
    ) -> None:
        self._client = client
        self._keys = keys
        self._read_result = read_result

    def rate(self, match_id: str) -> bool:
        """Put the result of a match into the ratings as the match stands now; return whether anything changed.

        A result that no longer counts, because a flag was forgiven or a failover has lost it, is taken out again. Also
        raises what ``read_result`` raises.
        """
        changed, result = False, self._read_result(match_id)
        while True:
            changed |= self.put({match_id: result})
            # Since it was read the match may have continued, and a task that was started by that may have found
            # nothing in the ratings to take out.
            before, result = result, self._read_result(match_id)
            if result == before:
                return changed

    def owed(self, state: MatchState) -> bool:
        """Tell whether a match is in the ratings otherwise than its state says."""
        return state.rated and rated_result(summarise(state)) != self.included([state.match_id])[state.match_id]

    def included(self, match_ids: list[str]) -> dict[str, RatedResult | None]:
        """Return the results with which matches are in the ratings, None for those that are not."""
        if not match_ids:
            return {}
        packed = self._client.hmget(self._keys.rated, match_ids)
        return dict(
            zip(match_ids, (None if each is None else unpack(RatedResult, each) for each in packed), strict=True)
        )

    def put(self, results: Mapping[str, RatedResult | None]) -> bool:
        """Make ``results`` the results of these matches (None: they have none); return whether anything changed."""

        def change(pipeline: StorePipeline) -> bool:
            known = self.included(list(results))
            changed = {match_id: result for match_id, result in results.items() if result != known[match_id]}
            if changed:
                before = {match_id: known[match_id] for match_id in changed}
                recalculated = _recalculate(self._stored, before, changed)
                pipeline.multi()
                self._write(pipeline, changed, recalculated)
            return bool(changed)

        return transact(self._client, [self._keys.rated], change, attempts=MAX_ATTEMPTS)

    def replace(self, gather: Callable[[], Iterable[RatedResult]]) -> None:
        """Make the ratings those of the results that ``gather`` returns and of nothing else, in one transaction.

        ``gather`` is called again when a result is put in meanwhile.
        """

        def change(pipeline: StorePipeline) -> None:
            results = {result.match: result for result in gather()}
            recalculated = _recalculate(RatingRecalculation, {}, results)
            stored = [name for names in scan(self._client, f"{literal_pattern(self._keys.ratings)}*") for name in names]
            pipeline.multi()
            for name in stored:
                pipeline.unlink(name)
            self._write(pipeline, results, recalculated)

        transact(self._client, [self._keys.rated], change, attempts=MAX_ATTEMPTS)

    def _stored(self, pool: str) -> RatingRecalculation:
        return RatingRecalculation(
            pool, stored_timelines(self._client, self._keys), stored_entries(self._client, self._keys)
        )

    def _write(
        self,
        pipeline: StorePipeline,
        results: Mapping[str, RatedResult | None],
        recalculated: Sequence[RatingRecalculation],
    ) -> None:
        for match_id, result in results.items():
            if result is None:
                pipeline.hdel(self._keys.rated, match_id)
            else:
                pipeline.hset(self._keys.rated, match_id, pack(result))
        for of_pool in recalculated:
            of_pool.write(pipeline, self._keys)


def _recalculate(
    start: Callable[[str], RatingRecalculation],
    old: Mapping[str, RatedResult | None],
    new: Mapping[str, RatedResult | None],
) -> list[RatingRecalculation]:
    """Recalculate the pools that are concerned when results change from ``old`` to ``new``."""
    removed: dict[str, list[RatedResult]] = defaultdict(list)
    added: dict[str, list[RatedResult]] = defaultdict(list)
    for results, by_pool in ((old, removed), (new, added)):
        for result in results.values():
            if result is not None:
                by_pool[result.pool].append(result)
    recalculated = []
    for pool in sorted(removed.keys() | added.keys()):
        of_pool = start(pool)
        of_pool.replace(removed[pool], added[pool])
        recalculated.append(of_pool)
    return recalculated
