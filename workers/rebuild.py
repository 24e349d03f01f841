"""All read models rebuilt from nothing but the events; everything else may go on meanwhile."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from itertools import islice
from multiprocessing import get_context
from typing import NamedTuple

from events.installation import Installation
from events.readmodels import Projected, RatedResult, ReadModels, rated_result
from events.readmodels.generations import begin_generation, switch_generation
from events.readmodels.projector import EventSummaries, Failures, Projector
from events.runtime.errors import WriteContentionError
from events.runtime.settings import Settings
from events.store.contract import Head

MATCHES_PER_TRANSACTION = 100


class CountedSummaries(EventSummaries):
    """Summaries from events, and how many of these have been read."""

    events = 0

    def read(self, match_id: str, version: int, head: Head | None) -> Projected | None:
        """Summarise and count."""
        projected = super().read(match_id, version, head)
        self.events += projected.summary.version if projected else 0
        return projected


class Rebuilt(NamedTuple):
    """What a rebuild has read; ``failures`` are the matches that cannot be replayed, each with the reason."""

    matches: int
    events: int
    failures: tuple[tuple[str, str], ...]


def rebuild(settings: Settings, on_progress: Callable[[int, int], None] | None = None, processes: int = 1) -> Rebuilt:
    """Rebuild the read models of the installation; return what was read.

    ``on_progress`` is called after each shard with the number of shards that are done, and of all. A match that cannot
    be replayed is left out and does not hinder the others. Raises StoreUnavailableError, and RebuildOvertakenError when
    another rebuild has begun; to run it again is always right.
    """
    installation = Installation(settings)
    shards = installation.store.shards
    done: list[Rebuilt] = []
    for rebuilt in _rebuild_shards(settings, shards, processes):
        done.append(rebuilt)
        if on_progress is not None:
            on_progress(len(done), shards)
    installation.ratings.replace(lambda: _rated(installation.readmodels))
    return Rebuilt(
        sum(rebuilt.matches for rebuilt in done),
        sum(rebuilt.events for rebuilt in done),
        tuple(failure for rebuilt in done for failure in rebuilt.failures),
    )


def rebuild_shard(installation: Installation, shard: int) -> Rebuilt:
    """Build a new generation of the read models of one shard and switch to it; return what was read.

    Until then the present generation is read, so lists are never empty. A relay may write to the shard at the same
    time: it writes to both generations, and each summary is watched (``Projector.project``). Streams are listed after
    that has begun: a match that is created later is written by the relay.
    """
    store, keys = installation.store, installation.readmodels.keys
    generation = begin_generation(store.client, keys, shard)
    summaries = CountedSummaries(store)
    projector = Projector(store.client, keys, summaries)
    streams = store.streams(shard)
    matches = 0
    failures: dict[str, Exception] = {}
    while match_ids := list(islice(streams, MATCHES_PER_TRANSACTION)):
        matches += len(match_ids)
        failures |= _project(projector, match_ids, generation)
    switch_generation(store.client, keys, shard, generation)
    return Rebuilt(matches, summaries.events, tuple((match_id, str(error)) for match_id, error in failures.items()))


def _project(projector: Projector, match_ids: Sequence[str], generation: int) -> Failures:
    """Write the read models of matches; in halves where concurrent writers abort the transaction too often."""
    try:
        return projector.project(match_ids, into=generation)
    except WriteContentionError:
        if len(match_ids) == 1:
            raise
        half = len(match_ids) // 2
        return {
            **_project(projector, match_ids[:half], generation),
            **_project(projector, match_ids[half:], generation),
        }


def _rebuild_shards(settings: Settings, shards: int, processes: int) -> Iterator[Rebuilt]:
    if processes == 1:
        installation = Installation(settings)
        yield from (rebuild_shard(installation, shard) for shard in range(shards))
        return
    # A forked child would share the parent's connections and threads.
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        for finished in as_completed([pool.submit(_rebuild_shard, settings, shard) for shard in range(shards)]):
            yield finished.result()


def _rebuild_shard(settings: Settings, shard: int) -> Rebuilt:
    return rebuild_shard(Installation(settings), shard)


def _rated(readmodels: ReadModels) -> Iterator[RatedResult]:
    for summary in readmodels.rated():
        result = rated_result(summary)
        if result is not None:
            yield result
