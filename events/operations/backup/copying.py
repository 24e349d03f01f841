"""Makes a backup while all runs: reads everything that cannot be derived, in an order in which all references exist."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from operator import itemgetter
from typing import Any

from events.operations.backup.coverage import Coverage, matching, searches
from events.operations.backup.records import (
    LAYOUT,
    BackupError,
    Begin,
    CopiedKey,
    CopiedMatch,
    LoggedLeaves,
    Manifest,
    Record,
    ShardEnd,
    head_of,
    pairs,
)
from events.proof.leaf_store import LeafStore
from events.runtime.connections import StoreClient
from events.runtime.errors import StoreCommandError
from events.runtime.keys import AdministrationKeys, ArchiveKeys, ProofKeys, ShardKeys
from events.runtime.scripts import script_source
from events.runtime.topology import read_topology
from events.store.archive.catalogue import pack_archived, unpack_archived
from events.store.archive.store import ArchivingStore
from events.store.contract import Head

KEYS_PER_STEP = 50
"""Keys or matches that are read in one round trip: players wait for a few milliseconds behind them."""

ITEMS_PER_RECORD = 1000
_EVENT_PARTS = itemgetter(b"b", b"h")
READ_KEY = script_source(__package__, "read_key")
READ_MATCH = script_source(__package__, "read_match")


def make_backup(
    store: ArchivingStore,
    now: Callable[[], int],
    write: Callable[[Record], None],
    step: Callable[[int], None] = lambda _: None,
) -> Manifest:
    """Pass all records of a backup to ``write``; return the last. Raises BackupError (servers changed), StoreError."""
    identities = _identities(store)
    manifest = _Copy(store, now, write, step).copy()
    if _identities(store) != identities:
        raise BackupError(
            "another server took over, or slots were moved, while the backup was made: what was read may not fit "
            "together. Nothing was written; repeat the command"
        )
    return manifest


def _identities(store: ArchivingStore) -> tuple[Any, ...]:
    roles = [_role(server) for server in store.client.servers()]
    return read_topology(store.client), store.server_identities(range(store.shards)), roles


def _role(server: StoreClient) -> str:
    """Return whether a server is a primary still: a connection to one that was demoted goes on."""
    try:
        role: bytes = server.execute_command("ROLE")[0]
    except StoreCommandError:
        return "unknown"  # it is not permitted to ask
    return role.decode()


class _Copy:
    def __init__(
        self,
        store: ArchivingStore,
        now: Callable[[], int],
        write: Callable[[Record], None],
        step: Callable[[int], None],
    ) -> None:
        self._store = store
        self._client: Any = store.client
        self._now = now
        self._out = write
        self._step = step
        self._coverage = Coverage(store.prefix)
        self._archive = ArchiveKeys(store.prefix)
        self._records = self._matches = self._events = self._archived = self._keys = 0
        self._heads = hashlib.sha256()
        self._packs: set[str] = set()
        self._leaves = 0

    def copy(self) -> Manifest:
        installation, began_at = self._store.installation(), self._now()
        self._write(
            Begin(LAYOUT, installation.format, installation.id, installation.shards, self._store.prefix, began_at)
        )
        self._copy_keys(self._coverage.single)
        self._leaves = leaves = self._copy_proof()
        acts = self._copy_administration()
        for patterns in self._coverage.before:
            self._copy_found(patterns)
        for shard in range(installation.shards):
            self._copy_shard(shard)
        self._copy_keys([self._archive.tables, self._archive.packs, self._archive.dictionaries])
        self._check_packs()
        self._copy_found(self._coverage.after)
        manifest = Manifest(
            began_at=began_at,
            ended_at=self._now(),
            records=self._records,
            matches=self._matches,
            events=self._events,
            archived=self._archived,
            keys=self._keys,
            leaves=leaves,
            acts=acts,
            heads=self._heads.digest(),
        )
        self._write(manifest)
        return manifest

    def _write(self, record: Record) -> None:
        self._out(record)
        self._records += 1

    def _write_key(self, name: str | bytes, kind: str, content: Sequence[bytes], expires_at: int = 0) -> None:
        if content:
            named = name.encode() if isinstance(name, str) else name
            self._write(CopiedKey(named, kind, expires_at, list(content)))
            self._keys += 1

    def _copy_proof(self) -> int:
        """Copy keys, checkpoints and the present leaves, archived ones too: a restored store has all live."""
        places = ProofKeys(self._store.prefix)
        with self._client.pipeline(transaction=True) as pipeline:
            pipeline.get(places.log_size)
            pipeline.hgetall(places.checkpoints)
            pipeline.hgetall(places.public_keys)
            names = (places.latest_day, places.log_origin, places.note, places.private_key, places.key_horizon)
            for name in names:
                pipeline.get(name)
            size, checkpoints, public, *values = pipeline.execute()
        for name, content in ((places.checkpoints, checkpoints), (places.public_keys, public)):
            self._write_key(name, "hash", _flat(content))
        for name, value in zip(names, values, strict=True):
            self._write_key(name, "string", [] if value is None else [value])
        leaves, stored = int(size or 0), LeafStore(self._client, places, self._store.storage)
        for start in range(0, leaves, ITEMS_PER_RECORD):
            self._write(LoggedLeaves(stored.read(start, min(ITEMS_PER_RECORD, leaves - start))))
        return leaves

    def _copy_administration(self) -> int:
        places = AdministrationKeys(self._store.prefix)
        with self._client.pipeline(transaction=True) as pipeline:
            for name in (places.head, places.once, places.roles):
                pipeline.hgetall(name)
            values = pipeline.execute()
        for name, content in zip((places.head, places.once, places.roles), values, strict=True):
            self._write_key(name, "hash", _flat(content))
        after, last, acts = 0, int(values[0].get(b"n", 0)), 0
        while page := self._client.xrange(places.log, f"{after + 1}-0", f"{last}-0", ITEMS_PER_RECORD):
            self._write_key(places.log, "stream", _flat_entries((id, _flat(fields)) for id, fields in page))
            after, acts = int(page[-1][0].partition(b"-")[0]), acts + len(page)
        return acts

    def _copy_shard(self, shard: int) -> None:
        """Copy the matches of a shard that are live or archived at one moment, each as it is when it is read."""
        keys = ShardKeys(self._store.prefix, shard)
        blocks = self._store.archive.catalogue.blocks_of(shard)
        with self._client.pipeline(transaction=True) as pipeline:
            pipeline.lrange(keys.streams, 0, -1)
            pipeline.lrange(keys.archived_streams, 0, -1)
            for block in blocks:
                pipeline.hgetall(block)
            live, archived, *catalogue = pipeline.execute()
        for block, entries in zip(blocks, catalogue, strict=True):
            self._write_catalogue(block, entries)
        self._write_pages(keys.archived_streams, "list", archived)
        for names in _batches(live):
            self._copy_matches(shard, keys, names)
            self._step(len(names))
        for names in _batches(archived):
            self._copy_moves_beside(keys, names)
        self._copy_keys([keys.parked, self._archive.round(shard)])
        self._write(ShardEnd(shard, int(self._client.get(keys.sequence) or 0)))

    def _write_catalogue(self, block: str, entries: dict[bytes, bytes]) -> None:
        """Copy entries of the catalogue, without leaves that are none of this backup."""
        read = {field: unpack_archived(packed) for field, packed in entries.items()}
        for field, archived in read.items():
            if archived.leaf is not None and archived.leaf >= self._leaves:
                entries[field] = pack_archived(archived._replace(leaf=None))
        self._write_key(block, "hash", _flat(entries))
        self._archived += len(entries)
        self._packs.update(archived.locator.pack for archived in read.values())

    def _copy_matches(self, shard: int, keys: ShardKeys, names: Sequence[bytes]) -> None:
        with self._client.pipeline(transaction=False) as pipeline:
            for match in (name.decode() for name in names):
                places = [keys.events(match), keys.head(match), keys.conditional_moves(match), keys.deadlines]
                pipeline.eval(READ_MATCH, 4, *places, match)
            replies = pipeline.execute()
        for name, (head, entries, moves, deadline) in zip(names, replies, strict=True):
            if head or entries:
                events = [part for _, flat in entries for part in _EVENT_PARTS(pairs(flat))]
                self._write(CopiedMatch(shard, name, deadline, head, moves, events))
                self._count(name, head_of(head), len(entries))
            else:
                self._copy_archived(keys, name)

    def _count(self, name: bytes, head: Head, events: int) -> None:
        self._matches += 1
        self._events += events
        self._heads.update(head_line(name, head))

    def _copy_archived(self, keys: ShardKeys, name: bytes) -> None:
        """Copy the entry of a match that was archived since it was listed as live."""
        place = self._store.archive.catalogue.place(name.decode())
        entry = self._client.hget(place.key, place.field)
        if entry is None:
            raise BackupError(
                f"the match {name.decode(errors='backslashreplace')} is listed, but neither live nor archived: "
                "rookery verify says more"
            )
        self._write_catalogue(place.key, {place.field: entry})
        self._write_key(keys.archived_streams, "list", [name])
        self._copy_moves_beside(keys, [name])

    def _copy_moves_beside(self, keys: ShardKeys, names: Sequence[bytes]) -> None:
        places = [keys.conditional_moves(name.decode(errors="backslashreplace")) for name in names]
        with self._client.pipeline(transaction=False) as pipeline:
            for place in places:
                pipeline.hgetall(place)
            for place, moves in zip(places, pipeline.execute(), strict=True):
                self._write_key(place, "hash", _flat(moves))

    def _check_packs(self) -> None:
        registered = {pack.name for pack in self._store.archive.catalogue.packs()}
        if missing := sorted(self._packs - registered):
            raise BackupError(
                f"pack {missing[0]} of the archive was deleted while the backup was made. Nothing was written; repeat "
                "the command"
            )

    def _copy_found(self, patterns: Sequence[str]) -> None:
        wanted = matching(patterns)
        for search in searches(patterns):
            for server in self._store.client.servers():
                scanned = server.scan_iter(match=search, count=ITEMS_PER_RECORD)
                for names in _batches(name for name in scanned if wanted.fullmatch(name.decode(errors="replace"))):
                    self._copy_keys(names)

    def _copy_keys(self, names: Sequence[str | bytes]) -> None:
        with self._client.pipeline(transaction=False) as pipeline:
            for name in names:
                pipeline.eval(READ_KEY, 1, name)
            replies = pipeline.execute()
        for name, reply in zip(names, replies, strict=True):
            if reply is None:
                continue
            kind, expires_in_ms, content = reply[0].decode(), int(reply[1]), reply[2]
            expires_at = self._now() + expires_in_ms if expires_in_ms >= 0 else 0
            if kind == "string":
                content = [content]
            elif kind == "stream":
                content = _flat_entries(content)
            self._write_key(name, kind, content, expires_at)

    def _write_pages(self, name: str, kind: str, items: Sequence[bytes]) -> None:
        for start in range(0, len(items), ITEMS_PER_RECORD):
            self._write_key(name, kind, items[start : start + ITEMS_PER_RECORD])


def head_line(match: bytes, head: Head) -> bytes:
    """Return the part of one match in the digest of all heads."""
    return b"%d:%s %d %s\n" % (len(match), match, head.version, head.digest)


def _flat(fields: dict[bytes, bytes]) -> list[bytes]:
    return [part for pair in fields.items() for part in pair]


def _flat_entries(entries: Iterable[Any]) -> list[bytes]:
    return [part for id, fields in entries for part in (id, str(len(fields)).encode(), *fields)]


def _batches(names: Iterable[bytes]) -> Iterator[list[bytes]]:
    left = iter(names)
    while batch := list(islice(left, KEYS_PER_STEP)):
        yield batch
