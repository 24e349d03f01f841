"""Connections to the store: one server, a primary that sentinels watch, or a cluster, by the form of the URL.

    redis://[user:password@]host[:6379][/0]         one server, with TLS as rediss://
    unix:///socket?db=0                             one server on this machine
    redis+sentinel://host[:26379],.../service[/0]   the primary that these sentinels call ``service``
    redis+cluster://host[:6379],...                 a cluster, of which these servers are known

TLS as ``rediss+sentinel://`` and ``rediss+cluster://``; ``?sentinel_username=`` and ``sentinel_password`` are of
sentinels.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from redis import SSLConnection
from redis.backoff import ExponentialWithJitterBackoff, NoBackoff
from redis.connection import parse_url
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.retry import Retry

from events.runtime.clients import (
    Entry,
    InstallationCheck,
    Key,
    StoreClient,
    StorePipeline,
    StorePool,
    translated,
    translating,
)
from events.runtime.cluster import MAX_RETRIES, ClusterClient
from events.runtime.sentinels import PrimaryPool, Sentinels, ToPrimary, ToPrimaryByTLS

__all__ = [
    "CLUSTER", "SCHEMES", "SENTINEL", "SINGLE", "Entry", "Key", "StoreClient", "StorePipeline", "blocking_client",
    "connect", "read_place", "translated", "translating",
]  # fmt: skip

ANSWER_TIMEOUT_S = 5.0
NETWORK = {"socket_connect_timeout": 2.0, "socket_keepalive": True}
MAX_CONNECTIONS = 50
"""Of one client, to one server. A burst of requests waits for a connection instead of failing or opening thousands."""

WAIT_FOR_CONNECTION_S = 20
SENTINEL_TIMEOUT_S = 1.0
"""For the answer of a sentinel to this question."""

SINGLE, SENTINEL, CLUSTER = "single", "sentinel", "cluster"
_KINDS = {"redis": SINGLE, "rediss": SINGLE, "unix": SINGLE}
_KINDS |= {f"{scheme}+{kind}": kind for scheme in ("redis", "rediss") for kind in (SENTINEL, CLUSTER)}
SCHEMES = tuple(f"{scheme}://" for scheme in _KINDS)
_DEFAULT_PORTS = {SENTINEL: 26379, CLUSTER: 6379}


class StoreAddress(NamedTuple):
    """Where a store is, as its URL says: ``addresses`` of sentinels or cluster, ``service`` as sentinels call it."""

    kind: str
    addresses: tuple[tuple[str, int], ...]
    service: str
    options: Mapping[str, Any]
    sentinel_options: Mapping[str, Any]


def connect(url: str) -> StoreClient:
    """Return a client for commands that do not block, without connecting.

    It repeats a command, writes too, when a connection breaks: commands that must not happen twice carry their own
    protection. A server that is silent for ANSWER_TIMEOUT_S is not asked again.
    """
    return _client(url, ANSWER_TIMEOUT_S)


def blocking_client(url: str, block_ms: int) -> StoreClient:
    """Return a client whose reads may block for ``block_ms``: it does not give up before the server answers."""
    return _client(url, block_ms / 1000 + ANSWER_TIMEOUT_S)


def read_place(url: str) -> StoreAddress:
    """Return the address in ``url``; raises ValueError, without a part of ``url``, when it cannot be read."""
    parts = urlsplit(url)
    kind = _KINDS.get(parts.scheme)
    if kind is None:
        raise ValueError(f"must begin with {', '.join(SCHEMES[:-1])} or {SCHEMES[-1]}")
    if kind == SINGLE:
        return StoreAddress(kind, (), "", parse_url(url), {})
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
    # The rest has the form of a URL of redis-py, which reads names, passwords and options.
    options = parse_url(f"{parts.scheme.partition('+')[0]}://{userinfo}{'@' if userinfo else ''}?{parts.query}")
    sentinel_options = {
        name: options.pop(f"sentinel_{name}") for name in ("username", "password") if f"sentinel_{name}" in options
    }
    if kind == SENTINEL:
        options["db"] = int(database or 0)
    return StoreAddress(kind, addresses, service, options, sentinel_options)


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


def _client(url: str, answer_timeout_s: float) -> StoreClient:
    place = read_place(url)
    options = {
        "redis_connect_func": InstallationCheck(),
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
    client = StoreClient(
        connection_pool=_sentinel_pool(place, options) if place.kind == SENTINEL else StorePool(**options)
    )
    client.auto_close_connection_pool = True
    return client


def _sentinel_pool(place: StoreAddress, options: dict[str, Any]) -> StorePool:
    secure = options.pop("connection_class", None) is SSLConnection
    soon = {"socket_timeout": SENTINEL_TIMEOUT_S, "socket_connect_timeout": SENTINEL_TIMEOUT_S}
    asking = {"retry": Retry(NoBackoff(), 0), "driver_info": None, **NETWORK, **place.sentinel_options, **soon}
    sentinels = Sentinels(place.addresses, asking)
    connection_class = ToPrimaryByTLS if secure else ToPrimary
    return PrimaryPool(  # type: ignore[no-untyped-call]
        place.service, sentinels, sentinels=sentinels, connection_class=connection_class, **options
    )
