"""What the servers behind a store say of themselves: whether files are written, how far replicas are behind."""

from collections.abc import Iterator, Mapping
from typing import Any

from events.runtime.connections import StoreClient
from events.runtime.errors import StorePermissionError
from events.runtime.figure import Figure, Kind, Labels

_SERVER = ("server",)
_REPLICA = ("server", "replica")

_OF_SERVER = (
    ("rookery_server_memory_bytes", "Memory that a server uses", "used_memory", Kind.GAUGE),
    ("rookery_server_memory_limit_bytes", "Memory that a server may use; 0: no limit", "maxmemory", Kind.GAUGE),
    ("rookery_aof_delayed_fsyncs_total", "Flushes that had to wait for the disk", "aof_delayed_fsync", Kind.COUNTER),
    ("rookery_aof_pending_fsyncs", "Flushes that the disk has not done yet", "aof_pending_bio_fsync", Kind.GAUGE),
    ("rookery_server_replicas", "Replicas that are connected to a server", "connected_slaves", Kind.GAUGE),
)


def server_figures(client: StoreClient) -> list[Figure]:
    """Return the figures of all servers, by address, without those that do not permit INFO."""
    return figures_of(_read_servers(client))


def figures_of(servers: Mapping[str, Mapping[str, Any]]) -> list[Figure]:
    """Return the figures of ``servers``: what INFO says of each, by address."""
    figures = []
    for name, description, field, kind in _OF_SERVER:
        said: dict[Labels, float] = {
            (server,): float(found[field]) for server, found in servers.items() if field in found
        }
        figures.append(Figure(name, description, said, _SERVER, kind))
    written: dict[Labels, float] = {(server,): float(_is_written(found)) for server, found in servers.items()}
    figures.append(
        Figure("rookery_aof_write_ok", "Whether a server keeps its file and could write it last", written, _SERVER)
    )
    behind: dict[Labels, float] = {}
    silent: dict[Labels, float] = {}
    for server, found in servers.items():
        for replica, state in _replicas(found):
            behind[server, replica] = float(max(0, found.get("master_repl_offset", 0) - state["offset"]))
            silent[server, replica] = float(state["lag"])
    return [
        *figures,
        Figure("rookery_replica_lag_bytes", "What a replica has not got yet", behind, _REPLICA),
        Figure("rookery_replica_silence_seconds", "Since a replica last said what it has", silent, _REPLICA),
    ]


def _read_servers(client: StoreClient) -> dict[str, Mapping[str, Any]]:
    found: dict[str, Mapping[str, Any]] = {}
    for server in client.servers():
        try:
            said: Any = server.info()
        except StorePermissionError:
            continue
        found[f"{_host_of(server)}:{said.get('tcp_port', 0)}"] = said
    return found


def _host_of(server: StoreClient) -> str:
    """Return where the server is, without anything secret; the address of a primary that sentinels name."""
    named = getattr(server.connection_pool, "master_address", None)
    options = server.connection_pool.connection_kwargs
    return str(named[0] if named else options.get("host") or options.get("path") or "localhost")


def _is_written(found: Mapping[str, Any]) -> bool:
    return bool(found.get("aof_enabled")) and found.get("aof_last_write_status") == "ok"


def _replicas(found: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for name, state in found.items():
        if name.startswith("slave") and name.removeprefix("slave").isdigit() and isinstance(state, dict):
            yield f"{state['ip']}:{state['port']}", state
