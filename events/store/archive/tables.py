"""Tables: the entries that archived matches have in lists, sorted, in files that are never changed.

Each round writes a table; tables of similar size are merged. An entry counts only while the catalogue has its match at
the same place.
"""

import heapq
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import orjson

from events.store.archive.framing import DamagedArchiveError, FileWriter, Frame, compress

MAGIC = b"rookery table 1\n"
ENTRIES_PER_BLOCK = 512
MAX_TABLES_OF_A_SIZE = 6
"""Of tables that differ by less than a factor of MAX_TABLES_OF_A_SIZE."""


PACK_DIGITS = 12
"""Hexadecimal digits that name a pack: enough to tell a million packs apart."""


class Locator(NamedTuple):
    """Where an archived match is: the pack, by the first PACK_DIGITS of its digest, and the place in it."""

    pack: str
    place: int


class ListEntry(NamedTuple):
    """An archived match in a list, as a sorted set has it: the score in milliseconds since 1970 UTC."""

    name: str
    score: int
    member: str
    match: str
    locator: Locator


class TableFile(NamedTuple):
    """A table: its file, that one's size in bytes, and the number of entries."""

    file: str
    size: int
    entries: int


class TableIndex(NamedTuple):
    """The first entry of each block (list, score, member), and where the block is."""

    first: list[tuple[str, float, str]]
    blocks: list[Frame]


Bound = tuple[str, float, str]

ReadBlock = Callable[[Frame], Sequence[ListEntry]]


def build_table(entries: Iterable[ListEntry]) -> tuple[bytes, int]:
    """Return a table of ``entries``, which are sorted, and their number."""
    file, index, left, count = FileWriter(MAGIC), TableIndex([], []), iter(entries), 0
    while block := list(islice(left, ENTRIES_PER_BLOCK)):
        index.first.append(block[0][:3])
        index.blocks.append(file.add(compress(orjson.dumps(block, default=tuple))))
        count += len(block)
    return file.finish(index._asdict()), count


def read_table_index(fields: Any) -> TableIndex:
    """Return the index of a table from its JSON values; raises DamagedArchiveError."""
    try:
        return TableIndex([tuple(bound) for bound in fields["first"]], [tuple(block) for block in fields["blocks"]])
    except (KeyError, TypeError) as error:
        raise DamagedArchiveError(f"the index of a table cannot be read ({error})") from error


def entries_in(rows: Any) -> list[ListEntry]:
    """Return the entries of a block from its JSON values."""
    return [ListEntry(name, score, member, match, Locator(*place)) for name, score, member, match, place in rows]


def scan(index: TableIndex, read: ReadBlock, name: str, after: Bound | None, newest_first: bool) -> Iterator[ListEntry]:
    """Yield the entries of the list ``name`` after a place, in rising or falling order; reads blocks as needed."""
    if newest_first:
        bound = after or (name, float("inf"), "")
        for block in range(bisect_right(index.first, bound) - 1, -1, -1):
            for entry in reversed(read(index.blocks[block])):
                if entry.name < name:
                    return
                if entry.name == name and entry[:3] < bound:
                    yield entry
        return
    bound = after or (name, float("-inf"), "")
    for block in range(max(0, bisect_right(index.first, bound) - 1), len(index.blocks)):
        for entry in read(index.blocks[block]):
            if entry.name > name:
                return
            if entry.name == name and entry[:3] > bound:
                yield entry


def merged(scans: Iterable[Iterator[ListEntry]], newest_first: bool) -> Iterator[ListEntry]:
    """Yield the entries of several scans by score and member."""
    return heapq.merge(*scans, key=lambda entry: (entry.score, entry.member), reverse=newest_first)


def to_merge(tables: Sequence[TableFile]) -> list[TableFile]:
    """Return the tables that are to be replaced by one: too many of a size; none when there are not."""
    by_size: dict[int, list[TableFile]] = {}
    for table in tables:
        by_size.setdefault(_size_class(table.entries), []).append(table)
    return next((by_size[size] for size in sorted(by_size) if len(by_size[size]) > MAX_TABLES_OF_A_SIZE), [])


def _size_class(entries: int) -> int:
    size = 0
    while entries >= MAX_TABLES_OF_A_SIZE:
        entries //= MAX_TABLES_OF_A_SIZE
        size += 1
    return size
