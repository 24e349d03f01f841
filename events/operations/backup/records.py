"""The content of a backup: records, one after the other, each with its length before it."""

import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

import msgspec

from events.store.contract import Head


class BackupError(Exception):
    """A backup cannot be made, read or restored; the message gives the reason and the remedy."""


LAYOUT = 1
"""The version of the records and of their order."""

MAX_RECORD_BYTES = 1 << 28
_LENGTH = struct.Struct(">I")


class Begin(msgspec.Struct, tag="begin", array_like=True, frozen=True):
    """The first record. ``began_at`` is when the backup was begun, in milliseconds since 1970 UTC."""

    layout: int
    store_format: int
    installation: str
    shards: int
    prefix: str
    began_at: int


class CopiedKey(msgspec.Struct, tag="key", array_like=True, frozen=True):
    """A key, or a part of one: a list, log or hash may be in several records.

    ``content``: a string, items, fields and values, members and scores; of a stream, for each entry its id, the number
    of fields and values, and these. ``expires_at`` is 0 for a key that stays.
    """

    name: bytes
    kind: str
    expires_at: int
    content: list[bytes]


class CopiedMatch(msgspec.Struct, tag="match", array_like=True, frozen=True):
    """A live match at one moment; ``events`` are each followed by their digest, ``deadline`` is b"" for none."""

    shard: int
    match: bytes
    deadline: bytes
    head: list[bytes]
    conditional_moves: list[bytes]
    events: list[bytes]


class ShardEnd(msgspec.Struct, tag="shard", array_like=True, frozen=True):
    """The end of a shard: how many events it has had."""

    shard: int
    sequence: int


class LoggedLeaves(msgspec.Struct, tag="leaves", array_like=True, frozen=True):
    """Leaves of the log of checkpoints, in order: the tree is computed from them."""

    leaves: list[bytes]


class Manifest(msgspec.Struct, tag="manifest", array_like=True, frozen=True):
    """The last record. ``heads`` is the SHA-256 over all live heads in order, ``acts`` the length of the log."""

    began_at: int
    ended_at: int
    records: int
    matches: int
    events: int
    archived: int
    keys: int
    leaves: int
    acts: int
    heads: bytes


Record: TypeAlias = Begin | CopiedKey | CopiedMatch | ShardEnd | LoggedLeaves | Manifest

_ENCODER = msgspec.msgpack.Encoder()
_DECODER: msgspec.msgpack.Decoder[Record] = msgspec.msgpack.Decoder(Record)


def pack_record(record: Record) -> bytes:
    """Return a record as it is written."""
    packed = _ENCODER.encode(record)
    return _LENGTH.pack(len(packed)) + packed


def unpack_records(chunks: Iterable[bytes]) -> Iterator[Record]:
    """Yield the records that ``chunks`` are, one after the other; raises BackupError."""
    waiting = bytearray()
    for chunk in chunks:
        waiting += chunk
        start = 0
        while (size := _size(waiting, start)) is not None and len(waiting) >= (end := start + _LENGTH.size + size):
            try:
                yield _DECODER.decode(memoryview(waiting)[start + _LENGTH.size : end].tobytes())
            except msgspec.MsgspecError as error:
                raise BackupError(f"a record of the backup cannot be read: {error}") from error
            start = end
        del waiting[:start]
    if waiting:
        raise BackupError("the backup ends within a record")


def _size(waiting: bytearray, start: int) -> int | None:
    if len(waiting) < start + _LENGTH.size:
        return None
    size: int = _LENGTH.unpack_from(waiting, start)[0]
    if size > MAX_RECORD_BYTES:
        raise BackupError("a record of the backup is larger than any can be")
    return size


def pairs(flat: Sequence[bytes]) -> dict[bytes, bytes]:
    """Return fields and values, one after the other, as a mapping."""
    return dict(zip(flat[::2], flat[1::2], strict=True))


def head_of(flat: Sequence[bytes]) -> Head:
    """Return the head of a match from its fields and values."""
    fields = pairs(flat)
    return Head.of([fields.get(b"v"), fields.get(b"d")])
