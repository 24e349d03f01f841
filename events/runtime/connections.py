"""Connections to Redis: with time limits that fit a server, bytes as replies, and the errors of the store."""

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from redis import BlockingConnectionPool, Redis
from redis.backoff import ExponentialWithJitterBackoff
from redis.client import Pipeline, PubSub
from redis.exceptions import (
    ClusterDownError,
    NoPermissionError,
    NoScriptError,
    OutOfMemoryError,
    ReadOnlyError,
    RedisError,
    TryAgainError,
    WatchError,
)
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError
from redis.retry import Retry

from events.runtime.errors import (
    StoreCommandError,
    StoreError,
    StoreFullError,
    StorePermissionError,
    StoreTimeoutError,
    StoreUnavailableError,
)

ANSWER_TIMEOUT_S = 5.0
NETWORK = {"socket_connect_timeout": 2.0, "socket_keepalive": True}
MAX_RETRIES = 3
MAX_CONNECTIONS = 50
"""Of one client. A burst of requests waits for a connection instead of failing, or of opening thousands."""

WAIT_FOR_CONNECTION_S = 20

_TRANSIENT = (RedisConnectionError, ReadOnlyError, ClusterDownError, TryAgainError)
_TRANSIENT_CODES = ("READONLY ", "BUSY ", "MASTERDOWN ")
_FULL_CODES = ("OOM ", "MISCONF ", "NOREPLICAS ")
"""No memory; a file that could not be written; told to accept no writes while the disk is almost full."""

P = ParamSpec("P")
T = TypeVar("T")


def connect(url: str) -> "StoreClient":
    """Return a client for commands that do not block; it is safe to share between threads.

    It repeats a command up to three times when a connection breaks, writes too: whatever must not happen twice carries
    its own protection (a request key, WATCH, a version guard). A server that is silent for ANSWER_TIMEOUT_S is not
    asked again: it hangs, and callers should not wait for it any longer.
    """
    return _client(url, ANSWER_TIMEOUT_S)


def blocking_client(url: str, block_ms: int) -> "StoreClient":
    """Return a client whose reads may block for ``block_ms``: it does not give up before the server answers."""
    return _client(url, block_ms / 1000 + ANSWER_TIMEOUT_S)


def translated(error: RedisError) -> StoreError:
    """Return ``error`` as a StoreUnavailableError if waiting may help, else as a StoreCommandError."""
    # redis-py takes the code off the message of errors that it has a class for. Older servers report an error inside a
    # script as a general one, with the code somewhere in the message.
    if isinstance(error, OutOfMemoryError) or any(code in str(error) for code in _FULL_CODES):
        return StoreFullError(f"the event store has no room to write anything: {error}")
    if isinstance(error, RedisTimeoutError):
        return StoreTimeoutError(f"the event store cannot be used now: {error}")
    if isinstance(error, _TRANSIENT) or any(code in str(error) for code in _TRANSIENT_CODES):
        return StoreUnavailableError(f"the event store cannot be used now: {error}")
    refused = StorePermissionError if isinstance(error, NoPermissionError) else StoreCommandError
    return refused(f"the event store refused: {error}")


