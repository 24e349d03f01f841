"""The files of the archive: entries of lists are found in order from any place, damage never reads as content."""

from collections.abc import Sequence
from random import Random

import pytest

from deploy.cli.target import without_secrets
from events.archive import tables
from events.archive.framing import (
    ArchiveUnavailableError,
    DamagedArchiveError,
    Frame,
    compress,
    decompress,
    footer_bytes,
    index_frame,
    read_json,
)
from events.archive.storage import Remembered, Storage
from events.archive.tables import ListEntry, Locator, TableFile, build_table, merged, scan, to_merge

LISTS = ("finished:a", "finished:b", "recent", "rated")


def entries(count: int, seed: int) -> list[ListEntry]:
    """Return entries of LISTS, many with the same score, sorted."""
    chance = Random(seed)
    names = [f"m{number}" for number in range(count)]
    return sorted(
        ListEntry(chance.choice(LISTS), chance.randrange(count // 8), name, name, Locator("00" * 6, place))
        for place, name in enumerate(names)
    )


class Table:
    def __init__(self, stored: Sequence[ListEntry]) -> None:
        self.content, self.count = build_table(stored)
        length = footer_bytes(tables.MAGIC)
        self.index = tables.read_table_index(
            read_json(self._part(index_frame(len(self.content), self.content[-length:], tables.MAGIC)))
        )

    def read(self, block: Frame) -> list[ListEntry]:
        return tables.entries_in(read_json(self._part(block)))

    def _part(self, frame: Frame) -> bytes:
        return self.content[frame[0] : frame[0] + frame[1]]


@pytest.mark.parametrize("newest_first", [False, True])
def test_a_list_is_read_from_any_place_across_blocks_and_tables(newest_first: bool) -> None:
    stored = [entries(1300, seed) for seed in (1, 2)]
    read = [Table(each) for each in stored]
    assert all(len(table.index.blocks) > 2 for table in read)
    everything = sorted((entry for each in stored for entry in each), key=lambda entry: entry[:3], reverse=newest_first)
    for name in (*LISTS, "absent"):
        wanted = [entry for entry in everything if entry.name == name]
        places = [None, *(entry[1:3] for entry in wanted[::197]), (-1, ""), (10**9, "")]
        for place in places:
            after = None if place is None else (name, *place)
            rest = [
                entry for entry in wanted if after is None or (entry[:3] < after if newest_first else entry[:3] > after)
            ]
            scans = [scan(table.index, table.read, name, after, newest_first) for table in read]
            assert [entry[1:3] for entry in merged(scans, newest_first)] == [entry[1:3] for entry in rest]


def test_as_many_tables_of_a_size_are_merged_as_there_are_and_larger_ones_stay() -> None:
    small = [TableFile(f"small-{number}", 1, 10) for number in range(tables.MAX_TABLES_OF_A_SIZE + 1)]
    large = [TableFile(f"large-{number}", 1, 10**6) for number in range(tables.MAX_TABLES_OF_A_SIZE)]
    assert to_merge([*large, *small]) == small
    assert to_merge([*large, *small[1:]]) == []


def test_a_damaged_frame_is_refused() -> None:
    frame = compress(b"some events " * 50)
    assert decompress(frame) == b"some events " * 50
    with pytest.raises(DamagedArchiveError):
        decompress(frame[:-3])
    for place in range(len(frame)):
        with pytest.raises(DamagedArchiveError):
            assert decompress(frame[:place] + bytes([frame[place] ^ 1]) + frame[place + 1 :]) is None
    with pytest.raises(DamagedArchiveError):
        index_frame(10, b"of another kind", tables.MAGIC)


def test_what_was_used_last_is_remembered_within_the_limit() -> None:
    remembered, loaded = Remembered(10), list[str]()

    def load(keys: list[str]) -> list[tuple[str, int]]:
        loaded.extend(keys)
        return [(key.upper(), 4) for key in keys]

    assert remembered.get(["a", "b", "a"], load) == ["A", "B", "A"]
    assert remembered.get(["a"], load) == ["A"]
    assert remembered.get(["c"], load) == ["C"]
    assert remembered.get(["a", "b"], load) == ["A", "B"]
    assert loaded == ["a", "b", "c", "b"]


def test_the_url_of_the_archive_is_told_without_its_password(monkeypatch: pytest.MonkeyPatch) -> None:
    url = "ftp://rookery:secret@files.example:21/archive?token=secret"
    assert without_secrets(url) == "ftp://files.example:21/archive"
    assert without_secrets("file:///srv/archive") == "file:///srv/archive"

    def refuse(url: str, **_: object) -> None:
        raise OSError(f"cannot connect to {url}")

    monkeypatch.setattr("fsspec.core.url_to_fs", refuse)
    with pytest.raises(ArchiveUnavailableError, match="OSError") as raised:
        Storage(url).names("packs")
    assert "secret" not in str(raised.value)
