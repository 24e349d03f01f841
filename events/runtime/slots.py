"""Slots of a cluster: to which one a command belongs, and which server has it."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

from redis.backoff import NoBackoff
from redis.cluster import ClusterNode, NodesManager
from redis.crc import key_slot
from redis.exceptions import ConnectionError as RedisConnectionError, RedisClusterException
from redis.retry import Retry

from events.runtime.clients import StoreClient, StorePool
from events.runtime.errors import StoreCommandError

_WITHOUT_KEY = frozenset(
    {
        *("UNWATCH", "PUBLISH", "PING", "FLUSHALL"),
        *("TIME", "INFO", "DBSIZE", "BGREWRITEAOF", "BGSAVE", "ROLE", "WAIT", "WAITAOF", "ACL", "CLIENT", "KEYS"),
        *("CONFIG", "SCRIPT", "CLUSTER", "COMMAND", "MEMORY", "LATENCY", "SLOWLOG", "FLUSHDB", "LASTSAVE", "MODULE"),
    }
)
"""Commands that concern one server, by their first words; see ``ClusterClient.servers``."""


def slot_of(args: Sequence[Any]) -> int:
    """Return the slot of a command that has a key; raises StoreCommandError for one that has none."""
    command = args[0]
    if command in ("EVALSHA", "EVAL"):
        key = args[3]
    elif command in ("XREAD", "XREADGROUP"):
        key = args[args.index(b"STREAMS") + 1]
    elif command == "SCAN":
        key = args[args.index(b"MATCH") + 1] if b"MATCH" in args else ""
        if "{" not in (key if isinstance(key, str) else key.decode()):
            raise StoreCommandError("a cluster is scanned by servers, or for keys of one hash tag")
    elif not has_key(args):
        raise StoreCommandError(f"{command} concerns one server of a cluster: it is asked of each of servers()")
    else:
        key = args[1]
    return key_slot(key.encode() if isinstance(key, str) else bytes(key))


def has_key(args: Sequence[Any]) -> bool:
    """Tell whether a command has a key; others concern one server."""
    command = args[0]
    return len(args) > 1 and (command.partition(" ")[0] not in _WITHOUT_KEY or command == "MEMORY USAGE")


class Nodes(NodesManager):
    """The map of slots and servers, with clients of the servers as the product has them."""

    def __init__(self, addresses: Sequence[tuple[str, int]], options: Mapping[str, Any]) -> None:
        self._pool_options = dict(options)
        super().__init__([ClusterNode(host, port) for host, port in addresses], require_full_coverage=False)

    def initialize(self, *args: Any, **options: Any) -> None:
        """Read the map from the cluster; raises ConnectionError of redis-py when no server answers."""
        try:
            super().initialize(*args, **options)
        except RedisClusterException as error:
            reason = error.__cause__ or error
            raise RedisConnectionError(f"no server of the cluster answers: {reason.__cause__ or reason}") from error
        self._read_at = time.monotonic()

    def initialize_if_older(self, age_s: float) -> None:
        """Read the map from the cluster if that was more than ``age_s`` ago."""
        if time.monotonic() - self._read_at > age_s:
            self.initialize(disconnect_startup_nodes_pools=False)

    def create_redis_node(self, host: str, port: int, **_: Any) -> StoreClient:
        """Return a client of one server; it does not repeat commands, which may belong elsewhere by then."""
        pool = StorePool(host=host, port=port, retry=Retry(NoBackoff(), 0), **self._pool_options)
        client = StoreClient(connection_pool=pool)
        client.auto_close_connection_pool = True
        return client

    def client_of(self, node: ClusterNode) -> StoreClient:
        """Return the client of ``node``, which may have been named by another server only."""
        if node.redis_connection is None:
            with self._lock:
                if node.redis_connection is None:
                    node.redis_connection = self.create_redis_node(node.host, node.port)
        client: StoreClient = node.redis_connection
        return client
