"""The reports of servers about themselves (files, replicas), and the age of the oldest events unfinished by groups."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from events.runtime.connections import StoreClient
from events.runtime.errors import StorePermissionError
from events.runtime.keys import ShardKeys, shard_of
from events.runtime.metric import Labels, Metric, MetricKind
from events.store.envelope import unpack
from events.store.feed import FeedState, pointer_of

_SERVER = ("server",)
_REPLICA = ("server", "replica")

_OF_SERVER = (
    ("rookery_server_memory_bytes", "Memory that a server uses", "used_memory", MetricKind.GAUGE),
    ("rookery_server_memory_limit_bytes", "Memory that a server may use; 0: no limit", "maxmemory", MetricKind.GAUGE),
    (
        "rookery_aof_delayed_fsyncs_total",
        "Flushes that had to wait for the disk",
        "aof_delayed_fsync",
        MetricKind.COUNTER,
    ),
    ("rookery_aof_pending_fsyncs", "Flushes that the disk has not done yet", "aof_pending_bio_fsync", MetricKind.GAUGE),
    ("rookery_server_replicas", "Replicas that are connected to a server", "connected_slaves", MetricKind.GAUGE),
)


def server_figures(client: StoreClient) -> list[Metric]:
    """Return the figures of all servers, by address, without those that do not permit INFO."""
    return figures_of(_read_servers(client))


def figures_of(servers: Mapping[str, Mapping[str, Any]]) -> list[Metric]:
    """Return the figures of ``servers``: the INFO of each, by address."""
    figures = []
    for name, description, field, kind in _OF_SERVER:
        said: dict[Labels, float] = {
            (server,): float(fields[field]) for server, fields in servers.items() if field in fields
        }
        figures.append(Metric(name, description, said, _SERVER, kind))
    written: dict[Labels, float] = {(server,): float(_is_written(fields)) for server, fields in servers.items()}
    figures.append(
        Metric("rookery_aof_write_ok", "Whether a server keeps its file and could write it last", written, _SERVER)
    )
    behind: dict[Labels, float] = {}
    silent: dict[Labels, float] = {}
    for server, fields in servers.items():
        for replica, state in _replicas(fields):
            behind[server, replica] = float(max(0, fields.get("master_repl_offset", 0) - state["offset"]))
            silent[server, replica] = float(state["lag"])
    return [
        *figures,
        Metric("rookery_replica_lag_bytes", "What a replica has not got yet", behind, _REPLICA),
        Metric("rookery_replica_silence_seconds", "Since a replica last said what it has", silent, _REPLICA),
    ]


def _read_servers(client: StoreClient) -> dict[str, Mapping[str, Any]]:
    by_server: dict[str, Mapping[str, Any]] = {}
    for server in client.servers():
        try:
            said: Any = server.info()
        except StorePermissionError:
            continue
        by_server[f"{_host_of(server)}:{said.get('tcp_port', 0)}"] = said
    return by_server


def _host_of(server: StoreClient) -> str:
    """Return where the server is, without anything secret; the address of a primary that sentinels name."""
    named = getattr(server.connection_pool, "master_address", None)
    options = server.connection_pool.connection_kwargs
    return str(named[0] if named else options.get("host") or options.get("path") or "localhost")


def _is_written(figures: Mapping[str, Any]) -> bool:
    return bool(figures.get("aof_enabled")) and figures.get("aof_last_write_status") == "ok"


def _replicas(figures: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for name, state in figures.items():
        if name.startswith("slave") and name.removeprefix("slave").isdigit() and isinstance(state, dict):
            yield f"{state['ip']}:{state['port']}", state


MAX_SHARDS_LOOKED_AT = 10
"""Of each group that is behind: those with most entries that it has not finished."""


def oldest_unfinished(
    client: StoreClient, prefix: str, states: Mapping[int, FeedState], groups: Iterable[str]
) -> dict[str, int | None]:
    """Return when the oldest event happened that each of ``groups`` has not finished, None for none."""
    existing = [group for group in groups if any(group in state.groups for state in states.values())]
    oldest: dict[str, int | None] = dict.fromkeys(existing)
    behind = [(group, shard) for group in existing for shard in _furthest_behind(states, group)]
    pointers = _first_unfinished(client, prefix, states, behind)
    with client.pipeline(transaction=False) as pipeline:
        for _, match_id, version in pointers:
            keys = ShardKeys(prefix, shard_of(match_id, len(states)))
            pipeline.xrange(keys.events(match_id), f"{version}-0", f"{version}-0")
        ranges: list[Any] = pipeline.execute() if pointers else []
    for (group, match_id, version), entries in zip(pointers, ranges, strict=True):
        for _, fields in entries:
            with suppress(ValueError, KeyError):  # a damaged event has no age; its readers say that it is damaged
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
        ranges: list[Any] = pipeline.execute()
    pointers = []
    for (group, _), entries in zip(behind, ranges, strict=True):
        for entry_id, fields in entries:
            pointer = pointer_of(entry_id, fields)
            pointers.append((group, pointer.stream, pointer.version))
    return pointers
