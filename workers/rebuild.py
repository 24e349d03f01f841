"""All read models anew, from nothing but the events; relays and workers may go on meanwhile."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from itertools import islice
from multiprocessing import get_context
from typing import Any, NamedTuple

from redis.exceptions import WatchError

from events.installation import make_store
from events.readmodels import RatedResult, ReadModels, rated_result
from events.readmodels.lists import delete_shard
from events.readmodels.projector import Failures, Projector, projected_from_events
from events.readmodels.ratings import Ratings
from events.runtime.keys import ReadModelKeys
from events.runtime.settings import Settings
from events.store.redis import RedisStore

MATCHES_AT_ONCE = 100


class Rebuilt(NamedTuple):
    """What a rebuild has read; ``failures`` are the matches that cannot be replayed, each with the reason."""

    matches: int
    events: int
    failures: tuple[tuple[str, str], ...]


def rebuild(settings: Settings, on_progress: Callable[[int, int], None] | None = None, processes: int = 1) -> Rebuilt:
    """Delete the read models of the installation and make them again; return what was read.

    ``on_progress`` is told after each shard how many of how many are done. A match that cannot be replayed is left out
    and does not hinder the others. Raises StoreUnavailable and redis errors; to run it again is always right.
    """
    store = make_store(settings)
    done: list[Rebuilt] = []
    for rebuilt in _shards_rebuilt(settings, store.shards, processes):
        done.append(rebuilt)
        if on_progress is not None:
            on_progress(len(done), store.shards)
    keys = ReadModelKeys(settings.prefix, store.shards)
    readmodels = ReadModels(store.client, settings.prefix, store.shards)
    Ratings(store.client, keys).replace(lambda: _rated(readmodels))
    return Rebuilt(
        sum(rebuilt.matches for rebuilt in done),
        sum(rebuilt.events for rebuilt in done),
        tuple(failure for rebuilt in done for failure in rebuilt.failures),
    )


def rebuild_shard(store: RedisStore, shard: int) -> Rebuilt:
    """Delete the read models of one shard and make them again; return what was read.

    A relay may write to the shard at the same time. Everything is deleted before the streams are listed, and each
    summary is then written whole, whatever is there: so a match that the relay wrote amid the deletion is complete in
    the end, and one that it writes later is newer.
    """
    keys = ReadModelKeys(store.prefix, store.shards)
    delete_shard(store.client, keys, shard)
    events = 0

    def read(match: str) -> Any:
        nonlocal events
        projected = from_events(match)
        events += projected.summary.version if projected else 0
        return projected

    from_events = projected_from_events(store)
    projector = Projector(store.client, keys, read)
    streams = store.streams(shard)
    matches = 0
    failures: dict[str, Exception] = {}
    while names := list(islice(streams, MATCHES_AT_ONCE)):
        matches += len(names)
        failures |= _project(projector, names)
    return Rebuilt(matches, events, tuple((match, str(error)) for match, error in failures.items()))


def _project(projector: Projector, matches: Sequence[str]) -> Failures:
    """Write ``matches`` whole; where too much is going on for so many at once, in halves."""
    try:
        return projector.project(matches, whole=True)
    except WatchError:
        if len(matches) == 1:
            raise
        half = len(matches) // 2
        return {**_project(projector, matches[:half]), **_project(projector, matches[half:])}


def _shards_rebuilt(settings: Settings, shards: int, processes: int) -> Iterator[Rebuilt]:
    if processes == 1:
        store = make_store(settings)
        yield from (rebuild_shard(store, shard) for shard in range(shards))
        return
    # A forked child would share the parent's connections and threads.
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        for finished in as_completed([pool.submit(_rebuild_shard, settings, shard) for shard in range(shards)]):
            yield finished.result()


def _rebuild_shard(settings: Settings, shard: int) -> Rebuilt:
    return rebuild_shard(make_store(settings), shard)


def _rated(readmodels: ReadModels) -> Iterator[RatedResult]:
    for summary in readmodels.rated():
        result = rated_result(summary)
        if result is not None:
            yield result
