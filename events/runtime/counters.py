"""Counters of the library ``limits`` in the store, on one server and on a cluster alike."""

from limits.storage import RedisStorage
from limits.strategies import FixedWindowRateLimiter

from events.runtime.connections import StoreClient
from events.runtime.keys import InstallationKeys


class _StoreCounters(RedisStorage):
    """Counters kept by a client of the product's own, with its time limits and errors, one key for each."""

    DEPENDENCIES = {"redis": None}  # noqa: RUF012 - not a client of Valkey besides, which would be imported

    def __init__(self, client: StoreClient, key_prefix: str) -> None:
        # The scheme alone: the client knows the place.
        super().__init__("redis://", connection_pool=client.connection_pool, key_prefix=key_prefix)
        self.storage = client
        self.initialize_storage("redis://")


def fixed_windows(client: StoreClient, prefix: str) -> FixedWindowRateLimiter:
    """Return a limiter that counts in the store of ``client``; this does not connect."""
    return FixedWindowRateLimiter(_StoreCounters(client, InstallationKeys(prefix).limits))
