"""Clients of one server: bytes as replies, and the errors of the store instead of those of redis-py."""

import functools
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from queue import Empty, Full
from threading import Condition
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from hiredis import pack_command
from redis import BlockingConnectionPool, Redis
from redis.client import Pipeline, PubSub
from redis.exceptions import (
    AskError,
    ClusterError,
    ConnectionError as RedisConnectionError,
    NoPermissionError,
    NoScriptError,
    OutOfMemoryError,
    ReadOnlyError,
    RedisClusterException,
    RedisError,
    ResponseError,
    TimeoutError as RedisTimeoutError,
    TryAgainError,
    WatchError,
)

from events.runtime.errors import (
    OtherStoreError,
    StoreCommandError,
    StoreError,
    StoreFullError,
    StorePermissionError,
    StoreTimeoutError,
    StoreUnavailableError,
)

# A redirection that is still there after all attempts: slots are on their way from one server to another.
_TRANSIENT = (RedisConnectionError, ReadOnlyError, ClusterError, RedisClusterException, AskError, TryAgainError)
_TRANSIENT_CODES = ("READONLY ", "BUSY ", "MASTERDOWN ")
_FULL_CODES = ("OOM ", "MISCONF ", "NOREPLICAS ")
"""No memory; a file that could not be written; told to accept no writes: too few replicas, or a full disk."""

P = ParamSpec("P")
T = TypeVar("T")


def translated(error: RedisError | RedisClusterException) -> StoreError:
    """Return ``error`` as a StoreUnavailableError if waiting may help, else as a StoreCommandError."""
    # redis-py takes the code off the message of errors that it has a class for. Older servers report an error inside a
    # script as a general one, with the code somewhere in the message.
    if isinstance(error, OutOfMemoryError) or any(code in str(error) for code in _FULL_CODES):
        return StoreFullError(f"the event store takes no writes now: {error}")
    if isinstance(error, _WrongServerError):
        return OtherStoreError(f"the event store cannot be used: {error}")
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
        except (RedisError, RedisClusterException) as error:
            raise translated(error) from error

    return translating_errors


Key = str | bytes
Entry = tuple[bytes, dict[bytes, bytes]]

if TYPE_CHECKING:

    class _Commands:
        """The type of replies where redis-py says ``bytes | str``: bytes, since nothing here decodes replies."""

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
        def scan_iter(self, match: Any = None, count: int | None = None, **options: Any) -> Iterator[Any]: ...
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


class _WrongServerError(RedisConnectionError):
    pass


class InstallationCheck:
    """Keeps a client from a store that holds another installation than before, or none, as an emptied server does.

    Each new connection is checked; pools of redis-py call this instead of their own initialisation.
    """

    _expected: tuple[str, str] | None = None

    def expect(self, key: str, id: str) -> None:
        """From now on connect to stores only whose hash ``key`` has this ``id``."""
        self._expected = key, id

    def __call__(self, connection: Any) -> None:
        """Check a new connection; raises the ConnectionError of redis-py."""
        connection.on_connect()
        if self._expected is None:
            return
        key, id = self._expected
        connection.send_command("HGET", key, "id", check_health=False)
        try:
            answer = connection.read_response()
        except ResponseError:
            return  # another server of the cluster has the key, or this user may not read it
        if answer != id.encode():
            raise _WrongServerError(f"it does not hold installation {id}: it was emptied, or it is another store")


class Packer:
    """Writes commands as the server reads them; arguments are text, bytes or numbers."""

    def pack(self, *args: Any) -> list[bytes]:
        """Return a command as bytes; the two words of one such as ``CONFIG GET`` are arguments."""
        return [pack_command((*args[0].split(), *args[1:]) if " " in args[0] else args)]


class IdleConnections:
    """The connections of a pool that are not in use, the last one first; None stands for one that is still to be made.

    As in ``queue.LifoQueue``, in one step of a list instead of three locks, unless a thread has to wait.
    """

    def __init__(self, max_connections: int) -> None:
        self.queue: list[Any] = []
        """Read by redis-py."""

        self._max_connections = max_connections
        self._returned = Condition()
        self.waiting = 0
        """The number of threads that wait for a connection."""

    def get(self, timeout: float) -> Any:
        """Take a connection, after waiting ``timeout`` seconds at most; raises ``queue.Empty``."""
        try:
            return self.queue.pop()
        except IndexError:
            return self._await(time.monotonic() + timeout)

    def put_nowait(self, connection: Any) -> None:
        """Bring a connection back; raises ``queue.Full``."""
        if len(self.queue) >= self._max_connections:
            raise Full
        self.queue.append(connection)
        if self.waiting:  # read after the list has it: a thread that looks later finds it there
            with self._returned:
                self._returned.notify()

    def _await(self, until: float) -> Any:
        with self._returned:
            self.waiting += 1
            try:
                while True:
                    with suppress(IndexError):
                        return self.queue.pop()
                    left_s = until - time.monotonic()
                    if left_s <= 0:
                        raise Empty
                    # The time is not checked after the wait: a thread that is woken too late still takes the connection
                    # that it was woken for, since no other one would be woken for it.
                    self._returned.wait(left_s)
            finally:
                self.waiting -= 1


