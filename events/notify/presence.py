"""Which matches people have open in a visible tab: they need no word about those yet."""

from events.notify.player_store import PlayerStore

PRESENT_MS = 150_000
"""A page says it every minute while it is visible, and once when it is hidden."""


class Presence(PlayerStore):
    """The matches that each person has open."""

    def record(self, player: str, match: str, visible: bool, now: int) -> None:
        """Record that ``player`` has ``match`` open in a visible tab at ``now``, or no longer."""
        key = self._key(player)
        with self._client.pipeline(transaction=False) as pipeline:
            if visible:
                pipeline.zadd(key, {match: now})
                pipeline.zremrangebyscore(key, "-inf", now - PRESENT_MS)
                pipeline.pexpire(key, PRESENT_MS)
            else:
                pipeline.zrem(key, match)
            pipeline.execute()

    def watching(self, player: str, match: str, now: int) -> bool:
        """Tell whether ``player`` has ``match`` open in a visible tab, as far as is known at ``now``."""
        at = self._client.zscore(self._key(player), match)
        return at is not None and int(at) > now - PRESENT_MS

    def matches_of(self, player: str) -> list[str]:
        """Return the matches that ``player`` had open recently."""
        return [match.decode() for match in self._client.zrange(self._key(player), 0, -1)]

    def erase(self, player: str) -> None:
        """Erase the presence of ``player``."""
        self._client.delete(self._key(player))

    def _key(self, player: str) -> str:
        return self._keys(player).presence(player)
