"""The notes of the log of checkpoints about each match: where its last leaf is, and the version tag of its head."""

from typing import NamedTuple

from events.store.contract import VersionTag

INDEX_BYTES = 5
VERSION_BYTES = 3
_BEFORE_DIGEST = INDEX_BYTES + VERSION_BYTES


class LoggedLeaf(NamedTuple):
    """Where the last leaf of a match is, by its index, and the head that it has."""

    place: int
    tag: VersionTag


def pack_logged(leaf: LoggedLeaf) -> bytes:
    """Return the stored form of a logged match."""
    index, (version, digest) = leaf
    return index.to_bytes(INDEX_BYTES, "big") + version.to_bytes(VERSION_BYTES, "big") + bytes.fromhex(digest)


def unpack_logged(packed: bytes) -> LoggedLeaf:
    """Return the leaf that was packed; raises ValueError for anything else."""
    if len(packed) <= _BEFORE_DIGEST:
        raise ValueError(f"{packed!r} is not the place of a leaf")
    index = int.from_bytes(packed[:INDEX_BYTES], "big")
    version = int.from_bytes(packed[INDEX_BYTES:_BEFORE_DIGEST], "big")
    return LoggedLeaf(index, VersionTag(version, packed[_BEFORE_DIGEST:].hex()))
