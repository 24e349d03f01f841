"""How old the oldest event is that a consumer group of the feed has not finished."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from events.runtime.connections import StoreClient
from events.runtime.keys import ShardKeys, shard_of
from events.store.envelope import unpack
from events.store.feed import FeedState, pointer_of

MAX_SHARDS_LOOKED_AT = 10
"""Of each group that is behind: those with most entries that it has not finished."""


def oldest_unfinished(
    client: StoreClient, prefix: str, states: Mapping[int, FeedState], groups: Iterable[str]
) -> dict[str, int | None]:
    """Return when the oldest event happened that each of ``groups`` has not finished, None for none."""
    known = [group for group in groups if any(group in state.groups for state in states.values())]
    oldest: dict[str, int | None] = dict.fromkeys(known)
    behind = [(group, shard) for group in known for shard in _furthest_behind(states, group)]
    pointers = _first_unfinished(client, prefix, states, behind)
    with client.pipeline(transaction=False) as pipeline:
        for _, match_id, version in pointers:
            keys = ShardKeys(prefix, shard_of(match_id, len(states)))
            pipeline.xrange(keys.events(match_id), f"{version}-0", f"{version}-0")
        found: list[Any] = pipeline.execute() if pointers else []
    for (group, match_id, version), entries in zip(pointers, found, strict=True):
        for _, fields in entries:
            with suppress(ValueError, KeyError):  # a damaged event has no age; who reads it says that it is damaged
                at = unpack(fields[b"b"], match_id, version, fields[b"h"]).at
                oldest[group] = min(at, oldest[group] or at)
    return oldest


def _furthest_behind(states: Mapping[int, FeedState], group: str) -> list[int]:
    lags = {shard: sum(state.lag(group)) for shard, state in states.items()}
    return sorted((shard for shard, lag in lags.items() if lag > 0), key=lambda shard: -lags[shard])[
        :MAX_SHARDS_LOOKED_AT
    ]


def _first_unfinished(
    client: StoreClient, prefix: str, states: Mapping[int, FeedState], behind: list[tuple[str, int]]
) -> list[tuple[str, str, int]]:
    """Return the first entry that is not finished, for each group and shard: the group, the match, the version."""
    if not behind:
        return []
    with client.pipeline(transaction=False) as pipeline:
        for group, shard in behind:
            pipeline.xpending(ShardKeys(prefix, shard).feed, group)
        pending: list[Any] = pipeline.execute()
    with client.pipeline(transaction=False) as pipeline:
        for (group, shard), summary in zip(behind, pending, strict=True):
            delivered, _ = states[shard].groups.get(group, (0, 0))
            first = summary["min"] or f"{delivered + 1}-0"
            pipeline.xrange(ShardKeys(prefix, shard).feed, first, "+", 1)
        found: list[Any] = pipeline.execute()
    pointers = []
    for (group, _), entries in zip(behind, found, strict=True):
        for entry_id, fields in entries:
            pointer = pointer_of(entry_id, fields)
            pointers.append((group, pointer.stream, pointer.version))
    return pointers
