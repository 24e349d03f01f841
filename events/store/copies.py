"""Appends that are acknowledged only when replicas have them, so that no single failure takes acknowledged events.

The number configured is known to sentinels or the map of the cluster; the primary counts connected ones only, which are
fewer in the very failure that is meant.
"""

import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from redis.exceptions import NoScriptError, RedisError

from events.runtime.clients import StoreClient, translated
from events.runtime.cluster import ClusterClient
from events.runtime.errors import StoreCommandError, StoreUnavailableError
from events.runtime.keys import InstallationKeys
from events.runtime.scripts import Argument, Script
from events.runtime.sentinels import PrimaryPool

MAX_WAIT_MS = 1000
"""For replicas that are behind: a caller is told after this time, and repeats the request."""

REFUSAL_S = 1.0
"""While replicas are behind, one append in this time finds out whether they still are; others are refused at once."""

POLICY_INTERVAL_S = 5.0
"""Between two looks at whether the operator has ordered another number."""

CLUSTER_INTERVAL_S = 1.0
"""Between two questions to a server of a cluster how many replicas it has."""

MAX_LAG_S = 3
"""A replica reports its progress every second: one that is silent for longer does not count as one that follows."""

MAX_ATTEMPTS = 5
WRITE_NUMBER_AGAIN = "return redis.call('EXISTS', KEYS[1]) == 1 and redis.call('INCRBY', KEYS[1], 0)"
"""WAIT waits for the writes of its own connection, so that writes something first; nothing to an emptied shard."""

ALL = "all"
POLICY_FIELD = "wait_replicas"


class NotCopiedError(StoreUnavailableError):
    """An append is stored, but fewer than ``replicas`` replicas have it. The same request again only waits again."""

    def __init__(self, replicas: int, copied: int) -> None:
        super().__init__(f"what was written is stored, but {copied} instead of {replicas} replicas have it by now")
        self.replicas = replicas
        self.copied = copied


class ReplicasBehindError(StoreUnavailableError):
    """Replicas did not have an earlier append a moment ago; nothing was written."""


