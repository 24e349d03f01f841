"""The files of the archive, in a directory or an object store; named by content, written once, never changed."""

import hashlib
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, ParamSpec, TypeVar

import fsspec

from events.runtime.durable_files import UNFINISHED, write_durably
from events.store.archive.framing import ArchiveUnavailableError, DamagedArchiveError, MissingFileError

DIGEST_DIGITS = 64
P = ParamSpec("P")
T = TypeVar("T")


class Storage:
    """The files at ``url`` (``file:///path``, ``s3://bucket/path``, None). Raises ArchiveUnavailableError."""

    def __init__(self, url: str | None) -> None:
        self.url = url

    @cached_property
    def _place(self) -> tuple[Any, str]:
        if self.url is None:
            raise ArchiveUnavailableError("there are archived matches, and ROOKERY_ARCHIVE_URL does not say where")
        try:
            file_system, root = fsspec.core.url_to_fs(self.url, use_listings_cache=False, skip_instance_cache=True)
        except ImportError as error:
            raise ArchiveUnavailableError(
                f"ROOKERY_ARCHIVE_URL needs a library that is not installed: {error}"
            ) from None
        except Exception as error:
            # Some libraries connect at once. Their words may repeat the URL, which may hold a password.
            raise ArchiveUnavailableError(f"ROOKERY_ARCHIVE_URL cannot be used: {type(error).__name__}") from None
        return file_system, root.rstrip("/")

    def write(self, kind: str, content: bytes) -> str:
        """Store ``content`` as a file of ``kind`` and read it back; return its name.

        Crash-safe: durable under another name, then renamed; an object store shows a whole object or none.
        """
        name = f"{kind}/{hashlib.sha256(content).hexdigest()}"
        file_system, root = self._place
        self._do(write_durably, file_system, f"{root}/{name}", content)
        if hashlib.sha256(self.read(name)).hexdigest() != name.rpartition("/")[2]:
            raise DamagedArchiveError(f"the file {name} of the archive reads otherwise than it was written")
        return name

    def read(self, name: str) -> bytes:
        """Return a whole file."""
        file_system, root = self._place
        content: bytes = self._do(file_system.cat_file, f"{root}/{name}")
        return content

    def read_ranges(self, ranges: Sequence[tuple[str, int, int]]) -> list[bytes]:
        """Return parts of files (name, offset, length); an object store is asked for all of them at once."""
        file_system, root = self._place
        paths = [f"{root}/{name}" for name, _, _ in ranges]
        starts = [offset for _, offset, _ in ranges]
        ends = [offset + length for _, offset, length in ranges]
        parts: list[bytes] = self._do(file_system.cat_ranges, paths, starts, ends, on_error="raise")
        for content, (name, offset, length) in zip(parts, ranges, strict=True):
            if len(content) != length:
                raise DamagedArchiveError(f"the file {name} of the archive ends before byte {offset + length}")
        return parts

    def size(self, name: str) -> int:
        """Return how many bytes a file has."""
        file_system, root = self._place
        return int(self._do(file_system.size, f"{root}/{name}"))

    def names(self, kind: str) -> list[str]:
        """Return the names of all files of ``kind``, sorted, without unfinished ones."""
        return [name for name in self._names(kind) if UNFINISHED not in name]

    def unfinished(self, kind: str) -> list[str]:
        """Return the files that killed writers have left behind."""
        return [name for name in self._names(kind) if UNFINISHED in name]

    def delete(self, name: str) -> None:
        """Delete a file."""
        file_system, root = self._place
        self._do(file_system.rm_file, f"{root}/{name}")

    def _names(self, kind: str) -> list[str]:
        file_system, root = self._place
        if not self._do(file_system.exists, f"{root}/{kind}"):
            return []
        paths: list[str] = self._do(file_system.ls, f"{root}/{kind}", detail=False)
        return sorted(f"{kind}/{path.rpartition('/')[2]}" for path in paths)

    def _do(self, method: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return method(*args, **kwargs)
        except (DamagedArchiveError, ArchiveUnavailableError):
            raise
        except FileNotFoundError as error:
            raise MissingFileError(f"the archive lacks a file: {error}") from error
        except Exception as error:
            # Every library of a storage has errors of its own.
            raise ArchiveUnavailableError(f"the archive cannot be used now: {error}") from error
