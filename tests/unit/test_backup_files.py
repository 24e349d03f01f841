"""The file of a backup: what was changed, cut off, reordered or sealed with another key is refused."""

import io
import struct
from collections.abc import Callable

import pytest

from events.backup.coverage import Coverage, matching
from events.backup.files import CHUNK_BYTES, MAGIC, SealedWriter, read_sealed
from events.backup.records import (
    BackupError,
    Begin,
    CopiedKey,
    CopiedMatch,
    Leaves,
    Manifest,
    Record,
    pack_record,
    unpack_records,
)
from events.backup.restoring import verify_backup
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
    key, leaves = CopiedKey(b"rk:x", "string", 0, [b"1"]), Leaves([b'{"digest":"","match":"m","version":1}'])
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
        ([BEGIN, Leaves([b"[]"]), manifest(2, 0, 1)], "cannot be read"),
        ([Begin(2, FORMAT, "id", 4, "rk:", 0), manifest(1)], "has layout 2"),
        ([Begin(1, FORMAT - 1, "id", 4, "rk:", 0), manifest(1)], "of a store with layout 1, .* commit d4bdd19"),
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
