"""The archive as it is read: matches, summaries and list entries, from files that are read in parts and remembered."""

import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from events.runtime.remembered import Measured, Remembered
from events.store.archive import framing, pack, tables
from events.store.archive.catalogue import Archived, Catalogue, PackFile, pack_name
from events.store.archive.pack import GROUP, ArchivedMatch, PackIndex
from events.store.archive.storage import Storage
from events.store.archive.tables import ListEntry, TableFile, TableIndex

MAX_REMEMBERED_BYTES = 32 * 2**20
BYTES_PER_PACKED_BYTE = 8
"""About the bytes in memory for one byte of a compressed block of a table or index."""

BATCH = 64

File = tuple[str, int]

Part = tuple[str, framing.Frame]


class Archive:
    """The archived matches of an installation. Raises ArchiveUnavailableError and DamagedArchiveError."""

    def __init__(self, catalogue: Catalogue, storage: Storage) -> None:
        self.catalogue = catalogue
        self.storage = storage
        self._remembered = Remembered(MAX_REMEMBERED_BYTES)

    def match(self, stream: str, archived: Archived) -> ArchivedMatch:
        """Return an archived match, without its summary."""
        file = self.pack(archived.locator.pack)
        index = self._pack_indexes([file])[0]
        group, place = divmod(archived.locator.place, GROUP)
        try:
            record = self._records(file, index, group)[place]
        except IndexError as error:
            raise framing.DamagedArchiveError(
                f"the pack {file.name} has no match at place {archived.locator.place}"
            ) from error
        return pack.read_record(record, stream, archived.head)

    def matches(self, file: PackFile) -> Iterator[ArchivedMatch]:
        """Yield all matches of a pack, with their summaries."""
        index = self._pack_indexes([file])[0]
        contents = pack.contents_in(self._read([(file.file, index.contents)])[0])
        for number_in_pack, (stream, head) in enumerate(contents):
            group, place = divmod(number_in_pack, GROUP)
            match = pack.read_record(self._records(file, index, group)[place], stream, head)
            yield match._replace(summary=self._summaries([(file.file, index.summaries[group])])[0][place])

    def summaries(self, archived: Sequence[Archived]) -> list[bytes]:
        """Return the packed summaries of archived matches, in the same order."""
        files = [self.pack(match.locator.pack) for match in archived]
        indexes = self._pack_indexes(files)
        places = [divmod(match.locator.place, GROUP) for match in archived]
        parts = [
            (file.file, index.summaries[group]) for file, index, (group, _) in zip(files, indexes, places, strict=True)
        ]
        return [summaries[place] for summaries, (_, place) in zip(self._summaries(parts), places, strict=True)]

    def entries(
        self, names: Sequence[str], newest_first: bool, after: tuple[float, str] | None = None
    ) -> Iterator[ListEntry]:
        """Yield the entries of archived matches in the lists ``names``, by score and member; after such a place."""
        files = self.catalogue.tables()
        indexes = self._indexes([(table.file, table.size) for table in files], tables.MAGIC)
        scans = [
            self._scan(table, tables.read_table_index(index), name, newest_first, after)
            for table, index in zip(files, indexes, strict=True)
            for name in names
        ]
        merged = tables.merged(scans, newest_first)
        while batch := list(islice(merged, BATCH)):
            present = self.catalogue.find([entry.match for entry in batch])
            for entry, archived in zip(batch, present, strict=True):
                if archived is not None and archived.locator == entry.locator:
                    yield entry

    def table_entries(self, table: TableFile) -> Iterator[ListEntry]:
        """Yield all entries of a table."""
        index = tables.read_table_index(self._indexes([(table.file, table.size)], tables.MAGIC)[0])
        for block in index.blocks:
            yield from tables.entries_in(framing.read_json(self._read([(table.file, block)])[0]))

    def dictionary(self, file: str | None) -> bytes | None:
        """Return the dictionary in a file, None for none."""
        if file is None:
            return None

        def load(missing: list[str]) -> list[Measured]:
            content = self.storage.read(missing[0])
            return [(content, len(content))]

        dictionary: bytes = self._remembered.get([file], load)[0]
        return dictionary

    def pack(self, name: str) -> PackFile:
        """Return a pack by its name; raises MissingFileError when it is nowhere."""
        # A failover may have lost the registration of a pack that the catalogue of another server refers to.
        registered = self.catalogue.pack(name)
        if registered is not None:
            return registered
        for file in self.storage.names("packs"):
            if pack_name(file) == name:
                self.catalogue.add_pack(PackFile(file, self.storage.size(file)))
                return PackFile(file, self.storage.size(file))
        raise framing.MissingFileError(f"the archive lacks the pack {name}")

    def _scan(
        self, table: TableFile, index: TableIndex, name: str, newest_first: bool, after: tuple[float, str] | None
    ) -> Iterator[ListEntry]:
        def read(block: framing.Frame) -> list[ListEntry]:
            return tables.entries_in(self._json([(table.file, block)])[0])

        return tables.scan(index, read, name, after and (name, *after), newest_first)

    def _pack_indexes(self, files: Sequence[PackFile]) -> list[PackIndex]:
        indexes = self._indexes([(file.file, file.size) for file in files], pack.MAGIC)
        return [pack.read_pack_index(fields) for fields in indexes]

    def _indexes(self, files: Sequence[File], magic: bytes) -> list[Any]:
        def load(missing: list[File]) -> list[Measured]:
            length = framing.footer_bytes(magic)
            footers = self._read([(name, (size - length, length)) for name, size in missing])
            frames = [
                framing.index_frame(size, footer, magic) for (_, size), footer in zip(missing, footers, strict=True)
            ]
            packed_indexes = self._read([(name, frame) for (name, _), frame in zip(missing, frames, strict=True)])
            return [(framing.read_json(packed), BYTES_PER_PACKED_BYTE * len(packed)) for packed in packed_indexes]

        return self._remembered.get(files, load)

    def _json(self, parts: Sequence[Part]) -> list[Any]:
        def load(missing: list[Part]) -> list[Measured]:
            return [(framing.read_json(frame), BYTES_PER_PACKED_BYTE * len(frame)) for frame in self._read(missing)]

        return self._remembered.get(parts, load)

    def _summaries(self, parts: Sequence[Part]) -> list[list[bytes]]:
        def load(missing: list[Part]) -> list[Measured]:
            groups = [pack.summaries_in(frame) for frame in self._read(missing)]
            return [(summaries, sum(map(len, summaries))) for summaries in groups]

        return self._remembered.get(parts, load)

    def _records(self, file: PackFile, index: PackIndex, group: int) -> list[bytes]:
        def load(missing: list[Part]) -> list[Measured]:
            content = framing.decompress(self._read(missing)[0], self.dictionary(index.dictionary))
            return [(pack.records_in(content), len(content))]

        records: list[bytes] = self._remembered.get([(file.file, index.events[group])], load)[0]
        return records

    def _read(self, parts: Sequence[Part]) -> list[bytes]:
        return self.storage.read_ranges([(name, *frame) for name, frame in parts]) if parts else []


