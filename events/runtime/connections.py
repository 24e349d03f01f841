"""Connections to the store: one server, a primary that sentinels watch, or a cluster, by the form of the URL.

    redis://[user:password@]host[:6379][/0]         one server, with TLS as rediss://
    unix:///socket?db=0                             one server on this machine
    redis+sentinel://host[:26379],.../service[/0]   the primary that these sentinels call ``service``
    redis+cluster://host[:6379],...                 a cluster, of which these servers are known

``rediss+sentinel://`` and ``rediss+cluster://`` connect to the servers with TLS. User and password are those of the
servers; the options ``sentinel_username`` and ``sentinel_password``, behind a question mark, are those of sentinels.
All kinds have the same time limits, bytes as replies, and the errors of the store.
"""

import math
import time
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from redis import BlockingConnectionPool, ConnectionPool, SSLConnection
from redis.backoff import ExponentialWithJitterBackoff, NoBackoff
from redis.connection import parse_url
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError
from redis.retry import Retry
from redis.sentinel import (
    Sentinel,
    SentinelConnectionPool,
    SentinelManagedConnection,
    SentinelManagedSSLConnection,
)

from events.runtime.clients import Entry, Key, StoreClient, StorePipeline, translated, translating
from events.runtime.cluster import MAX_RETRIES, ClusterClient

__all__ = [
    "CLUSTER",
    "SCHEMES",
    "SENTINEL",
    "SINGLE",
    "Entry",
    "Key",
    "StoreClient",
    "StorePipeline",
    "blocking_client",
    "connect",
    "read_place",
    "translated",
    "translating",
]

ANSWER_TIMEOUT_S = 5.0
NETWORK = {"socket_connect_timeout": 2.0, "socket_keepalive": True}
MAX_CONNECTIONS = 50
"""Of one client, to one server. A burst of requests waits for a connection instead of failing or opening thousands."""

WAIT_FOR_CONNECTION_S = 20
PRIMARY_INTERVAL_S, UNANSWERED_INTERVAL_S = 1.0, 10.0
"""At most between two questions to the sentinels which server is the primary; after one without answer."""

SENTINEL_TIMEOUT_S = 1.0
"""For the answer of a sentinel to this question."""

SINGLE, SENTINEL, CLUSTER = "single", "sentinel", "cluster"
_KINDS = {"redis": SINGLE, "rediss": SINGLE, "unix": SINGLE}
_KINDS |= {f"{scheme}+{kind}": kind for scheme in ("redis", "rediss") for kind in (SENTINEL, CLUSTER)}
SCHEMES = tuple(f"{scheme}://" for scheme in _KINDS)
_DEFAULT_PORTS = {SENTINEL: 26379, CLUSTER: 6379}


class Place(NamedTuple):
    """Where a store is, as its URL says.

    ``kind`` is SINGLE, SENTINEL or CLUSTER. ``addresses`` are those of the sentinels or of servers of the cluster, none
    for a single server. ``service`` is how sentinels call the store. ``options`` are those of connections to servers,
    ``sentinel_options`` of connections to sentinels.
    """

    kind: str
    addresses: tuple[tuple[str, int], ...]
    service: str
    options: Mapping[str, Any]
    sentinel_options: Mapping[str, Any]


def connect(url: str) -> StoreClient:
    """Return a client for commands that do not block; it is safe to share between threads. This does not connect.

    It repeats a command up to three times when a connection breaks, writes too: whatever must not happen twice carries
    its own protection (a request key, WATCH, a version guard). A server that is silent for ANSWER_TIMEOUT_S is not
    asked again: it hangs, and callers should not wait for it any longer.
    """
    return _client(url, ANSWER_TIMEOUT_S)


def blocking_client(url: str, block_ms: int) -> StoreClient:
    """Return a client whose reads may block for ``block_ms``: it does not give up before the server answers."""
    return _client(url, block_ms / 1000 + ANSWER_TIMEOUT_S)


def read_place(url: str) -> Place:
    """Return what ``url`` names; raises ValueError, without a part of ``url``, when it cannot be read."""
    parts = urlsplit(url)
    kind = _KINDS.get(parts.scheme)
    if kind is None:
        raise ValueError(f"must begin with {', '.join(SCHEMES[:-1])} or {SCHEMES[-1]}")
    if kind == SINGLE:
        return Place(kind, (), "", parse_url(url), {})
    userinfo, _, hosts = parts.netloc.rpartition("@")
    service, _, database = parts.path.strip("/").partition("/")
    if kind == CLUSTER:
        service, database = "", service
    if not database.isdecimal() and database:
        raise ValueError("has a database that is not a number")
    if kind == CLUSTER and int(database or 0):
        raise ValueError("names a database: a cluster has only database 0")
    if kind == SENTINEL and not service:
        raise ValueError("does not say how the sentinels call the store: redis+sentinel://host:26379/SERVICE/0")
    addresses = tuple(_read_address(host, _DEFAULT_PORTS[kind]) for host in hosts.split(","))
    # What is left has the form of a URL of redis-py, which reads names, passwords and options.
    options = parse_url(f"{parts.scheme.partition('+')[0]}://{userinfo}{'@' if userinfo else ''}?{parts.query}")
    sentinel_options = {
        name: options.pop(f"sentinel_{name}") for name in ("username", "password") if f"sentinel_{name}" in options
    }
    if kind == SENTINEL:
        options["db"] = int(database or 0)
    return Place(kind, addresses, service, options, sentinel_options)


