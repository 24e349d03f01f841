"""The guard of checkpoints: the signed trees, in a place outside the store, which may be restored from a backup.

The largest tree is the name of a file: noting one replaces nothing, so processes cannot make it forget a larger one.
"""

import re
from functools import cached_property
from typing import Any, NamedTuple

import fsspec

from events.runtime.durable_files import write_durably
from events.runtime.errors import StoreUnavailableError

NAME = re.compile("([0-9]{12})-([0-9a-f]{64})")


class GuardUnavailableError(StoreUnavailableError):
    """The guard cannot be read or written now, so that nothing can be signed."""


class GuardedTree(NamedTuple):
    """A tree that was signed: the number of its leaves, and its root in hexadecimal digits."""

    size: int
    root: str


class CheckpointGuard:
    """The guard of installations in ``place``, a path or a URL of fsspec. Methods raise GuardUnavailableError."""

    def __init__(self, place: str) -> None:
        self._url = place

    def largest(self, origin: str) -> list[GuardedTree]:
        """Return the largest tree that was signed; none before the first, several that contradict each other."""
        trees = self._trees(origin)
        return [tree for tree in trees if tree.size == trees[-1].size]

    def note(self, origin: str, tree: GuardedTree) -> None:
        """Note that ``tree`` is about to be signed. Crash-safe: smaller ones are forgotten only then."""
        self._write(origin, tree)
        for guarded in self._trees(origin):
            if guarded.size < tree.size:
                self._delete(origin, guarded)

    def replace(self, origin: str, tree: GuardedTree) -> None:
        """Put ``tree`` in the place of all that are known, larger ones too."""
        self._write(origin, tree)
        for guarded in self._trees(origin):
            if guarded != tree:
                self._delete(origin, guarded)

    @cached_property
    def _place(self) -> tuple[Any, str]:
        try:
            file_system, root = fsspec.core.url_to_fs(self._url, use_listings_cache=False, skip_instance_cache=True)
        except (ImportError, ValueError) as error:
            raise GuardUnavailableError(f"ROOKERY_CHECKPOINT_GUARD cannot be used: {error}") from error
        return file_system, root.rstrip("/")

    def _trees(self, origin: str) -> list[GuardedTree]:
        file_system, root = self._place
        try:
            directory = f"{root}/{origin}"
            names = file_system.ls(directory, detail=False) if file_system.exists(directory) else []
        except Exception as error:
            raise _unavailable(error) from error
        matches = (NAME.fullmatch(name.rpartition("/")[2]) for name in names)
        return sorted(GuardedTree(int(match[1]), match[2]) for match in matches if match)

    def _write(self, origin: str, tree: GuardedTree) -> None:
        file_system, root = self._place
        try:
            write_durably(file_system, f"{root}/{origin}/{_name(tree)}", b"")
        except Exception as error:
            raise _unavailable(error) from error

    def _delete(self, origin: str, tree: GuardedTree) -> None:
        file_system, root = self._place
        try:
            file_system.rm_file(f"{root}/{origin}/{_name(tree)}")
        except FileNotFoundError:
            return  # another process that signs was faster
        except Exception as error:
            raise _unavailable(error) from error


def _name(tree: GuardedTree) -> str:
    return f"{tree.size:012d}-{tree.root}"


def _unavailable(error: Exception) -> GuardUnavailableError:
    # Every library of a storage has errors of its own.
    return GuardUnavailableError(f"the guard of checkpoints (ROOKERY_CHECKPOINT_GUARD) cannot be used now: {error}")
