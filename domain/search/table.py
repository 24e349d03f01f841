"""The transposition table: the results of earlier searches of a position, bounded in memory."""

from collections.abc import Hashable
from typing import Final, Generic, TypeVar

from domain.search.values import adjusted_for_ply

T = TypeVar("T")

EXACT: Final = 0
LOWER_BOUND: Final = 1
UPPER_BOUND: Final = -1

MAX_ENTRIES: Final = 20_000
"""Entries of a generation. An entry with its key takes up to 800 bytes; four generations stay within 64 MB."""


class TableEntry(Generic[T]):
    """An entry: depth searched, kind of bound, value seen from the position, and the best move."""

    __slots__ = ("bound", "depth", "move", "value")

    def __init__(self, depth: int, bound: int, value: int, move: T | None) -> None:
        self.depth = depth
        self.bound = bound
        self.value = value
        self.move = move

    def value_within(self, depth: int, alpha: int, beta: int, ply: int) -> int | None:
        """Return the value, ``ply`` plies ahead, where it is deep enough and decides the window, else None."""
        if self.depth < depth:
            return None
        value = adjusted_for_ply(self.value, ply)
        if self.bound == EXACT or (value >= beta if self.bound == LOWER_BOUND else value <= alpha):
            return value
        return None


class Table(Generic[T]):
    """A table of two parts, for leaves and for positions above them, so that leaves never replace deeper results.

    Each part keeps two generations: when the younger one is full, it becomes the older one, which is dropped. An entry
    that is used moves into the younger one. So the entries replaced are those unused for longest, by the order of
    the search alone and not by hashes, which differ from process to process.
    """

    def __init__(self, max_entries: int = MAX_ENTRIES) -> None:
        self._max_entries = max_entries
        self._young: dict[Hashable, TableEntry[T]] = {}
        self._old: dict[Hashable, TableEntry[T]] = {}
        self._young_leaves: dict[Hashable, TableEntry[T]] = {}
        self._old_leaves: dict[Hashable, TableEntry[T]] = {}

    def __len__(self) -> int:
        return len(self._young) + len(self._old) + len(self._young_leaves) + len(self._old_leaves)

    def get(self, key: Hashable) -> TableEntry[T] | None:
        """Return the entry of a position, the deeper one of two, or None."""
        entry = self._young.get(key)
        if entry is None:
            entry = self._old.get(key)
            if entry is not None:
                self._add(key, entry)
                return entry
            entry = self._young_leaves.get(key) or self._old_leaves.get(key)
        return entry

    def store(self, key: Hashable, depth: int, value: int, alpha: int, beta: int, ply: int, move: T | None) -> None:
        """Keep the result of a search with the window of ``alpha`` and ``beta``, ``ply`` plies ahead."""
        bound = UPPER_BOUND if value <= alpha else LOWER_BOUND if value >= beta else EXACT
        entry = TableEntry(depth, bound, adjusted_for_ply(value, -ply), move)
        if depth > 0:
            self._add(key, entry)
            return
        self._young_leaves[key] = entry
        if len(self._young_leaves) >= self._max_entries:
            self._young_leaves, self._old_leaves = {}, self._young_leaves

    def _add(self, key: Hashable, entry: TableEntry[T]) -> None:
        self._young[key] = entry
        if len(self._young) >= self._max_entries:
            self._young, self._old = {}, self._young
