"""Ratings: the matches in them, how one gets in, and how all are made again from the results."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple, TypeVar

import structlog

from domain.match.state import MatchState
from events.matches.readmodels.generations import Generations, RebuildOvertakenError, delete_earlier_generations
from events.matches.readmodels.rating_store import RedisPeriods, read_unsettled, write_recalculation, write_unsettled
from events.matches.readmodels.recalculation import RatingRecalculation, Unsettled
from events.matches.readmodels.summary import RatedResult, rated_result, summarise
from events.runtime import beats
from events.runtime.connections import StoreClient, StorePipeline
from events.runtime.errors import StoreUnavailableError
from events.runtime.keys import RatingKeys, ReadModelKeys
from events.runtime.scripts import script_source
from events.runtime.transactions import transact
from events.store.converter import pack, unpack

MAX_ATTEMPTS = 50
MAX_RESULTS_PER_STEP = 500
MAX_UNSETTLED_PER_STEP = 200
MAX_ENTRIES_PER_STEP = 2000
"""A step goes on with the effects of a change until it has rated this many matches of players."""

MAX_LATE_RESULTS = 100
"""With so few results left to take over, a rebuild, or a write beside it, switches."""

MAX_STEPS_PER_TASK = 200
"""A task that has more to settle leaves the rest to the sweeper, well before the time limit of tasks."""

Results = Mapping[str, RatedResult | None]

_FORGET_LATE = script_source(__package__, "forget_late_ratings")

log = structlog.get_logger("ratings")

T = TypeVar("T")


class RatingChanges(NamedTuple):
    """The changes of one transaction: results, the ratings of pools, and the unsettled days before and after."""

    results: Results
    pools: Sequence[RatingRecalculation]
    taken: Sequence[Unsettled]

    @property
    def left(self) -> list[Unsettled]:
        """The days that the step leaves unsettled."""
        return [item for of_pool in self.pools for item in of_pool.unsettled]


class Ratings:
    """The ratings of all pools, stored beside the record of the matches that are in them.

    A step is one transaction that watches the revision; a repeated change does nothing. A rebuild is
    ``begin_generation()``, ``fill(generation, results)`` as often as wanted, and ``switch(generation)``, from any
    process; changes meanwhile are noted for the new one and taken over.

    Crash-safe: a step is written as a whole with the days it leaves unsettled; a generation that is not switched to is
    never read.
    """

    def __init__(
        self, client: StoreClient, keys: ReadModelKeys, read_result: Callable[[str], RatedResult | None]
    ) -> None:
        self._client = client
        self._keys = keys
        self._read_result = read_result
        self._last_read = 0

    def rate(self, match_id: str) -> bool:
        """Put the result of a match into the ratings as it stands, or take it out; return whether anything changed."""
        changed, result = False, self._read_result(match_id)
        while True:
            changed |= self.put({match_id: result})
            # Since it was read the match may have continued, and a task that was started by that may have found
            # nothing in the ratings to take out.
            before, result = result, self._read_result(match_id)
            if result == before:
                break
        self.settle()
        return changed

    def owed(self, state: MatchState) -> bool:
        """Tell whether a match is in the ratings otherwise than its state says."""
        return state.rated and rated_result(summarise(state)) != self.included([state.match_id])[state.match_id]

    def included(self, match_ids: list[str]) -> dict[str, RatedResult | None]:
        """Return the results with which matches are in the ratings, None for those that are not."""
        if not match_ids:
            return {}
        while True:
            keys = self._keys.rating_keys(self._last_read)
            with self._client.pipeline(transaction=True) as pipeline:
                pipeline.get(self._keys.rating_generation)
                pipeline.hmget(keys.rated, match_ids)
                generations, packed = pipeline.execute()
            current = Generations.parse(generations).current
            if current == self._last_read:
                return _results(match_ids, packed)
            self._last_read = current  # it is the same again until the next rebuild

    def put(self, results: Results) -> bool:
        """Make ``results`` those of these matches; return whether anything changed. See ``settle`` for the rest."""

        def change(pipeline: StorePipeline) -> bool:
            generations = self._read_generations(pipeline)
            late = self._keys.late_ratings(generations.building or 0)
            if generations.closing and int(pipeline.hlen(late)) <= MAX_LATE_RESULTS:
                return self._finish(pipeline, generations, results)
            keys = self._keys.rating_keys(generations.current)
            step = self._step(pipeline, keys, results)
            if step.results or step.taken:
                pipeline.multi()
                self._write(pipeline, keys, step)
                if generations.building is not None and step.results:
                    pipeline.hset(late, mapping=_packed(step.results))
            return bool(step.results)

        return self._transact(change)

    def settle(self) -> None:
        """Calculate the unsettled days, in at most MAX_STEPS_PER_TASK steps."""
        for _ in range(MAX_STEPS_PER_TASK):
            if not self.is_unsettled():
                break
            beats.beat()
            self.put({})

    def is_unsettled(self) -> bool:
        """Tell whether ratings depend on results that they do not follow yet."""
        return bool(self._client.exists(self.present_keys().unsettled))

    def present_keys(self) -> RatingKeys:
        """Return the keys of the generation that is read now."""
        return self._keys.rating_keys(self._generations().current)

    def replace(self, results: Iterable[RatedResult]) -> None:
        """Make the ratings again from ``results``, those of all matches; raises RebuildOvertakenError."""
        generation = self.begin_generation()
        self.fill(generation, results)
        self.switch(generation)

    def begin_generation(self) -> int:
        """Begin a new generation, which overtakes one that is being built; return it."""

        def begin(pipeline: StorePipeline) -> int:
            generations = self._read_generations(pipeline)
            begun = max(generations.current, generations.building or 0) + 1
            pipeline.multi()
            pipeline.set(self._keys.rating_generation, Generations(generations.current, begun).packed)
            return begun

        return self._transact(begin)

    def fill(self, generation: int, results: Iterable[RatedResult]) -> None:
        """Put results into a generation being built, best in the order of ends; raises RebuildOvertakenError."""
        keys = self._keys.rating_keys(generation)
        for batch in _batches(results):
            beats.beat()
            added: Results = {result.match: result for result in batch}

            def change(pipeline: StorePipeline, added: Results = added) -> bool:
                generations = self._read_generations(pipeline)
                if generation not in (generations.current, generations.building):
                    raise RebuildOvertakenError
                if generations.closing or generations.current == generation:
                    return False
                step = self._step(pipeline, keys, added)
                pipeline.multi()
                self._write(pipeline, keys, step)
                return bool(step.left)

            while self._transact(change):
                beats.beat()

    def switch(self, generation: int) -> None:
        """Take over the changes, read from ``generation`` and delete all before; raises RebuildOvertakenError."""
        self._close(generation)
        self._note_differences(generation)
        while self._generations().building == generation:
            beats.beat()
            self._take_over(generation)
            self.put({})
        if self._generations().current < generation:
            raise RebuildOvertakenError
        # Crash-safe: keys that are left here after a kill are deleted by the next switch.
        delete_earlier_generations(self._client, self._keys, generation)

    def _close(self, generation: int) -> None:
        def close(pipeline: StorePipeline) -> None:
            generations = self._read_generations(pipeline)
            if generations.building == generation and not generations.closing:
                pipeline.multi()
                pipeline.set(self._keys.rating_generation, generations._replace(closing=True).packed)

        self._transact(close)

    def _note_differences(self, generation: int) -> None:
        present = self.present_keys()
        built, late = self._keys.rating_keys(generation), self._keys.late_ratings(generation)
        for batch in _batches(self._all_results(present)):
            beats.beat()
            others = self._rated_results(built, [result.match for result in batch])
            for match_id in (result.match for result in batch if result != others[result.match]):
                try:
                    result = self._read_result(match_id)
                except StoreUnavailableError:
                    raise
                except Exception as error:
                    log.error("a match cannot be rated", match=match_id, error=str(error))
                    continue
                # The note of a live rating is newer.
                self._client.hsetnx(late, match_id, _packed({"": result})[""])

    def _all_results(self, keys: RatingKeys) -> Iterator[RatedResult]:
        """Yield all results in a generation, none of which is missed; some may come twice."""
        for _, packed in self._client.hscan_iter(keys.rated, count=MAX_RESULTS_PER_STEP):
            yield unpack(RatedResult, packed)

    def _take_over(self, generation: int) -> None:
        keys, late = self._keys.rating_keys(generation), self._keys.late_ratings(generation)

        def change(pipeline: StorePipeline) -> bool:
            generations = self._read_generations(pipeline)
            if generations.building != generation or int(pipeline.hlen(late)) <= MAX_LATE_RESULTS:
                return False
            pipeline.watch(keys.revision)
            taken = dict(islice(self._client.hscan_iter(late, count=MAX_RESULTS_PER_STEP), MAX_RESULTS_PER_STEP))
            step = self._step(pipeline, keys, _unpacked(taken))
            pipeline.multi()
            self._write(pipeline, keys, step)
            pipeline.eval(_FORGET_LATE, 1, late, *(field for pair in taken.items() for field in pair))
            return True

        while self._transact(change):
            beats.beat()

    def _finish(self, pipeline: StorePipeline, generations: Generations, results: Results) -> bool:
        generation = generations.building or 0
        keys, late = self._keys.rating_keys(generation), self._keys.late_ratings(generation)
        pipeline.watch(late)
        step = self._step(pipeline, keys, {**_unpacked(pipeline.hgetall(late)), **results})
        pipeline.multi()
        self._write(pipeline, keys, step)
        pipeline.set(self._keys.rating_generation, Generations(generation).packed)
        pipeline.unlink(late)
        return any(match_id in step.results for match_id in results)

    def _step(self, pipeline: StorePipeline, keys: RatingKeys, results: Results) -> RatingChanges:
        """Calculate the changes by these results; the revision is watched before anything is read."""
        pipeline.watch(keys.revision)
        before = self._rated_results(keys, list(results))
        changed = {match_id: result for match_id, result in results.items() if result != before[match_id]}
        taken = read_unsettled(self._client, keys, MAX_UNSETTLED_PER_STEP)
        removed: dict[str, list[RatedResult]] = defaultdict(list)
        added: dict[str, list[RatedResult]] = defaultdict(list)
        for match_id, result in changed.items():
            for by_pool, rated in ((removed, before[match_id]), (added, result)):
                if rated is not None:
                    by_pool[rated.pool].append(rated)
        pools = []
        for pool in sorted({*removed, *added, *(item.pool for item in taken)}):
            of_pool = RatingRecalculation(pool, RedisPeriods(self._client, keys, pool))
            of_pool.replace(removed[pool], added[pool])
            of_pool.settle([item for item in taken if item.pool == pool], MAX_ENTRIES_PER_STEP)
            pools.append(of_pool)
        return RatingChanges(changed, pools, taken)

    def _rated_results(self, keys: RatingKeys, match_ids: Sequence[str]) -> dict[str, RatedResult | None]:
        return _results(match_ids, self._client.hmget(keys.rated, match_ids)) if match_ids else {}

    def _write(self, pipeline: StorePipeline, keys: RatingKeys, step: RatingChanges) -> None:
        pipeline.incr(keys.revision)
        present: dict[Any, Any] = {
            match_id: pack(result) for match_id, result in step.results.items() if result is not None
        }
        absent = step.results.keys() - present.keys()
        if present:
            pipeline.hset(keys.rated, mapping=present)
        if absent:
            pipeline.hdel(keys.rated, *absent)
        for of_pool in step.pools:
            write_recalculation(pipeline, keys, of_pool)
        write_unsettled(pipeline, keys, step.taken, step.left)

    def _generations(self) -> Generations:
        return Generations.parse(self._client.get(self._keys.rating_generation))

    def _read_generations(self, pipeline: StorePipeline) -> Generations:
        return Generations.parse(pipeline.get(self._keys.rating_generation))

    def _transact(self, change: Callable[[StorePipeline], T]) -> T:
        return transact(self._client, [self._keys.rating_generation], change, attempts=MAX_ATTEMPTS)


def _batches(items: Iterable[T]) -> Iterator[list[T]]:
    rest = iter(items)
    while batch := list(islice(rest, MAX_RESULTS_PER_STEP)):
        yield batch


def _results(match_ids: Sequence[str], packed: Sequence[bytes | None]) -> dict[str, RatedResult | None]:
    results = (None if packed_result is None else unpack(RatedResult, packed_result) for packed_result in packed)
    return dict(zip(match_ids, results, strict=True))


def _packed(results: Results) -> dict[Any, Any]:
    return {match_id: "" if result is None else pack(result) for match_id, result in results.items()}


def _unpacked(packed: Mapping[bytes, bytes]) -> dict[str, RatedResult | None]:
    return {
        match_id.decode(): unpack(RatedResult, packed_result) if packed_result else None
        for match_id, packed_result in packed.items()
    }