class Copies:
    """The number of replicas that must have an append, and the wait for them.

    ``wanted`` is the number from the settings, None for all that are configured; an operator's order in the store
    counts in its place.
    """

    def __init__(self, client: StoreClient, prefix: str, wanted: int | None) -> None:
        self._client = client
        self._names_replicas = isinstance(client.connection_pool, PrimaryPool) or isinstance(client, ClusterClient)
        self._installation = InstallationKeys(prefix).installation
        self._wanted = wanted
        self._ordered: int | str | None = None
        self._looked_at = float("-inf")
        self._replicas: dict[str, tuple[float, int]] = {}
        self._behind: dict[str, tuple[float, NotCopiedError]] = {}

    def required(self, server: StoreClient) -> int:
        """Return how many replicas of ``server``, the primary of a key, must have an append there."""
        if time.monotonic() - self._looked_at > POLICY_INTERVAL_S:
            with suppress(StoreUnavailableError):  # then the last order counts: it may be on another server
                self.read_order()
        number = self._wanted if self._ordered is None else self._ordered
        return number if isinstance(number, int) else self.configured(server)

    def configured(self, server: StoreClient) -> int:
        """Return how many replicas ``server`` should have; 0 where nothing but the server itself could tell."""
        if not self._names_replicas:
            return 0
        pool = server.connection_pool
        if isinstance(pool, PrimaryPool):
            return pool.count_replicas()
        asked_at, replicas = self._replicas.get(server.address, (float("-inf"), 0))
        if time.monotonic() - asked_at > CLUSTER_INTERVAL_S:
            asked_at, replicas = time.monotonic(), _count_replicas(server)
            self._replicas[server.address] = asked_at, replicas
        return replicas

    def call(self, script: Script, keys: Sequence[str], args: Sequence[Argument], sequence: str) -> Any:
        """Call the append ``script``, wait for replicas in the same transmission, and return its reply.

        ``sequence`` is the key by which the feed is numbered. Raises NotCopiedError, ReplicasBehindError, and
        the errors of the script.
        """
        for _ in range(MAX_ATTEMPTS):
            server = self._client.server_of(keys[0])
            replicas = self.required(server)
            if not replicas:
                reply, copied = script(keys, args), 0
            else:
                self._refuse_behind(server, replicas)
                reply, copied = self._call_and_wait(script, keys, args, replicas)
            if reply[0] == b"repeated":  # it has written nothing: a wait would be answered at once
                self.confirm(sequence)
                return reply
            if reply[0] != b"appended":
                return reply
            # The key may have moved to a server with more replicas meanwhile: then the request is repeated there.
            required = self.required(self._client.server_of(keys[0]))
            if copied >= required:
                return reply
            if required <= replicas:
                raise self._noted(server, NotCopiedError(required, copied))
        raise StoreUnavailableError("the servers of the event store change all the time")

    def confirm(self, sequence: str) -> None:
        """Wait until replicas have all earlier writes to the shard of ``sequence``. Raises NotCopiedError."""
        server = self._client.server_of(sequence)
        replicas = self.required(server)
        if not replicas:
            return
        with self._client.pipeline(transaction=False) as pipeline:
            pipeline.eval(WRITE_NUMBER_AGAIN, 1, sequence)
            pipeline.wait(replicas, MAX_WAIT_MS)
            _, copied = pipeline.execute()
        if copied < replicas:
            raise self._noted(server, NotCopiedError(replicas, copied))

    def read_order(self) -> int | str | None:
        """Return the number of replicas that an operator has ordered to wait for, ALL or None for the settings."""
        ordered = self._client.hget(self._installation, POLICY_FIELD)
        self._ordered = None if ordered is None else ALL if ordered == ALL.encode() else int(ordered)
        self._looked_at = time.monotonic()
        return self._ordered

    def order(self, number: int | str | None) -> None:
        """Order all processes to wait for ``number`` replicas, ALL or None for the number in their settings."""
        if number is None:
            self._client.hdel(self._installation, POLICY_FIELD)
        else:
            self._client.hset(self._installation, POLICY_FIELD, str(number))
        self.read_order()

    def shortages(self) -> list[str]:
        """Return the shortage of each primary with too few replicas that follow it, as operators read it."""
        shortages = []
        for server in self._client.servers():
            state: Any = server.info("replication")
            following = sum(
                replica["state"] == "online" and replica["lag"] <= MAX_LAG_S
                for name, replica in state.items()
                if name.startswith("slave") and isinstance(replica, dict)
            )
            required = self.required(server)
            if following < required:
                shortages.append(
                    f"{following} of {required} replicas follow {server.address}: what is appended there is not "
                    "acknowledged until they are back, or `rookery store replicas` orders a smaller number"
                )
        return shortages

    def costs(self) -> str:
        """Return the possible cost of a failover because fewer replicas are awaited than configured; empty for none."""
        for server in self._client.servers():
            required, configured = self.required(server), self.configured(server)
            if required < configured:
                return (
                    f"appends are acknowledged when {required} of {configured} replicas have them: "
                    "if another one takes over, what it has not got by then is lost although it was acknowledged"
                )
        return ""

    def _call_and_wait(
        self, script: Script, keys: Sequence[str], args: Sequence[Argument], replicas: int
    ) -> tuple[Any, int]:
        reply: Any = None
        with self._client.pipeline(transaction=False) as pipeline:
            for run, name in ((pipeline.evalsha, script.sha), (pipeline.eval, script.script)):
                run(name, len(keys), *keys, *args)
                pipeline.wait(replicas, MAX_WAIT_MS)
                reply, copied = pipeline.execute(raise_on_error=False)
                if not isinstance(reply, NoScriptError):
                    break
        for failed in (reply, copied):
            if isinstance(failed, RedisError):
                raise translated(failed) from failed
        return reply, copied

    def _refuse_behind(self, server: StoreClient, replicas: int) -> None:
        until, error = self._behind.get(server.address, (0.0, None))
        if error is not None and time.monotonic() < until and error.copied < replicas:
            raise ReplicasBehindError(f"the event store takes no writes now: {error}") from error

    def _noted(self, server: StoreClient, error: NotCopiedError) -> NotCopiedError:
        self._behind[server.address] = time.monotonic() + REFUSAL_S, error
        return error


def _count_replicas(server: StoreClient) -> int:
    """Return how many other servers belong to the shard of ``server``, a former primary included (from 7.0)."""
    try:
        own: Any = server.cluster("myid")
        shards: Any = server.cluster("shards")
    except StoreCommandError:
        nodes: Any = server.cluster("nodes")
        myself = next(node["node_id"] for node in nodes.values() if "myself" in node["flags"])
        return sum(node["master_id"] == myself for node in nodes.values())
    members = ([node[b"id"] for node in shard[b"nodes"]] for shard in shards)
    return next(len(ids) - 1 for ids in members if own in ids)
