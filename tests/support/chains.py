"""All chains of a store, verified."""

from collections.abc import Callable

from events.store.chain import Verified, readable_streams, verify_streams
from events.store.contract import DamagedStreamError, EventStore


def verify_all(
    store: EventStore, on_progress: Callable[[Verified | DamagedStreamError], None] = lambda _: None
) -> list[DamagedStreamError]:
    """Return the damage found in all streams; ``on_progress`` is called with each verdict."""
    damaged = []
    for verdict in verify_streams(store, readable_streams(store)):
        if isinstance(verdict, DamagedStreamError):
            damaged.append(verdict)
        on_progress(verdict)
    return damaged