Verdict = tuple[str, str | None]
"""The name of a match, and its fault; None if it has none."""


def verify_matches(archive: Archive, matches: Mapping[str, Archived]) -> Iterator[Verdict]:
    """Yield the verdict on each of ``matches`` of one pack. Raises ArchiveUnavailableError."""
    for stream, archived in sorted(matches.items(), key=lambda match: match[1].locator):
        try:
            archive.match(stream, archived).envelopes()
            archive.summaries([archived])
        except (framing.DamagedArchiveError, framing.MissingFileError) as error:
            yield stream, str(error)
        else:
            yield stream, None


def find_fault(archive: Archive, pack: str) -> str | None:
    """Return the fault of the file of a pack, None if there is none. Raises like ``verify_matches``."""
    try:
        _check_digest(archive, archive.pack(pack).file)
    except (framing.DamagedArchiveError, framing.MissingFileError) as error:
        return str(error)
    return None


def verify_tables(archive: Archive, places: Mapping[str, Collection[int]]) -> Iterator[Verdict]:
    """Yield the faults of tables, and of packs of which ``places`` are in no list."""
    listed: dict[str, set[int]] = defaultdict(set)
    for table in archive.catalogue.tables():
        try:
            _check_digest(archive, table.file)
            for entry in archive.table_entries(table):
                listed[entry.locator.pack].add(entry.locator.place)
        except (framing.DamagedArchiveError, framing.MissingFileError) as error:
            yield table.file, str(error)
    for name, of_pack in sorted(places.items()):
        if absent := len(set(of_pack) - listed[name]):
            yield f"the pack {name}", f"{absent} of its matches are in no list"


def _check_digest(archive: Archive, file: str) -> None:
    if hashlib.sha256(archive.storage.read(file)).hexdigest() != file.rpartition("/")[2]:
        raise framing.DamagedArchiveError("the file was changed")
