"""A client of a cluster: each command goes to the server that has its key, pipelines are grouped by server.

redis-py's own client, release 8.1, is not used: it loses WATCH after a broken connection or a moved slot, repeats a GET
at a hanging server for 22.6 s, asks for the keys of every XREAD, and fails a whole pipeline for one dead server. Each
is a test (``test_cluster_client_of_redis_py``), which a better release fails.

A transaction or script touches one slot; other pipelines may touch many, with replies in the order of commands.
Commands are sent again where a slot has moved (``Recovery``).
"""

import threading
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from redis.backoff import ExponentialWithJitterBackoff
from redis.client import Pipeline, PubSub
from redis.cluster import ClusterNode
from redis.crc import key_slot
from redis.exceptions import (
    AskError,
    ClusterDownError,
    ConnectionError as RedisConnectionError,
    MaxConnectionsError,
    MovedError,
    ResponseError,
    SlotNotCoveredError,
    TimeoutError as RedisTimeoutError,
    TryAgainError,
    WatchError,
)

from events.runtime.clients import StoreClient, StorePipeline, StorePool, StorePubSub, translating
from events.runtime.errors import StoreCommandError
from events.runtime.slots import Nodes, has_key, slot_of

MAX_RETRIES = 3
BACKOFF = ExponentialWithJitterBackoff(base=0.02, cap=0.5)
"""In seconds, between attempts after a failure."""

MAX_REDIRECTIONS = 16
"""How often a command follows its slot: it moves once, but servers learn of it one after the other."""

MAP_AGE_S = 5.0
"""After this time the map of slots and servers is read again before something is asked of all servers."""

PAUSE_S = 0.05
"""Before a server is asked again that does not know yet which of two has a slot."""

_FAILURES = (RedisConnectionError, RedisTimeoutError, ClusterDownError, SlotNotCoveredError)
_REDIRECTIONS = (AskError, TryAgainError)  # MovedError is an AskError
_ANSWERED_BY_ANY = frozenset({"PUBLISH"})
_ANSWERED_BY_ALL = frozenset({"PING", "FLUSHALL", "SCRIPT LOAD", "SCRIPT FLUSH", "CONFIG SET"})


class ClusterClient(StoreClient):
    """A client of the cluster with servers at ``addresses``; ``options`` are those of the pool of each server."""

    def __init__(self, addresses: Sequence[tuple[str, int]], options: Mapping[str, Any]) -> None:
        host, port = addresses[0]
        super().__init__(connection_pool=StorePool(host=host, port=port, **options))
        self._addresses = tuple(addresses)
        self._options = dict(options)
        self._nodes: Nodes | None = None
        self._connecting = threading.Lock()

    @translating
    def execute_command(self, *args: Any, **options: Any) -> Any:
        """Return the reply of the server that has the key of the command."""
        if args[0] in _ANSWERED_BY_ALL:
            replies = [server.request(*args, **options) for server in self.servers()]
            return replies[0]
        recovery: Recovery | None = None
        slot = None if args[0] in _ANSWERED_BY_ANY else slot_of(args)
        while True:
            node = None
            try:
                node = self.node_of(slot)
                return node.redis_connection.request(*args, **options)
            except AskError as error:
                recovery = recovery or Recovery(self)
                recovery.begin(error, node)
                if not isinstance(error, MovedError):
                    return self._ask(error, args, options)
            except (*_FAILURES, TryAgainError) as error:
                recovery = recovery or Recovery(self)
                recovery.begin(error, node)

    @translating
    def servers(self) -> list[StoreClient]:
        """Return a client for each primary, by address, from a map at most MAP_AGE_S old; they follow no slots."""
        nodes = self.nodes
        nodes.initialize_if_older(MAP_AGE_S)
        primaries = nodes.get_nodes_by_server_type("primary")
        return [nodes.client_of(node) for node in sorted(primaries, key=lambda node: node.name)]

    @translating
    def server_of(self, key: str) -> StoreClient:
        """See StoreClient."""
        return self.nodes.client_of(self.node_of(key_slot(key.encode())))

    def known_servers(self) -> Iterator[tuple[str, StoreClient]]:
        """Yield a client, and the address, of each server that the URL names, which need not be of a cluster."""
        for host, port in self._addresses:
            with StoreClient(connection_pool=StorePool(host=host, port=port, **self._options)) as client:
                yield f"{host}:{port}", client

    def pipeline(self, transaction: bool = True, shard_hint: Any = None) -> StorePipeline:  # noqa: ARG002 - of redis-py
        """Return a pipeline: a transaction touches one slot, the commands of others may be spread over the cluster."""
        return SlotTransaction(self) if transaction else SpreadPipeline(self)

    @translating
    def pubsub(self, **options: Any) -> PubSub:
        """Return a subscriber at one of the servers that answer: they forward publications to each other."""
        *others, last = self.servers()
        for server in others:
            with suppress(*_FAILURES):
                server.request("PING")
                return StorePubSub(server.connection_pool, **options)
        return StorePubSub(last.connection_pool, **options)

    def scan_iter(  # type: ignore[override]
        self, match: str | None = None, count: int | None = None, **options: Any
    ) -> Iterator[bytes]:
        """Return the keys that ``match``: of one slot if they have a hash tag, else of all servers in turn."""
        if match is not None and "{" in match:
            return super().scan_iter(match, count, **options)
        return (key for server in self.servers() for key in server.scan_iter(match, count))

    def close(self) -> None:
        """Close all connections."""
        if self._nodes is not None:
            self._nodes.close()
        super().close()

    @property
    def nodes(self) -> Nodes:
        """The map of slots and servers, read from the cluster at the first use; raises errors of redis-py."""
        if self._nodes is None:
            with self._connecting:
                if self._nodes is None:
                    self._nodes = Nodes(self._addresses, self._options)
        return self._nodes

    def node_of(self, slot: int | None) -> ClusterNode:
        """Return the primary that has ``slot`` as far as is known, for None any; raises SlotNotCoveredError."""
        nodes = self._nodes or self.nodes
        servers = nodes.slots_cache.get(slot) if slot is not None else nodes.get_nodes_by_server_type("primary")
        if not servers:
            raise SlotNotCoveredError(f"no server of the cluster has slot {slot}")
        node: ClusterNode = servers[0]
        if node.redis_connection is None:
            nodes.client_of(node)
        return node

    def _ask(self, error: AskError, args: Sequence[Any], options: Mapping[str, Any]) -> Any:
        """Return the reply of the server to which a slot is being moved, key by key."""
        node = self.nodes.get_node(error.host, error.port) or ClusterNode(error.host, error.port)
        with Pipeline(self.nodes.client_of(node).connection_pool, self.response_callbacks, False, None) as pipeline:
            pipeline.execute_command("ASKING")
            pipeline.execute_command(*args, **options)
            return pipeline.execute()[1]


