"""Files of backups, archives and logs of writes: whole, in order, and never read when damaged."""

import io
import struct
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

import pytest

from deploy.cli.target import without_secrets
from deploy.local.aof import AOF_DIRECTORY, AOF_FILE, DamagedFileError, flush, incremental_files
from events.operations.backup.coverage import Coverage, matching
from events.operations.backup.files import CHUNK_BYTES, MAGIC, SealedWriter, read_sealed
from events.operations.backup.records import (
    BackupError,
    Begin,
    CopiedKey,
    CopiedMatch,
    LoggedLeaves,
    Manifest,
    Record,
    pack_record,
    unpack_records,
)
from events.operations.backup.restoring import verify_backup
from events.runtime.remembered import Remembered
from events.store.archive import framing, tables
from events.store.archive.storage import Storage
from events.store.archive.tables import ListEntry, Locator, TableFile, build_table, merged, scan, to_merge
from events.store.redis import FORMAT
from tests.unit.test_key_space import every_key

KEY, OTHER_KEY = b"k" * 32, b"o" * 32
CONTENT = bytes(range(256)) * (3 * CHUNK_BYTES // 256)
BEGIN = Begin(1, FORMAT, "id", 4, "rk:", 0)
HEADER = len(MAGIC) + 17


def sealed(content: bytes, key: bytes | None) -> bytes:
    file = io.BytesIO()
    writer = SealedWriter(file, key)
    writer.write(content)
    writer.close()
    return file.getvalue()


def read(content: bytes, key: bytes | None) -> bytes:
    return b"".join(read_sealed(io.BytesIO(content), key))


def chunks(content: bytes) -> list[bytes]:
    """Return the chunks of a file, with their lengths."""
    found, place = [], HEADER
    while place < len(content):
        end = place + 4 + struct.unpack_from(">I", content, place)[0]
        found.append(content[place:end])
        place = end
    return found


@pytest.fixture(scope="module", params=[None, KEY], ids=["plain", "encrypted"])
def key(request: pytest.FixtureRequest) -> bytes | None:
    found: bytes | None = request.param
    return found


@pytest.fixture(scope="module")
def file(key: bytes | None) -> bytes:
    return sealed(CONTENT, key)


def test_what_was_sealed_is_read_back(file: bytes, key: bytes | None) -> None:
    assert len(chunks(file)) == 3
    assert read(file, key) == CONTENT
    assert read(sealed(b"", key), key) == b""


def test_a_file_that_ends_early_is_refused_wherever_it_ends(file: bytes, key: bytes | None) -> None:
    parts = chunks(file)
    ends = [HEADER + len(parts[0]), HEADER + len(parts[0]) + len(parts[1]), len(file) - 1, HEADER + 2, HEADER, 20, 0]
    for end in ends:
        with pytest.raises(BackupError):
            read(file[:end], key)


def test_a_changed_byte_is_refused_wherever_it_is(file: bytes, key: bytes | None) -> None:
    for place in [0, len(MAGIC), HEADER - 1, *range(HEADER, len(file), max(1, len(file) // 40)), len(file) - 1]:
        changed = bytearray(file)
        changed[place] ^= 1
        with pytest.raises(BackupError):
            read(bytes(changed), key)


def test_parts_in_another_order_or_of_another_backup_are_refused(file: bytes, key: bytes | None) -> None:
    one, two, three = chunks(file)
    other = chunks(sealed(CONTENT, key))
    for order in (
        [two, one, three],
        [one, three],
        [one, two, two, three],
        [one, other[1], three],
        [one, two, three, three],
    ):
        with pytest.raises(BackupError, match=r"damaged|decrypted"):
            read(file[:HEADER] + b"".join(order), key)


@pytest.mark.parametrize(
    ("made", "used", "reason"),
    [
        (KEY, OTHER_KEY, "the key is another one"),
        (KEY, None, "name the file of its key"),
        (None, KEY, "repeat without --key"),
    ],
)
def test_the_wrong_key_is_refused_with_the_reason(made: bytes | None, used: bytes | None, reason: str) -> None:
    with pytest.raises(BackupError, match=reason):
        read(sealed(b"content", made), used)


def test_other_files_are_refused() -> None:
    with pytest.raises(BackupError, match=r"no backup of Rookery$"):
        read(b"REDIS0011" * 10, None)
    with pytest.raises(BackupError, match="another format"):
        read(b"rookery backup 2" + b"p" + bytes(40), None)


def verified(*records: Record) -> tuple[Begin, Manifest]:
    return verify_backup(unpack_records(pack_record(record) for record in records))


def manifest(records: int, keys: int = 0, leaves: int = 0) -> Manifest:
    digest = bytes.fromhex("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    return Manifest(0, 1, records, 0, 0, 0, keys, leaves, 0, digest)


def test_records_must_be_whole_in_order_and_what_the_manifest_says() -> None:
    key, leaves = CopiedKey(b"rk:x", "string", 0, [b"1"]), LoggedLeaves([b'{"digest":"","match":"m","version":1}'])
    assert verified(BEGIN, key, leaves, manifest(3, 1, 1))[0] == BEGIN
    bad: list[tuple[list[Record], str]] = [
        ([BEGIN, key], "has no end"),
        ([key, manifest(1, 1)], "not in their order"),
        ([BEGIN, manifest(1), key], "not in their order"),
        ([BEGIN, key, manifest(2, 2)], "does not hold what its manifest says"),
        ([BEGIN, CopiedKey(b"rk:x", "module", 0, [b"1"]), manifest(2, 1)], "cannot be written"),
        ([BEGIN, CopiedKey(b"rk:x", "hash", 0, [b"1"]), manifest(2, 1)], "cannot be written"),
        ([BEGIN, CopiedKey(b"other:x", "string", 0, [b"1"]), manifest(2, 1)], "cannot be written"),
        ([BEGIN, CopiedKey(b"rk:x", "stream", 0, [b"1-0", b"many"]), manifest(2, 1)], "cannot be written"),
        ([BEGIN, CopiedMatch(9, b"m", b"", [], [], []), manifest(2)], "the match m of the backup"),
        ([BEGIN, LoggedLeaves([b"[]"]), manifest(2, 0, 1)], "cannot be read"),
        ([Begin(2, FORMAT, "id", 4, "rk:", 0), manifest(1)], "has layout 2"),
        ([Begin(1, 1, "id", 4, "rk:", 0), manifest(1)], "of a store with layout 1, .* commit d4bdd19"),
    ]
    for records, reason in bad:
        with pytest.raises(BackupError, match=reason):
            verified(*records)


@pytest.mark.parametrize(
    ("packed", "reason"),
    [(b"\0\0\0\1\xc1", "cannot be read"), (b"\0\0\0\5ab", "within a record"), (b"\xff\xff\xff\xff", "larger than any")],
)
def test_what_is_no_record_is_refused(packed: bytes, reason: str) -> None:
    with pytest.raises(BackupError, match=reason):
        list(unpack_records([packed]))


def test_every_key_is_copied_or_said_not_to_be() -> None:
    coverage = Coverage("rk:")
    kinds = {
        "copied": [*(coverage.single, *coverage.before, coverage.with_logs, coverage.with_shards, coverage.after)],
        "derived": [coverage.derived],
        "ephemeral": [coverage.ephemeral],
    }
    lists = [matching(each) for kind in kinds.values() for each in kind]
    wrong = {key: count for key in every_key() if (count := sum(bool(each.fullmatch(key)) for each in lists)) != 1}
    assert wrong == {}


def test_what_refers_is_copied_before_what_is_referred_to() -> None:
    coverage = Coverage("rk:")
    stages = [coverage.single, coverage.with_logs, *coverage.before, coverage.with_shards, coverage.after]

    def stage(key: str) -> int:
        found: Callable[[list[str]], bool] = lambda patterns: bool(matching(patterns).fullmatch(key))  # noqa: E731
        return next(place for place, patterns in enumerate(stages) if found(patterns))

    order = ["rk:{time}:heartbeat", "rk:{proof}:log:leaves", "rk:{n01}:decided:p", "rk:{n01}:outbox:entry:p e"]
    order += ["rk:{s01}:m:a:e", "rk:{people}:person:p"]
    places = [stage(key) for key in order]
    assert places == sorted(set(places))
    assert stage("rk:{cases}:a") == stage("rk:{people}:person:p")


def written(directory: Path, *lines: str) -> Path:
    """Write a manifest with ``lines`` and the files that they name; return their folder."""
    folder = directory / AOF_DIRECTORY
    folder.mkdir()
    (folder / f"{AOF_FILE}.manifest").write_text("".join(f"{line}\n" for line in lines))
    for line in lines:
        if line.startswith("file "):
            (folder / line.split()[1]).write_bytes(b"*1\r\n")
    return folder


@pytest.mark.parametrize("facts", ["", " startoffset 224", " startoffset 224 endoffset 532"])
def test_logs_of_writes_are_found_whatever_facts_the_server_adds(tmp_path: Path, facts: str) -> None:
    folder = written(
        tmp_path, "file appendonly.aof.2.base.rdb seq 2 type b", "file appendonly.aof.1.incr.aof seq 1 type h",
        f"file appendonly.aof.2.incr.aof seq 2 type i{facts}", f"file appendonly.aof.3.incr.aof seq 3 type i{facts}",
    )  # fmt: skip
    assert incremental_files(tmp_path) == [folder / f"appendonly.aof.{number}.incr.aof" for number in (2, 3)]
    assert flush(tmp_path) == ("appendonly.aof.3.incr.aof", 4)


def test_a_manifest_that_cannot_be_understood_is_refused(tmp_path: Path) -> None:
    written(tmp_path, "file appendonly.aof.2.base.rdb seq 2 type b", "\0\0\0")
    with pytest.raises(DamagedFileError, match=r"manifest cannot be understood in line 2"):
        incremental_files(tmp_path)


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
        length = framing.footer_bytes(tables.MAGIC)
        self.index = tables.read_table_index(
            framing.read_json(self._part(framing.index_frame(len(self.content), self.content[-length:], tables.MAGIC)))
        )

    def read(self, block: framing.Frame) -> list[ListEntry]:
        return tables.entries_in(framing.read_json(self._part(block)))

    def _part(self, frame: framing.Frame) -> bytes:
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
    frame = framing.compress(b"some events " * 50)
    assert framing.decompress(frame) == b"some events " * 50
    with pytest.raises(framing.DamagedArchiveError):
        framing.decompress(frame[:-3])
    for place in range(len(frame)):
        with pytest.raises(framing.DamagedArchiveError):
            assert framing.decompress(frame[:place] + bytes([frame[place] ^ 1]) + frame[place + 1 :]) is None
    with pytest.raises(framing.DamagedArchiveError):
        framing.index_frame(10, b"of another kind", tables.MAGIC)


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
    with pytest.raises(framing.ArchiveUnavailableError, match="OSError") as raised:
        Storage(url).names("packs")
    assert "secret" not in str(raised.value)
