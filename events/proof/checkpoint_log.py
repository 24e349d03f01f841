"""The log of checkpoints in the store: leaves are appended, the tree is signed once a day, proofs are read off it."""

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from redis.client import Pipeline

from events.proof import merkle
from events.proof.checkpoints import (
    FORMAT,
    KIND,
    Checkpoint,
    Consistency,
    Inclusion,
    leaf_of,
    statement,
    write_checkpoint,
)
from events.proof.checkpoints import read_checkpoint as unpacked
from events.proof.keys import KeyRing
from events.redis_store import RedisStore
from events.shapes import Digest
from events.store import Head

MATCHES_AT_ONCE = 1000
NODES_A_KEY = 1 << 15
"""Nodes of one level that share a key: 1 MiB."""

NODE_BYTES = 32


class NoCheckpoint(LookupError):
    """There is no checkpoint of this day."""


class CheckpointLog:
    """The log of one installation. Every method raises redis-py's errors when the store cannot be reached."""

    def __init__(self, store: RedisStore, keys: KeyRing) -> None:
        self._store = store
        self._client: Any = store.client
        self._keys = keys
        log = f"{store.prefix}{{proof}}:log"
        self._size = f"{log}:size"
        self._leaves = f"{log}:leaves"
        self._nodes = f"{log}:nodes"
        self._logged = f"{log}:logged"
        self._days = f"{log}:checkpoints"
        self._latest = f"{log}:latest"

    def sign(self, now: int) -> Checkpoint:
        """Return the checkpoint of the day of ``now`` (milliseconds since 1970 UTC), which is made if there is none.

        Killed at any moment, or run by several workers at once, it makes one: leaves join in transactions of up to
        MATCHES_AT_ONCE, each whole with its nodes and the new size, and what has joined is not added again; the first
        to sign the day has signed it. A clock that goes back makes no checkpoint of an earlier day. Raises ClockDiffers
        when that of this process is wrong: a checkpoint of a day to come would be the last one until then.
        """
        self._store.check_clock()
        day = day_of(now)
        latest = self.latest()
        if latest is not None and latest.day >= day:
            return latest
        for shard in range(self._store.shards):
            streams = self._store.streams(shard)
            while names := list(islice(streams, MATCHES_AT_ONCE)):
                while not self._log_heads(names):
                    pass
        return self._sign(day, now)

    def latest(self) -> Checkpoint | None:
        """Return the last checkpoint, None before the first."""
        day = self._client.get(self._latest)
        return None if day is None else self.of_day(day.decode())

    def of_day(self, day: str) -> Checkpoint:
        """Return the checkpoint of ``day`` (2026-01-31, UTC); raises NoCheckpoint."""
        packed = self._client.hget(self._days, day)
        if packed is None:
            raise NoCheckpoint(f"there is no checkpoint of {day}")
        return unpacked(packed)

    def days(self) -> list[str]:
        """Return the days that have a checkpoint, the oldest first."""
        return sorted(day.decode() for day in self._client.hkeys(self._days))

    def inclusion(self, match: str) -> Inclusion | None:
        """Return the proof that the last checkpoint knows ``match``, None as long as it does not."""
        logged, checkpoint = self._client.hget(self._logged, match), self.latest()
        if logged is None or checkpoint is None:
            return None
        leaf, version, _ = json.loads(logged)
        if leaf >= checkpoint.size:
            return None
        path = merkle.inclusion_path(leaf, checkpoint.size, self._node)
        return Inclusion(checkpoint, leaf, version, _digests(path))

    def consistency(self, first: int, second: int) -> Consistency:
        """Return the proof that the log of ``first`` leaves begins that of ``second``.

        Raises ValueError unless 0 <= first <= second <= the leaves there are.
        """
        size = int(self._client.get(self._size) or 0)
        if not 0 <= first <= second <= size:
            raise ValueError(f"The log has {size} leaves, there is no proof from {first} to {second}")
        return Consistency((first, second), _digests(merkle.consistency_path(first, second, self._node)))

    def leaves(self) -> Iterator[tuple[str, int, str]]:
        """Yield match, version and digest of every leaf, in their order; page by page, whatever joins meanwhile."""
        start = 0
        while page := self._client.lrange(self._leaves, start, start + MATCHES_AT_ONCE - 1):
            for packed in page:
                leaf = json.loads(packed)
                yield leaf["match"], leaf["version"], leaf["digest"]
            start += len(page)

    def _log_heads(self, names: Sequence[str]) -> bool:
        """Add a leaf for each match whose head is not logged; return False when another process was faster."""
        size = int(self._client.get(self._size) or 0)
        heads = self._store.heads(names)
        logged = self._client.hmget(self._logged, names)
        changed = [
            (name, head)
            for name, head, known in zip(names, heads, logged, strict=True)
            if head.version and (known is None or json.loads(known)[1:] != [head.version, head.digest.hex()])
        ]
        return not changed or bool(
            self._client.transaction(
                lambda pipeline: self._append(pipeline, size, changed), self._size, value_from_callable=True
            )
        )

    def _append(self, pipeline: Pipeline, expected: int, changed: Sequence[tuple[str, Head]]) -> bool:
        connection: Any = pipeline
        size = int(connection.get(self._size) or 0)
        if size != expected:
            # Perhaps with these very leaves: by another process, or by this one when the reply was lost.
            return False
        leaves = [leaf_of(name, head.version, head.digest.hex()) for name, head in changed]
        nodes = merkle.grown(size, map(merkle.leaf_hash, leaves), self._node)
        pipeline.multi()
        connection.set(self._size, size + len(leaves))
        connection.rpush(self._leaves, *leaves)
        for (level, index), node in nodes.items():
            key, offset = self._node_place(level, index)
            connection.setrange(key, offset, node)
        for index, (name, head) in enumerate(changed, size):
            connection.hset(self._logged, name, json.dumps([index, head.version, head.digest.hex()]))
        return True

    def _sign(self, day: str, now: int) -> Checkpoint:
        origin, key = self._store.installation().id, self._keys.signing()

        def sign(pipeline: Pipeline) -> Checkpoint:
            connection: Any = pipeline
            signed = connection.hget(self._days, day)
            if signed is not None:
                pipeline.multi()
                return unpacked(signed)
            size = int(connection.get(self._size) or 0)
            root = Digest(merkle.root(size, self._node).hex())
            signed_at = key.instant(now)
            signature = key.sign(KIND, statement(origin, day, size, root, signed_at))
            checkpoint = Checkpoint(FORMAT, origin, day, size, root, signed_at, key.id, signature)
            pipeline.multi()
            connection.hset(self._days, day, write_checkpoint(checkpoint))
            connection.set(self._latest, day)
            return checkpoint

        made: Checkpoint = self._client.transaction(sign, self._size, self._days, value_from_callable=True)
        return made

    def _node(self, level: int, index: int) -> bytes:
        key, offset = self._node_place(level, index)
        node: bytes = self._client.getrange(key, offset, offset + NODE_BYTES - 1)
        return node

    def _node_place(self, level: int, index: int) -> tuple[str, int]:
        return f"{self._nodes}:{level}:{index // NODES_A_KEY}", index % NODES_A_KEY * NODE_BYTES


def day_of(now: int) -> str:
    """Return the day in UTC of ``now`` (milliseconds since 1970 UTC): 2026-01-31."""
    return datetime.fromtimestamp(now / 1000, UTC).date().isoformat()


def _digests(nodes: Sequence[bytes]) -> tuple[Digest, ...]:
    return tuple(Digest(node.hex()) for node in nodes)