class Recovery:
    """Counts the errors of one command or pipeline, and brings the map of slots up to date."""

    def __init__(self, client: ClusterClient) -> None:
        self._client = client
        self._failures = 0
        self._redirections = 0

    def begin(self, error: Exception, node: ClusterNode | None) -> None:
        """Prepare another attempt after ``error`` of ``node``; raises it when there were enough, or when it hangs."""
        nodes = self._client.nodes
        if isinstance(error, _REDIRECTIONS):
            self._redirections += 1
            if self._redirections > MAX_REDIRECTIONS:
                raise error
            if isinstance(error, MovedError):
                nodes.move_slot(error)
            else:
                time.sleep(PAUSE_S)
            return
        self._failures += 1
        if isinstance(error, MaxConnectionsError) or self._failures > MAX_RETRIES:
            raise error
        if not isinstance(error, RedisTimeoutError):
            time.sleep(BACKOFF.compute(self._failures))
        nodes.initialize(disconnect_startup_nodes_pools=False, last_failed_node_name=node.name if node else None)
        if isinstance(error, RedisTimeoutError):
            raise error


class SlotTransaction(StorePipeline):
    """A transaction on one slot: it runs on the server that has the first key which it is given."""

    def __init__(self, client: ClusterClient) -> None:
        super().__init__(client.connection_pool, client.response_callbacks, True, None)
        self._client = client
        self._recovery = Recovery(client)
        self._node: ClusterNode | None = None
        self._slot = -1

    @translating
    def immediate_execute_command(self, *args: Any, **options: Any) -> Any:
        """Return the reply to WATCH, or to a command between WATCH and MULTI; raises WatchError when the slot moves."""
        try:
            self._choose_server([args])
            return Pipeline.immediate_execute_command(self, *args, **options)
        except (*_FAILURES, *_REDIRECTIONS) as error:
            self._give_up_connection(error)
            self._recovery.begin(error, self._node)
            raise WatchError("the slot of the transaction has moved") from error

    @translating
    def execute(self, raise_on_error: bool = True) -> list[Any]:
        """Return the replies; raises WatchError when the slot moves while keys are watched.

        Without WATCH it is sent again: the server that refused it has written nothing of it.
        """
        stack, watching = self.command_stack, self.watching
        while True:
            try:
                self._choose_server([args for args, _ in stack])
                self.command_stack = stack
                return Pipeline.execute(self, raise_on_error)
            except (*_FAILURES, *_REDIRECTIONS) as error:
                self._give_up_connection(error)
                self._recovery.begin(error, self._node)
                if watching:
                    raise WatchError("the slot of the transaction has moved") from error

    def _choose_server(self, commands: Sequence[Sequence[Any]]) -> None:
        # While keys are watched, a command without a key, such as WAIT, concerns their server.
        slots = {slot_of(args) for args in commands if has_key(args) or not self.watching}
        if self.watching:
            slots.add(self._slot)
        if len(slots) > 1:
            raise StoreCommandError("a transaction on a cluster touches keys of one hash tag")
        if slots and self.connection is None:
            self._slot = slots.pop()
            self._node = self._client.node_of(self._slot)
            self.connection_pool = self._client.nodes.client_of(self._node).connection_pool

    def _give_up_connection(self, error: Exception) -> None:
        if self.connection is not None and isinstance(error, RedisConnectionError | RedisTimeoutError):
            self.connection.disconnect()
        Pipeline.reset(self)


