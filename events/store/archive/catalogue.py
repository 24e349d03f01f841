"""The catalogue: which matches are archived, and where, in as little memory of the store as possible.

An archived match is a field in one of the hashes of its shard; these are so small that the server keeps them as packed
bytes, without pointers. The field is a part of the SHA-256 of the match's name, the value place, version and digest.
"""

import hashlib
import json
import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from events.runtime.connections import StoreClient, StorePipeline
from events.runtime.keys import ArchiveKeys, shard_of
from events.runtime.scripts import script_source
from events.runtime.transactions import transact
from events.store.archive.tables import PACK_DIGITS, Locator, TableFile
from events.store.contract import Head

BLOCKS = 4096
"""Hashes of all shards together: up to 512 fields in each, two million matches, stay packed."""

FIELD_BYTES = 10
_VALUE = struct.Struct(">6sHBH32s")
"""Name of the pack, place in it, version (3 bytes), digest of the last event."""

LEAF_BYTES = 5
"""Of the index of the last leaf, which follows that where it is known."""


_NOTE_LEAF = script_source(__package__, "note_leaf")


class Archived(NamedTuple):
    """Where a match is in the archive, its head, and the index of its last leaf (None while noted beside the log)."""

    locator: Locator
    head: Head
    leaf: int | None = None


class PackFile(NamedTuple):
    """A pack: its file, the size of the file in bytes, and the number of its matches (0: unknown)."""

    file: str
    size: int
    matches: int = 0
    game: str = ""

    @property
    def name(self) -> str:
        """Its name in the catalogue."""
        return pack_name(self.file)


class CataloguePlace(NamedTuple):
    """Where the catalogue has a match: a key, and a field of its hash."""

    key: str
    field: bytes


