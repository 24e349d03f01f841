"""The archive verified: every file is what its name says, every match leads to the digest that the catalogue has."""

import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping

from events.archive.archive import Archive
from events.archive.catalogue import Archived
from events.archive.errors import DamagedArchiveError, MissingFileError

Verdict = tuple[str, str | None]
"""The name of a match, and what is wrong with it; None if nothing is."""


def verify_matches(archive: Archive, matches: Mapping[str, Archived]) -> Iterator[Verdict]:
    """Yield the verdict on each of ``matches`` of one pack. Raises ArchiveUnavailableError."""
    for stream, archived in sorted(matches.items(), key=lambda match: match[1].locator):
        try:
            archive.match(stream, archived).envelopes()
            archive.summaries([archived])
        except (DamagedArchiveError, MissingFileError) as error:
            yield stream, str(error)
        else:
            yield stream, None


def find_fault(archive: Archive, pack: str) -> str | None:
    """Return what is wrong with the file of a pack, None if nothing is. Raises like ``verify_matches``."""
    try:
        _check_digest(archive, archive.pack(pack).file)
    except (DamagedArchiveError, MissingFileError) as error:
        return str(error)
    return None


def verify_tables(archive: Archive, places: Mapping[str, Collection[int]]) -> Iterator[Verdict]:
    """Yield what is wrong with tables, and with packs of which ``places`` are in no list."""
    listed: dict[str, set[int]] = defaultdict(set)
    for table in archive.catalogue.tables():
        try:
            _check_digest(archive, table.file)
            for entry in archive.table_entries(table):
                listed[entry.locator.pack].add(entry.locator.place)
        except (DamagedArchiveError, MissingFileError) as error:
            yield table.file, str(error)
    for name, of_pack in sorted(places.items()):
        if absent := len(set(of_pack) - listed[name]):
            yield f"the pack {name}", f"{absent} of its matches are in no list"


def _check_digest(archive: Archive, file: str) -> None:
    if hashlib.sha256(archive.storage.read(file)).hexdigest() != file.rpartition("/")[2]:
        raise DamagedArchiveError("the file was changed")
