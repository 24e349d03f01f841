"""Connections to Redis with time limits that fit a server: nothing waits for ever, nothing retries for long."""

from typing import Any

from redis import BlockingConnectionPool, Redis
from redis.backoff import ExponentialWithJitterBackoff
from redis.client import Pipeline
from redis.exceptions import ConnectionError as NoConnection
from redis.retry import Retry

ANSWER_SECONDS = 5.0
NETWORK = {"socket_connect_timeout": 2.0, "socket_keepalive": True}
RETRIES = 3
MAX_CONNECTIONS = 50
"""Of one client. A burst of requests waits for a connection instead of failing, or of opening thousands."""

WAIT_FOR_CONNECTION_S = 20


def connect(url: str) -> Redis:
    """Return a client for commands that do not block; it is safe to share between threads.

    It asks again up to three times when a connection breaks, writes too: whatever must not happen twice carries its own
    protection (a request key, WATCH, a version guard). A server that is silent for ANSWER_SECONDS is not asked again:
    it hangs, and callers should not wait for it any longer.
    """
    return _client(url, ANSWER_SECONDS)


def blocking_client(url: str, block_ms: int) -> Redis:
    """Return a client whose reads may block for ``block_ms``: the client must not give up before the server answers."""
    return _client(url, block_ms / 1000 + ANSWER_SECONDS)


class _DiscreetPipeline(Pipeline):
    """A pipeline whose errors do not repeat the command: it may hold a key or the digest of a password."""

    def annotate_exception(self, exception: Exception, number: int, command: Any) -> None:
        """Leave the server's words as they are."""


class _DiscreetClient(Redis):
    def pipeline(self, transaction: bool = True, shard_hint: Any = None) -> Pipeline:
        return _DiscreetPipeline(self.connection_pool, self.response_callbacks, transaction, shard_hint)


def _client(url: str, answer_seconds: float) -> Redis:
    # A Unix socket connects at once or not at all.
    network: dict[str, Any] = {} if url.startswith("unix:") else NETWORK
    pool = BlockingConnectionPool.from_url(
        url,
        max_connections=MAX_CONNECTIONS,
        timeout=WAIT_FOR_CONNECTION_S,
        socket_timeout=answer_seconds,
        health_check_interval=30,
        driver_info=None,  # else every connection reads the metadata of the package and makes two more round trips
        retry=Retry(ExponentialWithJitterBackoff(base=0.02, cap=0.5), RETRIES, (NoConnection,)),
        **network,
    )
    return _DiscreetClient.from_pool(pool)
