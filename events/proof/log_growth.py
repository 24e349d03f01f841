"""What makes the log of checkpoints grow: leaves for whatever has changed, in a fixed order, none of them twice."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

import orjson
import structlog

from events.people.administration import Administration
from events.proof.keys import KeyRing, SigningKey, record_keys
from events.proof.leaf_notes import LeafNotes
from events.proof.leaf_store import LeafStore
from events.proof.leaves import (
    AdministrationLeaf,
    KeyLeaf,
    Leaf,
    MatchLeaf,
    OtherLeaf,
    leaves_of_key,
    read_leaf,
)
from events.proof.public_keys import base64url
from events.runtime.connections import StorePipeline
from events.runtime.errors import StoreError, StoreUnavailableError
from events.runtime.keys import ProofKeys
from events.runtime.transactions import transact
from events.store.contract import DIGEST_DIGITS, EMPTY, Head, VersionTag
from events.store.logged_leaves import LoggedLeaf, pack_logged, unpack_logged
from events.store.redis import RedisStore

MATCHES_PER_BATCH = 1000
ACTS_PER_LOOK = 1000

CHECKPOINT_SIGNED = "checkpoint-signed"

log = structlog.get_logger("checkpoints")


class LogGrowth:
    """Adds leaves to the log of one installation.

    Crash-safe: leaves join in transactions, each with its nodes, the new size and what is noted as logged; killed in
    between, what is not noted joins the next time.
    """

    def __init__(
        self, store: RedisStore, keys: KeyRing, administration: Administration, leaves: LeafStore, notes: LeafNotes
    ) -> None:
        self._store = store
        self._client = store.client
        self._keys = keys
        self._administration = administration
        self._leaves = leaves
        self._places = ProofKeys(store.prefix)
        self._notes = notes

    def log_changes(self) -> None:
        """Add leaves for whatever has changed: live matches, then keys, then the log of administration."""
        for shard in range(self._store.shards):
            self.log_heads(self._store.live_streams(shard))
        while not self._log_others():
            pass

    def logged_key(self) -> SigningKey:
        """Return the key that signs now, of which there is a leaf: one that has just been replaced has a successor."""
        while True:
            key = self._keys.signing()
            begun = KeyLeaf(key.public.id, base64url(key.public.raw), key.public.since)
            if self._client.hget(self._places.others, begun.subject) == begun.stored:
                return key
            self._log_others()

    def log_heads(self, match_ids: Iterable[str]) -> None:
        """Add a leaf for each match whose head is not logged; none is added twice."""
        left = iter(match_ids)
        while names := list(islice(left, MATCHES_PER_BATCH)):
            while not self._log_heads(names, self._heads(names), self._notes.packed):
                pass

    def _log_heads(
        self, names: Sequence[str], heads: Sequence[Head], read: Callable[[Sequence[str]], Sequence[bytes | None]]
    ) -> bool:
        """Add a leaf for each match whose head is not logged, unless damaged (EMPTY); False on a concurrent write."""
        size = self._leaves.size()
        logged = read(names)
        changed: list[Leaf] = []
        for name, head, known in zip(names, heads, logged, strict=True):
            try:
                if head.version and (known is None or unpack_logged(known).tag != head.tag):
                    changed.append(MatchLeaf(name, head.version, head.digest.hex()))
            except (ValueError, TypeError, AttributeError) as error:
                log.error("the head of a match cannot be logged", match=name, error=str(error))
        return self._append(size, changed)

    def _log_others(self) -> bool:
        """Add leaves for keys, revocations and the log of administration; False on a concurrent write.

        Records of signed checkpoints alone are no reason for a leaf: else each would be one for the next.
        """
        size = self._leaves.size()
        self._keys.signing()
        keys = self._keys.known()
        record_keys(self._administration, keys)
        leaves: list[OtherLeaf] = [leaf for key in keys for leaf in leaves_of_key(key)]
        logged = self._client.hgetall(self._places.others)
        packed = logged.get(b"administration")
        number = 0 if packed is None else orjson.loads(packed)["number"]
        if self._has_news(number):
            last = self._administration.last()
            leaves.append(AdministrationLeaf(last.version, last.digest.hex()))
        return self._append(size, [leaf for leaf in leaves if logged.get(leaf.subject.encode()) != leaf.stored])

    def _has_news(self, number: int) -> bool:
        """Return whether the log of administration has other entries after ``number`` than of checkpoints."""
        while acts := self._administration.acts(number, ACTS_PER_LOOK):
            if any(act.act != CHECKPOINT_SIGNED for act in acts):
                return True
            number = acts[-1].number
        return False

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

    def _append(self, expected: int, leaves: Sequence[Leaf]) -> bool:
        if not leaves:
            return True

        def append(pipeline: StorePipeline) -> bool:
            # Perhaps with these leaves: by another process, or by this one when the reply was lost.
            if int(pipeline.get(self._places.log_size) or 0) != expected:
                return False
            self._queue_leaves(pipeline, expected, leaves)
            return True

        return transact(self._client, [self._places.log_size], append)

    def restore_heads(self, heads: Mapping[str, Head]) -> None:
        """Add a leaf for each head that is not logged, while nothing else uses the log, and all are noted beside it."""
        self._log_heads(list(heads), list(heads.values()), self._notes.beside_log)

    def restore(self, leaves: Sequence[bytes]) -> None:
        """Append ``leaves`` as they were stored once, in order. Raises ValueError for one that is none."""
        read = [read_leaf(leaf) for leaf in leaves]

        def append(pipeline: StorePipeline) -> None:
            self._queue_leaves(pipeline, int(pipeline.get(self._places.log_size) or 0), read)

        transact(self._client, [self._places.log_size], append)

    def _queue_leaves(self, pipeline: StorePipeline, size: int, leaves: Sequence[Leaf]) -> None:
        """Begin a transaction on ``pipeline`` and queue everything that ``leaves`` add to a log of ``size``."""
        noted: dict[Any, Any] = {}
        others: dict[Any, Any] = {}
        for index, leaf in enumerate(leaves, size):
            if isinstance(leaf, MatchLeaf):
                noted[leaf.match] = pack_logged(
                    LoggedLeaf(index, VersionTag(leaf.version, leaf.digest[:DIGEST_DIGITS]))
                )
            else:
                others[leaf.subject] = leaf.stored
        self._leaves.queue_append(pipeline, size, [leaf.stored for leaf in leaves])
        if noted:
            pipeline.hset(self._places.logged, mapping=noted)
        if others:
            pipeline.hset(self._places.others, mapping=others)
