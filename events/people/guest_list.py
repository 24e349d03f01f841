"""The guests of an installation, listed by when they are next looked at: one who stays away is erased then."""

from typing import Any

from redis import Redis


class GuestList:
    """Guests by id, each with an instant in milliseconds since 1970 UTC; ``keys`` begins the keys of people.

    Every method raises redis-py's errors when the store cannot be reached.
    """

    def __init__(self, client: Redis, keys: str) -> None:
        self._client: Any = client
        self._persons = f"{keys}person:"
        self.key = f"{keys}guests"
        self._complete = f"{keys}guests-listed"

    def due(self, now: int, most: int) -> list[str]:
        """Return up to ``most`` guests who are to be looked at by ``now``, the longest due first."""
        self._add_earlier_guests()
        return [id.decode() for id in self._client.zrangebyscore(self.key, "-inf", now, start=0, num=most)]

    def look_at(self, id: str, at: int) -> None:
        """Have the guest looked at from the instant ``at`` on."""
        self._client.zadd(self.key, {id: at})

    def remove(self, id: str) -> None:
        """Let the guest not be looked at any more: one who stays, or is gone."""
        self._client.zrem(self.key, id)

    def _add_earlier_guests(self) -> None:
        """List the guests of an installation from before there was this list, once.

        Crash-safe: that the list is complete is noted last; killed before, it is made again.
        """
        if self._client.exists(self._complete):
            return
        for key in self._client.scan_iter(f"{self._persons}*", 1000):
            if self._client.hget(key, "kind") == b"guest":
                self._client.zadd(self.key, {key.decode().removeprefix(self._persons): 0}, nx=True)
        self._client.set(self._complete, 1)
