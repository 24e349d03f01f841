"""The growth of the log of checkpoints: leaves for all changes, in a fixed order, none of them twice."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import orjson
import structlog

from events.people.administration import Administration
from events.proof.keys import KeyRing, SigningKey, record_keys
from events.proof.leaf_store import LeafStore
from events.proof.leaves import AdministrationLeaf, KeyLeaf, Leaf, MatchLeaf, OtherLeaf, leaves_of_key, read_leaf
from events.proof.public_keys import base64url
from events.runtime import beats
from events.runtime.connections import StorePipeline
from events.runtime.errors import StoreError, StoreUnavailableError
from events.runtime.keys import ProofKeys
from events.runtime.transactions import transact
from events.store.archive.catalogue import Archived
from events.store.archive.store import ArchivingStore
from events.store.contract import DIGEST_DIGITS, EMPTY, Head, VersionTag
from events.store.logged_leaves import LoggedLeaf, pack_logged, unpack_logged
from events.store.redis import RedisStore

NOTES_PER_SCAN = 1000


class LeafNotes:
    """The notes of the last leaves of the matches of ``store``."""

    def __init__(self, store: ArchivingStore) -> None:
        self._store = store
        self._client = store.client
        self._place = ProofKeys(store.prefix).logged

    def packed(self, match_ids: Sequence[str]) -> list[bytes | None]:
        """Return the notes about matches, as ``pack_logged`` writes them; None for those that have no leaf."""
        notes = self.beside_log(match_ids)
        absent = [place for place, note in enumerate(notes) if note is None]
        if absent:
            names = [match_ids[place] for place in absent]
            archived = self._archived(names)
            # Those that were brought back between the two looks are noted now.
            again = self.beside_log(names)
            for place, name, note in zip(absent, names, again, strict=True):
                notes[place] = archived.get(name) or note
        return notes

    def beside_log(self, match_ids: Sequence[str]) -> list[bytes | None]:
        """Return the notes about matches that are beside the log alone."""
        return self._client.hmget(self._place, match_ids) if match_ids else []

    def all(self) -> Iterator[tuple[str, LoggedLeaf | None]]:
        """Yield every match with its last leaf, once, in no order; None for a note that cannot be read."""
        met = set[str]()
        for match, note in self._client.hscan_iter(self._place, count=NOTES_PER_SCAN):
            name = match.decode(errors="backslashreplace")
            met.add(name)
            yield name, _read(note)
        for shard in range(self._store.shards):
            names = (name for name in self._store.archived_streams(shard) if name not in met)
            while batch := list(islice(names, NOTES_PER_SCAN)):
                for name, note in self._archived(batch).items():
                    yield name, _read(note)

    def move(self, match_ids: Iterable[str], covered: int) -> int:
        """Move the notes of archived matches below ``covered`` leaves to the catalogue; return how many went.

        ``covered`` is a signed tree: on a cluster a failover may lose the end of the log, and not the catalogue.
        """
        left, moved = iter(match_ids), 0
        while names := list(islice(left, NOTES_PER_SCAN)):
            moved += self._move(names, covered)
        return moved

    def move_all(self, covered: int) -> int:
        """Move the notes of all archived matches."""
        names = self._client.hscan_iter(self._place, count=NOTES_PER_SCAN)
        return self.move((match.decode(errors="surrogateescape") for match, _ in names), covered)

    def _move(self, names: Sequence[str], covered: int) -> int:
        beats.beat()
        catalogue = self._store.archive.catalogue
        notes, archived = self.beside_log(names), catalogue.find(names)
        leaves: dict[str, tuple[Archived, int]] = {}
        for name, note, entry in zip(names, notes, archived, strict=True):
            leaf = None if note is None else _read(note)
            if leaf is None or entry is None:
                continue
            if leaf.place < covered and leaf.tag == entry.head.tag:
                leaves[name] = (entry, leaf.place)
        noted = catalogue.note_leaves(leaves) if leaves else []
        moved = [name for name, is_noted in zip(leaves, noted, strict=True) if is_noted]
        if not moved:
            return 0
        self._client.hdel(self._place, *moved)
        packed = dict(zip(names, notes, strict=True))
        for name, entry in zip(moved, catalogue.find(moved), strict=True):
            if entry is None:  # it was brought back meanwhile
                self._client.hsetnx(self._place, name, packed[name])  # type: ignore[arg-type]
        return len(moved)

    def _archived(self, match_ids: Sequence[str]) -> dict[str, bytes]:
        entries: dict[str, Any] = dict(zip(match_ids, self._store.find_archived(match_ids), strict=True))
        return {
            name: pack_logged(LoggedLeaf(archived.leaf, archived.head.tag))
            for name, archived in entries.items()
            if archived is not None and archived.leaf is not None
        }


def _read(note: bytes) -> LoggedLeaf | None:
    try:
        return unpack_logged(note)
    except ValueError:
        return None


MATCHES_PER_BATCH = 1000
ACTS_PER_LOOK = 1000
CHECKPOINT_SIGNED = "checkpoint-signed"

log = structlog.get_logger("checkpoints")


class LogGrowth:
    """Adds leaves to the log of one installation.

    Crash-safe: leaves join in transactions, each with its nodes, the new size and the note of its match; killed in
    between, the others join the next time.
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
        """Add leaves for all that has changed: live matches, then keys, then the log of administration."""
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
        for name, head, packed in zip(names, heads, logged, strict=True):
            try:
                if head.version and (packed is None or unpack_logged(packed).tag != head.tag):
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
