"""A store that has lost its end, as a failover or a file cut short leaves it: made by direct writes."""

from typing import Any

from events.runtime.keys import ShardKeys
from events.store.contract import EMPTY, Head
from events.store.redis import RedisStore


def lose_tail(store: RedisStore, stream: str, version: int, prefix: str = "rk:") -> None:
    """Take everything after ``version`` out of ``stream`` and its last entries out of the feed of its shard.

    The stream must be the last that was appended to in its shard. What is remembered of requests, snapshots and what
    has been laid down stay, as they might in a store that was put together from parts.
    """
    client, keys = store.client, ShardKeys(prefix, store.shard_of(stream))
    head = _head_at(store, stream, version)
    lost = len(store.read(stream, version))
    sequence = int(client.get(keys.sequence) or 0) - lost
    _cut(client, keys.events(stream), version)
    client.hset(keys.head(stream), mapping={"v": str(version), "d": head.digest})
    _cut(client, keys.feed, sequence)
    client.set(keys.sequence, sequence)


def _head_at(store: RedisStore, stream: str, version: int) -> Head:
    if not version:
        return EMPTY
    (event,) = store.read(stream, version - 1, 1)
    return Head(version, event.digest)


def _cut(client: Any, key: str, last: int) -> None:
    """Make the Redis stream at ``key`` end with the number ``last``; its groups stay where they are, beyond that.

    All in one step: a relay that runs makes groups itself where it finds none.
    """
    kept, groups = client.xrange(key, "-", f"{last}-0"), client.xinfo_groups(key)
    with client.pipeline(transaction=True) as pipeline:
        pipeline.delete(key)
        for entry_id, fields in kept:
            pipeline.xadd(key, fields, entry_id)
        for group in groups:
            pipeline.xgroup_create(key, group["name"], group["last-delivered-id"], mkstream=True)
        pipeline.execute()
