"""Ratings: which matches are in them, and how one gets in."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from redis.exceptions import WatchError

from domain.match.state import MatchState
from events.readmodels import RatedResult, rated_result, summarise
from events.readmodels.ledger import Ledger, stored_entries, stored_timelines
from events.readmodels.lists import scanned
from events.readmodels.standings import pack_result, unpack_result
from events.runtime.connections import StoreClient, StorePipeline
from events.runtime.keys import ReadModelKeys
from events.service.matches import Matches, NoSuchMatch

ATTEMPTS = 50


class Ratings:
    """The ratings of all pools, stored beside the record of the matches that are in them.

    All changes watch that record, so they happen one after another; a change that is repeated finds its matches in the
    record and does nothing.
    """

    def __init__(self, client: StoreClient, keys: ReadModelKeys) -> None:
        self._client = client
        self._keys = keys

    def rate(self, matches: Matches, match: str) -> bool:
        """Put the result of ``match`` into the ratings as the match stands now; return whether anything changed.

        A result that counts no more, because a flag was forgiven or a failover has undone it, goes out again. Raises
        redis errors, StoreUnavailable, and what ``Matches.load`` raises for a match that cannot be replayed.
        """
        changed, result = False, _result_of(matches, match)
        while True:
            changed |= self.put({match: result})
            # Between the look at the match and the writing it may have gone on, and whoever was told of that may have
            # found nothing in the ratings to take out.
            before, result = result, _result_of(matches, match)
            if result == before:
                return changed

    def owed(self, state: MatchState) -> bool:
        """Tell whether a match is in the ratings otherwise than its state says. Raises redis errors."""
        return state.rated and rated_result(summarise(state)) != self.included([state.match])[state.match]

    def put(self, results: Mapping[str, RatedResult | None]) -> bool:
        """Make ``results`` the results of these matches (None: they have none); return whether anything changed.

        Raises redis errors.
        """
        with self._client.pipeline(transaction=True) as pipeline:
            for attempt in range(1, ATTEMPTS + 1):
                try:
                    pipeline.watch(self._keys.rated)
                    known = self.included(list(results))
                    changed = {match: result for match, result in results.items() if result != known[match]}
                    if not changed:
                        return False
                    ledgers = _settled(self._stored, {match: known[match] for match in changed}, changed)
                    pipeline.multi()
                    self._write(pipeline, changed, ledgers)
                    pipeline.execute()
                except WatchError:
                    if attempt == ATTEMPTS:
                        raise
                else:
                    return True
        raise AssertionError("unreachable: the last attempt returns or raises")

    def included(self, matches: list[str]) -> dict[str, RatedResult | None]:
        """Return the results with which ``matches`` are in the ratings, None for those that are not."""
        if not matches:
            return {}
        packed: Any = self._client.hmget(self._keys.rated, matches)
        return dict(zip(matches, map(unpack_result, packed), strict=True))

    def replace(self, gather: Callable[[], Iterable[RatedResult]]) -> None:
        """Make the ratings those of the results that ``gather`` returns and of nothing else, in one transaction.

        Results that are put in meanwhile make it gather again. Raises redis errors.
        """
        with self._client.pipeline(transaction=True) as pipeline:
            for attempt in range(1, ATTEMPTS + 1):
                try:
                    pipeline.watch(self._keys.rated)
                    results = {result.match: result for result in gather()}
                    ledgers = _settled(Ledger, {}, results)
                    (ratings,) = self._keys.patterns(None)
                    present = [name for names in scanned(self._client, ratings) for name in names]
                    pipeline.multi()
                    for name in present:
                        pipeline.unlink(name)
                    self._write(pipeline, results, ledgers)
                    pipeline.execute()
                except WatchError:
                    if attempt == ATTEMPTS:
                        raise
                else:
                    return

    def _stored(self, pool: str) -> Ledger:
        return Ledger(pool, stored_timelines(self._client, self._keys), stored_entries(self._client, self._keys))

    def _write(
        self, pipeline: StorePipeline, results: Mapping[str, RatedResult | None], ledgers: Sequence[Ledger]
    ) -> None:
        for match, result in results.items():
            if result is None:
                pipeline.hdel(self._keys.rated, match)
            else:
                pipeline.hset(self._keys.rated, match, pack_result(result))
        for ledger in ledgers:
            ledger.write(pipeline, self._keys)


def _result_of(matches: Matches, match: str) -> RatedResult | None:
    try:
        return rated_result(summarise(matches.load(match).state))
    except NoSuchMatch:
        return None


def _settled(
    ledger_of: Callable[[str], Ledger],
    old: Mapping[str, RatedResult | None],
    new: Mapping[str, RatedResult | None],
) -> list[Ledger]:
    """Return the ledgers of all pools that it concerns when the results of some matches become ``new``."""
    removed: dict[str, list[RatedResult]] = defaultdict(list)
    added: dict[str, list[RatedResult]] = defaultdict(list)
    for results, by_pool in ((old, removed), (new, added)):
        for result in results.values():
            if result is not None:
                by_pool[result.pool].append(result)
    ledgers = []
    for pool in sorted(removed.keys() | added.keys()):
        ledger = ledger_of(pool)
        ledger.settle(removed[pool], added[pool])
        ledgers.append(ledger)
    return ledgers
