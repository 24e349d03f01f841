"""The shares of the relays: which of them looks after which shards.

Each relay reports every few seconds that it lives, and learns of the others: who has which shard follows from their
names alone. It reads the feeds, keeps the clocks, sweeps and trims; the one with FIRST_SHARD also does the work that
concerns no shard. Crash-safe: for a moment two may have the same shard, which does no harm: all effects happen once.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from time import monotonic

from events.runtime.liveness import MAX_REPORT_AGE_MS, RedisLiveness, working_relays

FIRST_SHARD = 0

Share = Callable[[], frozenset[int] | None]
"""Returns the shards that a part of a relay looks after at the moment; None for all of them."""


def has_shard(share: Share, shard: int) -> bool:
    """Tell whether ``shard`` belongs to ``share`` at the moment."""
    own = share()
    return own is None or shard in own


class Shares:
    """The share of one relay, ``name``, of the work on ``shards`` shards. One thread renews it, all may ask for it."""

    def __init__(self, liveness: RedisLiveness, name: str, shards: int) -> None:
        self._liveness = liveness
        self._name = name
        self._shards = shards
        self._relays: list[str] = []
        self._own: frozenset[int] = frozenset()
        self._until = monotonic()

    def renew(self, silences_s: Mapping[str, float]) -> bool:
        """Report that this relay lives and how long lines were silent; divide the shards; return if a relay is gone."""
        asked_at = monotonic()
        before, self._relays = self._relays, working_relays(self._liveness.report(self._name, silences_s))
        owners = divide(tuple(self._relays), self._shards)
        self._own = frozenset(shard for shard, owner in owners.items() if owner == self._name)
        self._until = asked_at + MAX_REPORT_AGE_MS / 1000
        return not set(before) <= set(self._relays)

    def own(self) -> frozenset[int]:
        """Return the shards of this relay: none when it has not been able to report for too long."""
        return self._own if monotonic() < self._until else frozenset()

    def leave(self) -> None:
        """Give the share up."""
        self._until = monotonic()
        self._liveness.leave(self._name)


@lru_cache(maxsize=8)
def divide(relays: Sequence[str], shards: int) -> Mapping[int, str]:
    """Return which of ``relays`` has each shard, by rendezvous hashing with limits: few change hands."""
    if not relays:
        return {}
    least, larger = divmod(shards, len(relays))
    sizes: Counter[str] = Counter()
    owners = {}
    for shard in range(shards):
        ranked = sorted(relays, key=lambda relay: hashlib.sha256(f"{shard} {relay}".encode()).digest())
        owner = next(relay for relay in ranked if sizes[relay] < least + (larger > 0))
        sizes[owner] += 1
        larger -= sizes[owner] > least
        owners[shard] = owner
    return owners