def _read_address(text: str, default_port: int) -> tuple[str, int]:
    try:
        parts = urlsplit(f"//{text}")
        port = parts.port or default_port
    except ValueError:
        raise ValueError(
            "has a host or port that cannot be read (what is special in a password must be percent-encoded)"
        ) from None
    if not parts.hostname:
        raise ValueError("names no host, or an empty one between commas")
    return parts.hostname, port


class _Sentinels(Sentinel):
    """Sentinels, and which server was the primary when one was last asked.

    An old primary that was silent for a while takes itself for one until it is told: it would answer what is old, and
    acknowledge what is lost. Sentinels replace a primary only when it was silent for longer than they are set to wait,
    so a reply is that of the primary if they had named it within half that time before. When more has passed, they are
    asked again before the reply counts.
    """

    def __init__(self, addresses: tuple[tuple[str, int], ...], asking: Mapping[str, Any]) -> None:
        super().__init__(addresses, sentinel_kwargs=asking)  # type: ignore[no-untyped-call]
        self._interval_s: float | None = None
        self._named: tuple[str, int] | None = None
        self._sure_until = -math.inf

    def discover_master(self, service: str) -> tuple[str, int]:
        """Return host and port of the primary of ``service``, as pools of redis-py ask for it to connect.

        Raises the ConnectionError of redis-py, also when no sentinel answers.
        """
        asked_at = time.monotonic()
        self._named = super().discover_master(service)  # type: ignore[no-untyped-call]
        if self._interval_s is None:
            state: Any = self.sentinels[0].sentinel_master(service)
            self._interval_s = min(PRIMARY_INTERVAL_S, state["down-after-milliseconds"] / 2000)
        self._sure_until = asked_at + self._interval_s
        return self._named

    def is_at(self, address: tuple[str, int], service: str) -> bool:
        """Return whether the primary is at ``address``; while no sentinel answers, the last one that they named."""
        # Threads that get here at once all ask: none uses a reply before it knows.
        if time.monotonic() >= self._sure_until:
            try:
                self.discover_master(service)
            except (RedisConnectionError, RedisTimeoutError):
                # To ask costs time while no sentinel answers.
                self._sure_until = time.monotonic() + UNANSWERED_INTERVAL_S
        return self._named == address


class _ToPrimary(SentinelManagedConnection):
    """A connection to the primary, whose replies count only while it is that."""

    def __init__(self, sentinels: _Sentinels, **options: Any) -> None:
        super().__init__(**options)  # type: ignore[no-untyped-call]
        self._sentinels = sentinels

    def send_packed_command(self, command: Any, check_health: bool = True) -> None:
        """Send a command; one that was closed connects to the primary first, not to the server that it was to."""
        if not self.is_connected:
            self.connect()  # type: ignore[no-untyped-call]
        super().send_packed_command(command, check_health)  # type: ignore[no-untyped-call]

    def read_response(self, *arguments: Any, **options: Any) -> Any:
        """Return a reply; raises the ConnectionError of redis-py when another server is the primary now."""
        reply = super().read_response(*arguments, **options)
        if not self._sentinels.is_at((self.host, self.port), self.connection_pool.service_name):
            self.disconnect()  # type: ignore[no-untyped-call]
            raise RedisConnectionError("another server is the primary now")
        return reply


class _ToPrimaryByTLS(_ToPrimary, SentinelManagedSSLConnection):
    """The same with TLS."""


class _SentinelPool(SentinelConnectionPool, BlockingConnectionPool):
    """Connections to the primary that sentinels name; a caller waits when all are in use."""


def _client(url: str, answer_timeout_s: float) -> StoreClient:
    place = read_place(url)
    options = {
        "max_connections": MAX_CONNECTIONS,
        "timeout": WAIT_FOR_CONNECTION_S,
        "socket_timeout": answer_timeout_s,
        "health_check_interval": 30,
        "driver_info": None,  # else every connection reads the metadata of the package and makes two more round trips
        # A Unix socket connects at once or not at all.
        **({} if url.startswith("unix:") else NETWORK),
        **place.options,
    }
    if place.kind == CLUSTER:
        return ClusterClient(place.addresses, options)
    options["retry"] = Retry(ExponentialWithJitterBackoff(base=0.02, cap=0.5), MAX_RETRIES, (RedisConnectionError,))
    client = StoreClient(connection_pool=_sentinel_pool(place, options) if place.kind == SENTINEL else _pool(options))
    client.auto_close_connection_pool = True
    return client


def _pool(options: dict[str, Any]) -> ConnectionPool:
    return BlockingConnectionPool(**options)


def _sentinel_pool(place: Place, options: dict[str, Any]) -> ConnectionPool:
    secure = options.pop("connection_class", None) is SSLConnection
    soon = {"socket_timeout": SENTINEL_TIMEOUT_S, "socket_connect_timeout": SENTINEL_TIMEOUT_S}
    asking = {"retry": Retry(NoBackoff(), 0), "driver_info": None, **NETWORK, **place.sentinel_options, **soon}
    sentinels = _Sentinels(place.addresses, asking)
    connection_class = _ToPrimaryByTLS if secure else _ToPrimary
    return _SentinelPool(  # type: ignore[no-untyped-call]
        place.service, sentinels, sentinels=sentinels, connection_class=connection_class, **options
    )
