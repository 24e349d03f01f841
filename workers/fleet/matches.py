"""The matches of a store as slices of a fleet job: named, in the order of the store."""

from collections.abc import Iterable, Iterator
from itertools import islice

from events.matches.fleet_jobs import PlannedSlice
from events.store.chain import readable_streams
from events.store.contract import EventStore


def slice_matches(match_ids: Iterable[str], size: int) -> Iterator[PlannedSlice]:
    """Yield slices that name ``size`` matches each: a range would shift when some are archived meanwhile."""
    remaining = iter(match_ids)
    while named := list(islice(remaining, size)):
        yield PlannedSlice(named, len(named), f"the matches {named[0]} to {named[-1]}")


def slice_store(store: EventStore, size: int) -> list[PlannedSlice]:
    """Return slices of all matches of ``store``."""
    return list(slice_matches(readable_streams(store), size))
