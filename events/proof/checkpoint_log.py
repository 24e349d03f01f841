"""The log of checkpoints in the store: leaves are appended, the tree is signed daily, proofs are computed from it."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import Any

import structlog

from events.people.administration import SERVER, Administration
from events.proof import merkle
from events.proof.checkpoints import (
    FORMAT,
    KIND,
    AdministrationHead,
    Checkpoint,
    Consistency,
    Inclusion,
    leaf_of,
    read_checkpoint,
    statement,
    write_checkpoint,
)
from events.proof.documents import DocumentError
from events.proof.guard import CheckpointGuard, GuardedTree
from events.proof.keys import KeyRing, record_keys
from events.proof.logged_leaves import LoggedLeaf, pack_logged, unpack_logged
from events.runtime.connections import StorePipeline
from events.runtime.errors import StoreError, StoreUnavailableError
from events.runtime.keys import ProofKeys
from events.runtime.transactions import transact
from events.store.contract import DIGEST_DIGITS, EMPTY, Head, VersionTag
from events.store.converter import Digest
from events.store.redis import RedisStore

MATCHES_PER_BATCH = 1000
NODES_PER_KEY = 1 << 15
"""Nodes of one level in one key: 1 MiB."""

NODE_BYTES = 32

CHECKPOINT_SIGNED = "checkpoint-signed"
"""The act that the log of administration records for every checkpoint."""

ROLLBACK_ACCEPTED = "rollback-accepted"
"""The act by which an operator lets the server sign a log that does not extend what it has signed before."""

log = structlog.get_logger("checkpoints")


class NoCheckpointError(LookupError):
    """There is no checkpoint of this day."""


class RolledBackError(StoreError):
    """The log does not extend the largest tree that was signed: nothing is signed until an operator decides.

    ``guarded`` is that tree, ``size`` how many leaves the log has.
    """

    def __init__(self, guarded: GuardedTree, size: int) -> None:
        self.guarded = guarded
        self.size = size
        super().__init__(
            f"no checkpoint is signed: the log of matches has {size} leaves and does not extend the tree of "
            f"{guarded.size} leaves with the root {guarded.root} that this server has signed. The store was restored "
            "from an older backup, has lost events, or was changed. Look for newer files of the store first; if there "
            "are none, rookery audit accept-rollback records the loss for everyone to see and lets it sign again"
        )


class CheckpointLog:
    """The log of one installation. Every method raises StoreUnavailableError.

    ``guard`` remembers outside the store what was signed; None for none.
    """

    def __init__(self, store: RedisStore, keys: KeyRing, guard: CheckpointGuard | None = None) -> None:
        self._guard = guard
        self._store = store
        self._client = store.client
        self._keys = keys
        self._administration = Administration(store.client, store.prefix, keys.now)
        self._places = ProofKeys(store.prefix)

    def sign(self, now: int) -> Checkpoint:
        """Return the checkpoint of the day of ``now`` (milliseconds since 1970 UTC), which is made if there is none.

        Crash-safe: killed at any moment, or run by several workers at once, it makes one: leaves join in transactions
        of up to MATCHES_PER_BATCH, each with its nodes and the new size, and no leaf is added twice; the first to sign
        the day has signed it. Archived matches are in the log already (``events.service.archiving``). A clock that goes
        back makes no checkpoint of an earlier day. Raises ClockMismatchError when that of this process is wrong: a
        checkpoint of a day to come would be the last one until then; and RolledBackError when the log does not extend
        the largest tree that was signed.
        """
        self._store.check_clock()
        if (guarded := self.find_rollback()) is not None:
            raise RolledBackError(guarded, self.size())
        day = day_of(now)
        latest = None
        try:
            latest = self.latest()
        except (DocumentError, NoCheckpointError) as error:
            log.error("the last checkpoint cannot be read", error=str(error))
        if latest is not None:
            # Crash-safe: the process that signed it may have been killed before it recorded that.
            self._record(latest)
            if latest.day >= day:
                return latest
        for shard in range(self._store.shards):
            self.log_heads(self._store.live_streams(shard))
        signed = self._sign(day, now)
        self._record(signed)
        return signed

    def find_rollback(self) -> GuardedTree | None:
        """Return the tree that was signed and that the log does not extend; None when it extends all of them."""
        return None if self._guard is None else self._contradicted(self._guard, self.size())

    def accept_rollback(self, guarded: GuardedTree, actor: str) -> None:
        """Let the log be signed although it does not extend the tree ``guarded``.

        Crash-safe: the log of administration has it before the guard forgets that tree; repeating it records nothing
        more.
        """
        if self._guard is None:
            return
        size = self.size()
        root = merkle.root(size, self._node).hex()
        facts = {"size": size, "root": root, "signed_size": guarded.size, "signed_root": guarded.root}
        once = f"rollback:{guarded.size}:{guarded.root}:{size}:{root}"
        self._administration.record(ROLLBACK_ACCEPTED, actor, facts, once)
        self._guard.replace(self._store.installation().id, GuardedTree(size, root))

    def _contradicted(self, guard: CheckpointGuard, size: int) -> GuardedTree | None:
        for tree in guard.largest(self._store.installation().id):
            if tree.size > size or merkle.root(tree.size, self._node).hex() != tree.root:
                return tree
        return None

    def latest(self) -> Checkpoint | None:
        """Return the last checkpoint, None before the first."""
        day = self.latest_day()
        return None if day is None else self.of_day(day)

    def of_day(self, day: str) -> Checkpoint:
        """Return the checkpoint of ``day`` (2026-01-31, UTC); raises NoCheckpointError."""
        packed = self._client.hget(self._places.checkpoints, day)
        if packed is None:
            raise NoCheckpointError(f"there is no checkpoint of {day}")
        return read_checkpoint(packed)

    def days(self) -> list[str]:
        """Return the days that have a checkpoint, the oldest first."""
        return sorted(day.decode() for day in self._client.hkeys(self._places.checkpoints))

    def inclusion(self, match_id: str) -> Inclusion | None:
        """Return the proof that the last checkpoint knows ``match``, None as long as it does not."""
        logged, checkpoint = self._client.hget(self._places.logged, match_id), self.latest()
        if logged is None or checkpoint is None:
            return None
        leaf, tag = unpack_logged(logged)
        if leaf >= checkpoint.size:
            return None
        path = merkle.inclusion_path(leaf, checkpoint.size, self._node)
        return Inclusion(checkpoint, leaf, tag.version, _digests(path))

    def consistency(self, first: int, second: int) -> Consistency:
        """Return the proof that the log of ``first`` leaves begins that of ``second``.

        Raises ValueError unless 0 <= first <= second <= the leaves there are.
        """
        size = self.size()
        if not 0 <= first <= second <= size:
            raise ValueError(f"The log has {size} leaves, there is no proof from {first} to {second}")
        return Consistency((first, second), _digests(merkle.consistency_path(first, second, self._node)))

    def size(self) -> int:
        """Return the number of leaves."""
        return int(self._client.get(self._places.log_size) or 0)

    def leaves(self, start: int, count: int) -> list[bytes]:
        """Return up to ``count`` leaves from the one at index ``start`` on, as they are hashed."""
        return self._client.lrange(self._places.leaves, start, start + count - 1) if count else []

    def nodes(self, level: int, first: int, count: int) -> list[bytes]:
        """Return ``count`` stored nodes of a level from the index ``first`` on; a missing one is b""."""
        found: list[bytes] = []
        while len(found) < count:
            key, offset = self._node_place(level, first + len(found))
            width = min(count - len(found), NODES_PER_KEY - (first + len(found)) % NODES_PER_KEY)
            stored = self._client.getrange(key, offset, offset + width * NODE_BYTES - 1)
            found += [stored[NODE_BYTES * place : NODE_BYTES * (place + 1)] for place in range(width)]
        return found

    def logged(self) -> Iterator[tuple[str, LoggedLeaf | None]]:
        """Yield every match with its last leaf as it is noted, in no order; None for a note that cannot be read."""
        for match, noted in self._client.hscan_iter(self._places.logged, count=MATCHES_PER_BATCH):
            try:
                leaf = unpack_logged(noted)
            except ValueError:
                leaf = None
            yield match.decode(errors="backslashreplace"), leaf

    def stored(self) -> dict[str, bytes]:
        """Return the documents of all checkpoints by their days, the oldest first."""
        found = self._client.hgetall(self._places.checkpoints)
        return {day.decode(errors="backslashreplace"): found[day] for day in sorted(found)}

    def latest_day(self) -> str | None:
        """Return the recorded day of the last checkpoint, None when there is none."""
        day = self._client.get(self._places.latest_day)
        return None if day is None else day.decode(errors="backslashreplace")

    def log_heads(self, match_ids: Iterable[str]) -> None:
        """Add a leaf for each match whose head is not logged; none is added twice."""
        left = iter(match_ids)
        while names := list(islice(left, MATCHES_PER_BATCH)):
            while not self._log_heads(names, self._heads(names)):
                pass

    def _log_heads(self, names: Sequence[str], heads: Sequence[Head]) -> bool:
        """Add a leaf for each match whose head is not logged; return False when another process was faster.

        A match that cannot be read is damaged, its head is EMPTY; the others are logged.
        """
        size = self.size()
        logged = self._client.hmget(self._places.logged, names)
        changed = []
        for name, head, known in zip(names, heads, logged, strict=True):
            try:
                if head.version and (known is None or unpack_logged(known).tag != head.tag):
                    changed.append((name, head))
            except (ValueError, TypeError, AttributeError) as error:
                log.error("the head of a match cannot be logged", match=name, error=str(error))
        return not changed or (
            transact(self._client, [self._places.log_size], lambda pipeline: self._append(pipeline, size, changed))
        )

    def _heads(self, names: Sequence[str]) -> list[Head]:
        """Return the heads of matches, EMPTY for each that cannot be read."""
        try:
            return self._store.heads(names)
        except StoreUnavailableError:
            raise
        except (StoreError, ValueError) as error:
            if len(names) == 1:
                log.error("the head of a match cannot be read", match=names[0], error=str(error))
                return [EMPTY]
            return [head for name in names for head in self._heads([name])]

    def _append(self, pipeline: StorePipeline, expected: int, changed: Sequence[tuple[str, Head]]) -> bool:
        size = int(pipeline.get(self._places.log_size) or 0)
        if size != expected:
            # Perhaps with these leaves: by another process, or by this one when the reply was lost.
            return False
        self._queue_leaves(pipeline, size, [leaf_of(name, head.version, head.digest.hex()) for name, head in changed])
        return True

    def restore_heads(self, heads: Mapping[str, Head]) -> None:
        """Add a leaf for each head that is not logged, while nothing else uses the log."""
        self._log_heads(list(heads), list(heads.values()))

    def restore(self, leaves: Sequence[bytes]) -> None:
        """Append ``leaves`` as they were hashed once, in order. Raises ValueError for one that is none."""

        def append(pipeline: StorePipeline) -> None:
            self._queue_leaves(pipeline, int(pipeline.get(self._places.log_size) or 0), leaves)

        transact(self._client, [self._places.log_size], append)

    def _queue_leaves(self, pipeline: StorePipeline, size: int, leaves: Sequence[bytes]) -> None:
        """Queue on ``pipeline`` everything that ``leaves`` add to a log of ``size``."""
        stated = [json.loads(leaf) for leaf in leaves]
        noted: dict[Any, Any] = {
            each["match"]: pack_logged(LoggedLeaf(index, VersionTag(each["version"], each["digest"][:DIGEST_DIGITS])))
            for index, each in enumerate(stated, size)
        }
        nodes = merkle.appended_nodes(size, map(merkle.leaf_hash, leaves), self._node)
        pipeline.multi()
        pipeline.set(self._places.log_size, size + len(leaves))
        pipeline.rpush(self._places.leaves, *leaves)
        for (level, index), node in nodes.items():
            key, offset = self._node_place(level, index)
            pipeline.setrange(key, offset, node)
        pipeline.hset(self._places.logged, mapping=noted)

    def _sign(self, day: str, now: int) -> Checkpoint:
        origin, key = self._store.installation().id, self._keys.signing()
        record_keys(self._administration, self._keys.known())
        last = self._administration.last()
        administration = AdministrationHead(last.version, Digest(last.digest.hex()))

        def sign(pipeline: StorePipeline) -> Checkpoint:
            signed = pipeline.hget(self._places.checkpoints, day)
            if signed is not None:
                return read_checkpoint(signed)
            size = int(pipeline.get(self._places.log_size) or 0)
            root = Digest(merkle.root(size, self._node).hex())
            if self._guard is not None:
                if (guarded := self._contradicted(self._guard, size)) is not None:
                    raise RolledBackError(guarded, size)
                # Crash-safe: the guard knows the tree before anybody can have the checkpoint. Killed in between it
                # knows one that was never signed, which the log still extends.
                self._guard.note(origin, GuardedTree(size, root))
            signed_at = key.instant(now)
            signature = key.sign(KIND, statement(origin, day, size, root, signed_at, administration))
            checkpoint = Checkpoint(FORMAT, origin, day, size, root, signed_at, key.id, signature, administration)
            pipeline.multi()
            pipeline.hset(self._places.checkpoints, day, write_checkpoint(checkpoint))
            pipeline.set(self._places.latest_day, day)
            return checkpoint

        return transact(self._client, [self._places.log_size, self._places.checkpoints], sign)

    def _record(self, checkpoint: Checkpoint) -> None:
        """Record in the log of administration that ``checkpoint`` was signed, once.

        Crash-safe: killed before this, the checkpoint of the next day makes up for it.
        """
        facts = {"day": checkpoint.day, "size": checkpoint.size, "root": checkpoint.root}
        self._administration.record(CHECKPOINT_SIGNED, SERVER, facts, f"checkpoint:{checkpoint.day}")

    def _node(self, level: int, index: int) -> bytes:
        key, offset = self._node_place(level, index)
        return self._client.getrange(key, offset, offset + NODE_BYTES - 1)

    def _node_place(self, level: int, index: int) -> tuple[str, int]:
        return self._places.nodes_block(level, index // NODES_PER_KEY), index % NODES_PER_KEY * NODE_BYTES


def day_of(now: int) -> str:
    """Return the day in UTC of ``now`` (milliseconds since 1970 UTC): 2026-01-31."""
    return datetime.fromtimestamp(now / 1000, UTC).date().isoformat()


def _digests(nodes: Sequence[bytes]) -> tuple[Digest, ...]:
    return tuple(Digest(node.hex()) for node in nodes)
