"""The guests of an installation, ordered by when to check next whether they have stayed away and can be erased."""

from events.runtime.connections import StoreClient
from events.runtime.keys import PeopleKeys


class GuestList:
    """Guests by id, each with an instant."""

    def __init__(self, client: StoreClient, prefix: str) -> None:
        self._client = client
        self._keys = PeopleKeys(prefix)

    def due(self, now: int, limit: int) -> list[str]:
        """Return up to ``limit`` guests who are due for a check at ``now``, the longest overdue first."""
        self._add_unlisted_guests()
        return [id.decode() for id in self._client.zrangebyscore(self._keys.guests, "-inf", now, start=0, num=limit)]

    def schedule(self, id: str, at: int) -> None:
        """Make the guest due for a check at the instant ``at``."""
        self._client.zadd(self._keys.guests, {id: at})

    def remove(self, id: str) -> None:
        """Take a guest off the list who has signed up or is gone."""
        self._client.zrem(self._keys.guests, id)

    def _add_unlisted_guests(self) -> None:
        """List, once, the guests of a restored installation: no backup contains the list."""
        # Crash-safe: the list is marked complete last; after a kill it is built again.
        if self._client.exists(self._keys.guests_listed):
            return
        for key in self._client.scan_iter(f"{self._keys.accounts}*", 1000):
            if self._client.hget(key, "kind") == b"guest":
                self._client.zadd(self._keys.guests, {key.decode().removeprefix(self._keys.accounts): 0}, nx=True)
        self._client.set(self._keys.guests_listed, 1)