def translating(method: Callable[P, T]) -> Callable[P, T]:
    """Return ``method`` so that it raises StoreError where redis-py raises its own errors."""

    @functools.wraps(method)
    def translating_errors(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return method(*args, **kwargs)
        except (NoScriptError, WatchError):
            raise  # answered by ``Script`` and by ``transact``
        except RedisError as error:
            raise translated(error) from error

    return translating_errors


Key = str | bytes
Entry = tuple[bytes, dict[bytes, bytes]]
"""An entry of a stream: its id and fields."""

if TYPE_CHECKING:

    class _Commands:
        """What commands return where redis-py says ``bytes | str``: bytes, since nothing here decodes replies."""

        def get(self, name: Key) -> bytes | None: ...
        def getdel(self, name: Key) -> bytes | None: ...
        def getrange(self, key: Key, start: int, end: int) -> bytes: ...
        def mget(self, keys: Iterable[Key]) -> list[bytes | None]: ...
        def hget(self, name: Key, key: Key) -> bytes | None: ...
        def hmget(self, name: Key, keys: Iterable[Key], *args: Key) -> list[bytes | None]: ...
        def hgetall(self, name: Key) -> dict[bytes, bytes]: ...
        def hkeys(self, name: Key) -> list[bytes]: ...
        def hscan_iter(self, name: Key, count: int | None = None) -> Iterator[tuple[bytes, bytes]]: ...
        def lrange(self, name: Key, start: int, end: int) -> list[bytes]: ...
        def smembers(self, name: Key) -> set[bytes]: ...
        def type(self, name: Key) -> bytes: ...
        def scan_iter(self, match_id: str | None = None, count: int | None = None) -> Iterator[bytes]: ...
        def watch(self, *names: Key) -> None: ...
        def xrange(
            self, name: Key, min: str | bytes = "-", max: str | bytes = "+", count: int | None = None
        ) -> list[Entry]: ...
        def xrevrange(
            self, name: Key, max: str | bytes = "+", min: str | bytes = "-", count: int | None = None
        ) -> list[Entry]: ...
        def xread(
            self, streams: Mapping[str, str], count: int | None = None, block: int | None = None
        ) -> list[tuple[bytes, list[Entry]]]: ...
        def xreadgroup(
            self,
            groupname: str,
            consumername: str,
            streams: Mapping[str, str],
            count: int | None = None,
            block: int | None = None,
        ) -> list[tuple[bytes, list[Entry]]]: ...
        def xpending_range(
            self, name: str, groupname: str, min: str, max: str, count: int, consumername: str | None = None
        ) -> list[dict[str, Any]]: ...

        # Members alone, or pairs of member and score: the caller knows which it has asked for.
        def zrange(self, name: Key, start: int | str, end: int | str, **options: Any) -> list[Any]: ...
        def zrangebyscore(self, name: Key, min: float | str, max: float | str, **options: Any) -> list[Any]: ...
        def zrevrangebyscore(self, name: Key, max: float | str, min: float | str, **options: Any) -> list[Any]: ...
else:

    class _Commands:
        pass


class StorePipeline(_Commands, Pipeline):  # type: ignore[misc]
    """A pipeline whose errors do not repeat the command: it may hold a key or the digest of a password."""

    execute = translating(Pipeline.execute)
    immediate_execute_command = translating(Pipeline.immediate_execute_command)
    reset = translating(Pipeline.reset)

    if TYPE_CHECKING:

        def __enter__(self) -> "StorePipeline": ...

    def annotate_exception(self, exception: Exception, number: int, command: Any) -> None:
        """Leave the server's words as they are."""


class _PubSub(PubSub):
    execute_command = translating(PubSub.execute_command)
    parse_response = translating(PubSub.parse_response)


class StoreClient(_Commands, Redis):  # type: ignore[misc]
    """A client whose errors are those of the store; StoreUnavailableError is the only one that goes away by waiting."""

    execute_command = translating(Redis.execute_command)

    def pipeline(self, transaction: bool = True, shard_hint: Any = None) -> StorePipeline:
        """Return a pipeline of this client."""
        return StorePipeline(self.connection_pool, self.response_callbacks, transaction, shard_hint)

    def pubsub(self, **options: Any) -> PubSub:
        """Return a subscriber of this client."""
        return _PubSub(self.connection_pool, **options)


def _client(url: str, answer_timeout_s: float) -> StoreClient:
    # A Unix socket connects at once or not at all.
    network: dict[str, Any] = {} if url.startswith("unix:") else NETWORK
    pool = BlockingConnectionPool.from_url(
        url,
        max_connections=MAX_CONNECTIONS,
        timeout=WAIT_FOR_CONNECTION_S,
        socket_timeout=answer_timeout_s,
        health_check_interval=30,
        driver_info=None,  # else every connection reads the metadata of the package and makes two more round trips
        retry=Retry(ExponentialWithJitterBackoff(base=0.02, cap=0.5), MAX_RETRIES, (RedisConnectionError,)),
        **network,
    )
    client = StoreClient(connection_pool=pool)
    client.auto_close_connection_pool = True
    return client