class SpreadPipeline(StorePipeline):
    """Commands without a transaction: each server gets its own in one transmission, all servers at the same time."""

    def __init__(self, client: ClusterClient) -> None:
        super().__init__(client.connection_pool, client.response_callbacks, False, None)
        self._client = client

    @translating
    def execute(self, raise_on_error: bool = True) -> list[Any]:
        """Return the replies in the order of the commands.

        Commands are sent again after a move or a lost server, those of one slot in order; one without a key, such as
        WAIT, goes with the command before it.
        """
        commands = self.command_stack
        self.command_stack = []
        replies: list[Any] = [None] * len(commands)
        recovery = Recovery(self._client)
        pending: Sequence[int] = range(len(commands))
        while pending:
            failed = self._attempt(commands, pending, replies)
            for node, error in {type(error): (node, error) for node, error in failed.values()}.values():
                recovery.begin(error, node)
            again = {self._leader(commands, number) for number in failed}
            pending = [number for number in pending if self._leader(commands, number) in again]
        if raise_on_error:
            self.raise_first_error(commands, replies)  # type: ignore[no-untyped-call]
        return replies

    def _attempt(
        self, commands: Sequence[Any], pending: Iterable[int], replies: list[Any]
    ) -> dict[int, tuple[ClusterNode | None, Exception]]:
        """Fill in the ``replies`` to the ``pending`` commands; return the errors by number of the command."""
        failed: dict[int, tuple[ClusterNode | None, Exception]] = {}
        by_node: dict[ClusterNode, list[int]] = defaultdict(list)
        for number in pending:
            try:
                slot = slot_of(commands[self._leader(commands, number)][0])
                by_node[self._client.node_of(slot)].append(number)
            except _FAILURES as error:
                failed[number] = (None, error)
        sent: list[tuple[ClusterNode, Any, list[int]]] = []
        try:
            # Connections are taken in the same order by all callers, so that none waits for one that waits for it.
            for node in sorted(by_node, key=lambda node: node.name):
                numbers = by_node[node]
                try:
                    sent.append((node, self._send(node, [commands[number][0] for number in numbers]), numbers))
                except _FAILURES as error:
                    failed |= dict.fromkeys(numbers, (node, error))
            for node, connection, numbers in sent:
                failed |= self._receive(node, connection, commands, numbers, replies)
        finally:
            for node, connection, _ in sent:
                node.redis_connection.connection_pool.release(connection)
        return failed

    @staticmethod
    def _leader(commands: Sequence[Any], number: int) -> int:
        """Return the number of the command with the key of command ``number``: itself, or the one before it."""
        return number if number == 0 or has_key(commands[number][0]) else number - 1

    def _send(self, node: ClusterNode, commands: Sequence[Sequence[Any]]) -> Any:
        pool = node.redis_connection.connection_pool
        connection = pool.get_connection()
        try:
            connection.send_packed_command(connection.pack_commands(commands))
        except BaseException:
            connection.disconnect()
            pool.release(connection)
            raise
        return connection

    def _receive(
        self, node: ClusterNode, connection: Any, commands: Sequence[Any], numbers: list[int], replies: list[Any]
    ) -> dict[int, tuple[ClusterNode | None, Exception]]:
        failed: dict[int, tuple[ClusterNode | None, Exception]] = {}
        lost: Exception | None = None
        for number in numbers:
            args, options = commands[number]
            try:
                if lost is None:
                    reply = self.parse_response(connection, args[0], **options)  # type: ignore[no-untyped-call]
                    replies[number] = reply
                else:
                    failed[number] = (node, lost)
            except (*_REDIRECTIONS, ClusterDownError) as error:
                failed[number] = (node, error)
            except ResponseError as error:
                replies[number] = error
            except (RedisConnectionError, RedisTimeoutError) as error:
                connection.disconnect()
                lost = error
                failed[number] = (node, error)
            except BaseException:
                connection.disconnect()
                raise
        return failed
