"""How the files of the archive are made up: compressed frames, an index of them, and a footer that finds the index."""

from collections.abc import Iterable
from typing import Any

import orjson
import zstandard

from events.runtime.errors import StoreError, StoreUnavailableError


class ArchiveUnavailableError(StoreUnavailableError):
    """The storage of the archive cannot be reached now, or lacks a file: archived matches cannot be read."""


class MissingFileError(ArchiveUnavailableError):
    """The storage of the archive answers and lacks a file, or does not show it now."""


class DamagedArchiveError(StoreError):
    """A file of the archive differs from the written one."""


LEVEL = 19
MAX_FRAME_BYTES = 64 * 2**20
"""Of a decompressed frame: a longer one is damaged."""

_LENGTH_BYTES = 8

Frame = tuple[int, int]


class FileWriter:
    """Puts a file together, frame by frame; ``magic`` names its kind and format."""

    def __init__(self, magic: bytes) -> None:
        self._magic = magic
        self._parts = [magic]
        self._size = len(magic)

    def add(self, frame: bytes) -> Frame:
        """Append ``frame``; return where it is."""
        place = (self._size, len(frame))
        self._parts.append(frame)
        self._size += len(frame)
        return place

    def finish(self, index: object) -> bytes:
        """Return the file with ``index`` (JSON values) at its end."""
        packed = compress(orjson.dumps(index))
        return b"".join([*self._parts, packed, len(packed).to_bytes(_LENGTH_BYTES, "big"), self._magic])


def index_frame(size: int, footer: bytes, magic: bytes) -> Frame:
    """Return where the index of a file is, given its size and last ``footer_bytes``; raises DamagedArchiveError."""
    length = int.from_bytes(footer[:_LENGTH_BYTES], "big")
    if footer[_LENGTH_BYTES:] != magic or length > size - len(footer):
        raise DamagedArchiveError("a file of the archive is of another kind, or incomplete")
    return size - len(footer) - length, length


def footer_bytes(magic: bytes) -> int:
    """Return how long the footer of a file is."""
    return _LENGTH_BYTES + len(magic)


def compress(content: bytes, dictionary: bytes | None = None, level: int = LEVEL) -> bytes:
    """Return ``content`` as a frame, with a checksum: a byte that changes is found before anything is read from it."""
    made = zstandard.ZstdCompressor(level=level, dict_data=_dictionary(dictionary), write_checksum=True)
    return made.compress(content)


def decompress(frame: bytes, dictionary: bytes | None = None) -> bytes:
    """Return the content of ``frame``; raises DamagedArchiveError."""
    try:
        if zstandard.frame_content_size(frame) > MAX_FRAME_BYTES:
            raise DamagedArchiveError("a frame of the archive is too long")
        return zstandard.ZstdDecompressor(dict_data=_dictionary(dictionary)).decompress(frame)
    except zstandard.ZstdError as error:
        raise DamagedArchiveError(f"a frame of the archive cannot be decompressed ({error})") from error


def read_json(frame: bytes) -> Any:
    """Return the JSON value in ``frame``; raises DamagedArchiveError."""
    try:
        return orjson.loads(decompress(frame))
    except orjson.JSONDecodeError as error:
        raise DamagedArchiveError(f"a frame of the archive is no JSON ({error})") from error


def train_dictionary(samples: Iterable[bytes], size: int) -> bytes:
    """Return a dictionary of ``size`` bytes for frames like ``samples``."""
    return zstandard.train_dictionary(size, list(samples)).as_bytes()


def _dictionary(content: bytes | None) -> zstandard.ZstdCompressionDict | None:
    return None if content is None else zstandard.ZstdCompressionDict(content)
