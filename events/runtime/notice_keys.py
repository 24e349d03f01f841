"""The keys of notices and of what they are sent through, one class for what belongs together.

All that concerns one person is in the shard of that person, ``{n07}``: a notice, its deliveries and when they are due
change in one step. ``events.runtime.keys`` describes the whole key space.
"""

from events.runtime.keys import shard_of


class NoticeKeys:
    """What the people of one shard are told: ledgers, settings, and what is due."""

    def __init__(self, prefix: str, shard: int) -> None:
        self._tag = f"{prefix}{{n{shard:02d}}}:"

    @classmethod
    def of(cls, prefix: str, player: str, shards: int) -> "NoticeKeys":
        """Return the keys of the shard of ``player``."""
        return cls(prefix, shard_of(player, shards))
