"""A tree that is followed while it grows: of all leaves only the roots of its perfect subtrees are kept."""

from collections.abc import Sequence
from functools import reduce

from events.proof import merkle

TILE_LEVEL = 8
TILE_WIDTH = 1 << TILE_LEVEL
"""Leaves of a full tile (c2sp.org/tlog-tiles)."""


class GrowingTree:
    """The tree over the first ``size`` leaves (RFC 6962), as the roots of its perfect subtrees, the largest first."""

    def __init__(self, size: int = 0, subtrees: Sequence[bytes] = ()) -> None:
        self.size = size
        self.subtrees = list(subtrees)

    def add(self, leaves: Sequence[bytes]) -> None:
        """Append ``leaves``, given by their hashes."""
        if len(leaves) == TILE_WIDTH and self.size % TILE_WIDTH == 0:
            level = list(leaves)
            while len(level) > 1:
                level = [merkle.node_hash(*level[place : place + 2]) for place in range(0, len(level), 2)]
            self._add(level[0], TILE_WIDTH)
        else:
            for leaf in leaves:
                self._add(leaf, 1)

    def root(self) -> bytes:
        """Return the root of the tree."""
        if not self.subtrees:
            return merkle.EMPTY_ROOT
        return reduce(lambda right, left: merkle.node_hash(left, right), reversed(self.subtrees))

    def ranges(self) -> list[tuple[int, int]]:
        """Return level and index of each of ``subtrees``: it covers 2**level leaves from index * 2**level on."""
        found, start = [], 0
        for level in range(self.size.bit_length() - 1, -1, -1):
            if self.size >> level & 1:
                found.append((level, start >> level))
                start += 1 << level
        return found

    def _add(self, subtree: bytes, width: int) -> None:
        carried = self.size
        self.size += width
        while carried & width:
            subtree = merkle.node_hash(self.subtrees.pop(), subtree)
            width <<= 1
        self.subtrees.append(subtree)