class StorePool(BlockingConnectionPool):
    """Connections to one server; a caller waits when all are in use.

    It has no metrics: those of redis-py, which nothing here reads, cost it more than all the rest.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(command_packer=Packer(), queue_class=IdleConnections, **options)  # type: ignore[no-untyped-call]

    def get_connection(self, command_name: object = None, *keys: object, **options: object) -> Any:  # noqa: ARG002
        """Return a connection that is ready for a command; raises the ConnectionError of redis-py."""
        self._checkpid()
        try:
            connection = self.pool.get(timeout=self.timeout)
        except Empty:
            raise RedisConnectionError("No connection available.") from None
        if connection is None:
            connection = self.make_connection()  # type: ignore[no-untyped-call]
        try:
            try:
                is_ready = connection.is_connected and not connection.can_read()
            except (RedisConnectionError, RedisTimeoutError):  # the server has closed it
                is_ready = False
            if not is_ready:
                connection.disconnect()
                connection.connect()
        except BaseException:
            self.release(connection)
            raise
        return connection

    def release(self, connection: Any) -> None:
        """Take a connection back. One of another process, or to a former primary, makes room for a new one."""
        self._checkpid()
        is_own = self.owns_connection(connection)
        if not is_own or connection.should_reconnect():
            connection.disconnect()
        if is_own:
            self.pool.put_nowait(connection)
        else:
            with suppress(Full):
                self.pool.put_nowait(None)


class StorePipeline(_Commands, Pipeline):  # type: ignore[misc]
    """A pipeline whose errors do not repeat the command: it may hold a key or the digest of a password."""

    execute = translating(Pipeline.execute)
    immediate_execute_command = translating(Pipeline.immediate_execute_command)
    reset = translating(Pipeline.reset)

    if TYPE_CHECKING:

        def __enter__(self) -> "StorePipeline": ...

    def annotate_exception(self, exception: Exception, number: int, command: Any) -> None:
        """Leave the server's words as they are."""


class StorePubSub(PubSub):
    """A subscriber whose errors are those of the store."""

    execute_command = translating(PubSub.execute_command)
    parse_response = translating(PubSub.parse_response)


class StoreClient(_Commands, Redis):  # type: ignore[misc]
    """A client whose errors are those of the store; StoreUnavailableError is the only one that goes away by waiting."""

    def request(self, *args: Any, **options: Any) -> Any:
        """Return the reply to a command; raises the errors of redis-py."""
        pool = self.connection_pool
        connection = pool.get_connection()

        def attempt() -> Any:
            connection.send_command(*args, **options)
            return self.parse_response(connection, args[0], **options)  # type: ignore[no-untyped-call]

        try:
            return connection.retry.call_with_retry(attempt, connection.disconnect)
        finally:
            pool.release(connection)

    execute_command = translating(request)

    @property
    def check(self) -> InstallationCheck:
        """The check of new connections; the clients of all servers of a cluster share it."""
        check: InstallationCheck = self.connection_pool.connection_kwargs["redis_connect_func"]
        return check

    @property
    def address(self) -> str:
        """Where the server is, without anything secret: host and port, or a path; of a primary as it was named last."""
        options = self.connection_pool.connection_kwargs
        named = getattr(self.connection_pool, "master_address", None)
        place = named or (options.get("host", options.get("path", "")), options.get("port", ""))
        return ":".join(str(part) for part in place if part)

    def servers(self) -> "list[StoreClient]":
        """Return a client for each primary server behind this one; here it is the only one."""
        return [self]

    def server_of(self, key: str) -> "StoreClient":  # noqa: ARG002 - a cluster has several
        """Return a client of the server that has ``key``, for commands that concern a server, such as TIME."""
        return self

    def pipeline(self, transaction: bool = True, shard_hint: Any = None) -> StorePipeline:
        """Return a pipeline of this client."""
        return StorePipeline(self.connection_pool, self.response_callbacks, transaction, shard_hint)

    def pubsub(self, **options: Any) -> PubSub:
        """Return a subscriber of this client."""
        return StorePubSub(self.connection_pool, **options)