class Catalogue:
    """The catalogue of an installation with ``shards`` shards."""

    def __init__(self, client: StoreClient, prefix: str, shards: int) -> None:
        self._client = client
        self.keys = ArchiveKeys(prefix)
        self._shards = shards
        self._packs: dict[str, PackFile] = {}

    def place(self, stream: str) -> CataloguePlace:
        """Return where a match is looked for."""
        digest = hashlib.sha256(stream.encode(errors="surrogateescape")).digest()
        block = int.from_bytes(digest[8:10], "big") % max(1, BLOCKS // self._shards)
        return CataloguePlace(self.keys.catalogue(shard_of(stream, self._shards), block), digest[10 : 10 + FIELD_BYTES])

    def blocks_of(self, shard: int) -> list[str]:
        """Return the keys of all parts of a shard's catalogue."""
        return [self.keys.catalogue(shard, block) for block in range(max(1, BLOCKS // self._shards))]

    def find(self, streams: Sequence[str]) -> list[Archived | None]:
        """Return where matches are in the archive, None for those that are not there. One round trip."""
        if not streams:
            return []
        with self._client.pipeline(transaction=False) as pipeline:
            for stream in streams:
                pipeline.hget(*self.place(stream))
            return [None if packed is None else unpack_archived(packed) for packed in pipeline.execute()]

    def note_leaves(self, leaves: Mapping[str, tuple[Archived, int]]) -> list[bool]:
        """Note the indexes of the last leaves of matches; return for each whether it is archived so still."""
        with self._client.pipeline(transaction=False) as pipeline:
            for stream, (archived, leaf) in leaves.items():
                key, field = self.place(stream)
                packed = pack_archived(archived._replace(leaf=leaf))
                pipeline.eval(_NOTE_LEAF, 1, key, field, pack_archived(archived), packed)
            return [bool(noted) for noted in pipeline.execute()]

    def pack(self, name: str) -> PackFile | None:
        """Return the pack with a name, which is remembered; None for one that is not registered."""
        if name not in self._packs:
            packed = self._client.hget(self.keys.packs, name)
            if packed is None:
                return None
            self._packs[name] = PackFile(*json.loads(packed))
        return self._packs[name]

    def packs(self) -> list[PackFile]:
        """Return all packs that are registered."""
        return sorted(PackFile(*json.loads(packed)) for packed in self._client.hgetall(self.keys.packs).values())

    def add_pack(self, pack: PackFile) -> None:
        """Register a pack. Only its size is needed; without that, a pack is found in the storage by its name."""
        self._client.hset(self.keys.packs, pack.name, json.dumps(pack))

    def forget_pack(self, pack: PackFile) -> None:
        """Take a pack out of the register."""
        self._client.hdel(self.keys.packs, pack.name)
        self._packs.pop(pack.name, None)

    def tables(self) -> list[TableFile]:
        """Return all tables, in the order in which they were added."""
        return _tables(self._client.get(self.keys.tables))

    def replace_tables(self, added: Sequence[TableFile], removed: Sequence[TableFile] = ()) -> bool:
        """Replace tables in one step; False when one of ``removed`` is gone: no entry may be in two tables."""

        def replace(pipeline: StorePipeline) -> bool:
            present = _tables(pipeline.get(self.keys.tables))
            if not set(removed) <= set(present):
                return False
            kept = [table for table in present if table not in (*removed, *added)]
            pipeline.multi()
            pipeline.set(self.keys.tables, json.dumps([*kept, *added]))
            return True

        return transact(self._client, [self.keys.tables], replace)

    def unused(self) -> dict[str, int]:
        """Return since when nothing refers to files, as it was noted last."""
        return {file.decode(): int(since) for file, since in self._client.hgetall(self.keys.unused).items()}

    def note_unused(self, since: Mapping[str, int]) -> None:
        """Note since when nothing refers to files; all others are referred to, or are gone."""
        noted: dict[Any, Any] = dict(since)
        with self._client.pipeline(transaction=True) as pipeline:
            pipeline.unlink(self.keys.unused)
            if noted:
                pipeline.hset(self.keys.unused, mapping=noted)
            pipeline.execute()

    def dictionary(self, game: str) -> str | None:
        """Return the file with the dictionary for new packs of ``game``, None while there is none."""
        name = self._client.hget(self.keys.dictionaries, game)
        return None if name is None else name.decode()

    def set_dictionary(self, game: str, file: str) -> None:
        """Let new packs of ``game`` be compressed with a dictionary."""
        self._client.hset(self.keys.dictionaries, game, file)

    def begin_round(self) -> list[int]:
        """Return the number of a new round in each shard: from now on no earlier one can drop a match."""
        with self._client.pipeline(transaction=False) as pipeline:
            for shard in range(self._shards):
                pipeline.incr(self.keys.round(shard))
            return list(map(int, pipeline.execute()))

    def archived(self) -> Iterator[Archived]:
        """Yield where all archived matches are, in no order: a walk through the whole catalogue."""
        for shard in range(self._shards):
            with self._client.pipeline(transaction=False) as pipeline:
                for block in self.blocks_of(shard):
                    pipeline.hvals(block)
                for values in pipeline.execute():
                    yield from map(unpack_archived, values)


def pack_name(file: str) -> str:
    """Return the name by which the catalogue knows the pack in ``file``."""
    return file.rpartition("/")[2][:PACK_DIGITS]


def pack_archived(archived: Archived) -> bytes:
    """Return the entry of a match in the catalogue."""
    (pack, place), (version, digest), leaf = archived
    packed = _VALUE.pack(bytes.fromhex(pack), place, version >> 16, version & 0xFFFF, digest)
    return packed if leaf is None else packed + leaf.to_bytes(LEAF_BYTES, "big")


def unpack_archived(packed: bytes) -> Archived:
    """Return the match of a packed entry."""
    pack, place, high_version, version, digest = _VALUE.unpack_from(packed)
    leaf = int.from_bytes(packed[_VALUE.size :], "big") if len(packed) > _VALUE.size else None
    return Archived(Locator(pack.hex(), place), Head(high_version << 16 | version, digest), leaf)


def _tables(packed: bytes | None) -> list[TableFile]:
    return [] if packed is None else [TableFile(*table) for table in json.loads(packed)]
