"""The servers behind a client of the store, and which of them are refused when the store is first used."""

from typing import Any, NamedTuple

from redis.exceptions import RedisError, ResponseError

from events.runtime.clients import StoreClient, translated
from events.runtime.cluster import ClusterClient
from events.runtime.errors import StoreCommandError, StoreError
from events.runtime.sentinels import PrimaryPool

MIN_VERSIONS = {"redis": (6, 2), "valkey": (7, 2)}
MIN_VERSIONS_TO_MOVE_SLOTS = {"redis": (8, 4), "valkey": (9, 0)}
"""From these on a cluster moves slots in one step (CLUSTER MIGRATESLOTS, CLUSTER MIGRATION)."""

ONE_SERVER, WATCHED_SERVER, CLUSTER_OF_SERVERS = "one server", "a primary watched by sentinels", "a cluster"


class WrongTopologyError(StoreError):
    """The URL of the store names servers of another kind, or ones that cannot be used; it says what to do."""


class Primary(NamedTuple):
    """A primary: standalone, cluster or sentinel, its ``slots``; empty where the server does not permit to ask."""

    address: str
    family: str
    version: tuple[int, ...]
    mode: str
    slots: int = 0
    moving: int = 0
    """How many slots are being moved away key by key."""

    def __str__(self) -> str:
        """Return the server as people write it."""
        version = ".".join(map(str, self.version))
        return " ".join(filter(None, (self.address, self.family, version, f"{self.slots} slots" if self.slots else "")))


class Topology(NamedTuple):
    """The kind of store and its primary servers."""

    kind: str
    servers: tuple[Primary, ...]

    @property
    def cannot_move_slots(self) -> str:
        """Why slots must not be moved while the store is used; empty if they may, or there are none."""
        old = [server for server in self.servers if server.slots and _is_older(server, MIN_VERSIONS_TO_MOVE_SLOTS)]
        if not old:
            return ""
        return (
            f"slots of this cluster must not be moved while Rookery runs: {old[0]} moves them key by key, and commands "
            "on several keys fail meanwhile. Stop Rookery before, or upgrade to Valkey 9, Redis 8.4 or newer"
        )


def read_topology(client: StoreClient) -> Topology:
    """Return the topology of the servers behind ``client``; raises WrongTopologyError when its URL says otherwise."""
    if isinstance(client, ClusterClient):
        return _read_cluster(client)
    pool = client.connection_pool
    kind = ONE_SERVER
    if isinstance(pool, PrimaryPool):
        _check_sentinels(pool)
        pool.get_master_address()  # type: ignore[no-untyped-call]
        kind = WATCHED_SERVER
    server = _read_server(client, client.address)
    if server.mode == "cluster":
        raise WrongTopologyError(
            f"the store is a server of a cluster, {server}: its URL must begin with redis+cluster:// and may name "
            "several of its servers, as in redis+cluster://one:6379,two:6379"
        )
    if server.mode == "sentinel":
        raise WrongTopologyError(
            "the URL of the store names a sentinel: it must be like redis+sentinel://one:26379,two:26379/SERVICE/0"
        )
    _check_version(server)
    return Topology(kind, (server,))


def _read_cluster(client: ClusterClient) -> Topology:
    try:
        primaries = client.servers()
    except StoreError:
        for address, server_client in client.known_servers():
            _check_is_of_cluster(server_client, address)
        raise
    servers = []
    for primary in primaries:
        server = _read_server(primary, primary.address)
        slots, moving = _read_slots(primary)
        servers.append(server._replace(slots=slots, moving=moving))
        _check_version(server)
    for server in servers:
        if server.moving:
            raise WrongTopologyError(
                f"{server.moving} slots of {server.address} are being moved key by key, and commands on several keys "
                "fail meanwhile: finish that before Rookery is started, and move slots in one step (docs/stores.md)"
            )
    return Topology(CLUSTER_OF_SERVERS, tuple(servers))


def _check_is_of_cluster(client: StoreClient, address: str) -> None:
    try:
        server = _read_server(client, address)
    except StoreError:
        return  # it does not answer: the next one may
    if server.mode and server.mode != "cluster":
        instead = "redis+sentinel://" if server.mode == "sentinel" else "redis://"
        raise WrongTopologyError(
            f"the store at {address} is not a server of a cluster: its URL must begin with {instead}"
        )


def _check_sentinels(pool: Any) -> None:
    last: RedisError | None = None
    for sentinel in pool.sentinel_manager.sentinels:
        try:
            services = sorted(sentinel.sentinel_masters())
        except ResponseError as error:
            raise WrongTopologyError(f"the URL of the store names a server that is no sentinel: {error}") from error
        except RedisError as error:
            last = error
            continue
        if pool.service_name not in services:
            raise WrongTopologyError(
                f"the sentinels know no service {pool.service_name!r}, only {', '.join(services) or 'none at all'}"
            )
        return
    if last is not None:
        raise translated(last) from last


def _read_server(client: StoreClient, address: str) -> Primary:
    try:
        told: Any = client.info("server")
    except StoreCommandError:
        return Primary(address, "", (), "")  # it is not permitted to ask
    family = "valkey" if "valkey_version" in told else "redis"
    version = str(told.get("valkey_version") or told.get("redis_version") or "")
    numbers = tuple(int(part) for part in version.split(".") if part.isdecimal())
    return Primary(address, family, numbers, str(told.get("server_mode") or told.get("redis_mode") or ""))


def _read_slots(client: StoreClient) -> tuple[int, int]:
    """Return how many slots a server of a cluster has, and how many of them it moves away key by key."""
    try:
        nodes: Any = client.execute_command("CLUSTER NODES")
    except StoreCommandError:
        return 0, 0
    [own] = [node for node in nodes.values() if "myself" in node["flags"]]
    slots = sum(int(ends[-1]) - int(ends[0]) + 1 for ends in own["slots"])
    return slots, sum(migration["state"] == "migrating" for migration in own["migrations"])


def _check_version(server: Primary) -> None:
    if _is_older(server, MIN_VERSIONS):
        needed = ".".join(map(str, MIN_VERSIONS[server.family]))
        raise WrongTopologyError(f"the store, {server}, is too old: {server.family} {needed} or newer is needed")


def _is_older(server: Primary, needed: dict[str, tuple[int, int]]) -> bool:
    return bool(server.version) and server.version < needed[server.family]
