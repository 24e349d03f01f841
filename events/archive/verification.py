"""The archive verified: every file is what its name says, every match leads to the digest that the catalogue has."""

import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping

from events.archive.archive import Archive
from events.archive.catalogue import PackFile
from events.archive.errors import DamagedArchiveError, MissingFileError
from events.archive.tables import Locator

Verdict = tuple[str, str | None]
"""The name of a match, or a place in a pack, and what is wrong with it; None if nothing is."""


def verify_pack(archive: Archive, file: PackFile, places: Collection[int]) -> Iterator[Verdict]:
    """Yield the verdict on each match that the catalogue has at ``places`` of a pack.

    Raises ArchiveUnavailableError when the storage cannot be reached, and StoreUnavailableError.
    """
    try:
        digest = hashlib.sha256(archive.storage.read(file.file)).hexdigest()
        if digest != file.file.rpartition("/")[2]:
            raise DamagedArchiveError("the file was changed")
        matches = list(archive.matches(file))
    except (DamagedArchiveError, MissingFileError) as error:
        yield from ((f"match {place} of {file.file}", str(error)) for place in places)
        return
    wanted = set(places)
    present = archive.catalogue.find([match.stream for match in matches])
    for place, (match, found) in enumerate(zip(matches, present, strict=True)):
        if place not in wanted:
            continue
        if found is None or found[:2] != (Locator(file.name, place), match.head):
            yield match.stream, "the catalogue has it elsewhere, or with another digest"
            continue
        try:
            match.envelopes()
        except DamagedArchiveError as error:
            yield match.stream, str(error)
        else:
            yield match.stream, None


def verify_tables(archive: Archive, places: Mapping[str, Collection[int]]) -> Iterator[Verdict]:
    """Yield what is wrong with tables, and with packs of which matches are in no list; nothing when all is well.

    ``places`` are those of all archived matches, by pack. Raises like ``verify_pack``.
    """
    listed: dict[str, set[int]] = defaultdict(set)
    for table in archive.catalogue.tables():
        try:
            if hashlib.sha256(archive.storage.read(table.file)).hexdigest() != table.file.rpartition("/")[2]:
                raise DamagedArchiveError("the file was changed")
            for entry in archive.table_entries(table):
                listed[entry.locator.pack].add(entry.locator.place)
        except (DamagedArchiveError, MissingFileError) as error:
            yield table.file, str(error)
    for name, of_pack in sorted(places.items()):
        if absent := len(set(of_pack) - listed[name]):
            yield f"the pack {name}", f"{absent} of its matches are in no list"
