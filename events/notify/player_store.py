"""Values stored for each player, in the shard of the player."""

from events.runtime.connections import StoreClient
from events.runtime.keys import shard_of
from events.runtime.notice_keys import NoticeKeys


class PlayerStore:
    """Something that an installation with ``shards`` shards stores for each player. Safe to share between threads."""

    def __init__(self, client: StoreClient, prefix: str, shards: int) -> None:
        self._client = client
        self._prefix = prefix
        self._shards = shards

    def _keys(self, player: str) -> NoticeKeys:
        return NoticeKeys(self._prefix, shard_of(player, self._shards))

    def _all_keys(self) -> list[NoticeKeys]:
        return [NoticeKeys(self._prefix, shard) for shard in range(self._shards)]
