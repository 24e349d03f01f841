"""Merkle trees over an append-only log, as RFC 6962 and RFC 9162 (section 2.1) define them, with SHA-256.

Perfect subtrees are stored: node (level, index) covers 2**level leaves from index * 2**level on, and never changes.
"""

import hashlib
from collections.abc import Callable, Iterable, Sequence

Nodes = Callable[[int, int], bytes]

EMPTY_ROOT = hashlib.sha256().digest()


def leaf_hash(leaf: bytes) -> bytes:
    """Return the hash of a leaf, 32 bytes; it cannot be that of a node."""
    return hashlib.sha256(b"\0" + leaf).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Return the hash of the node over two others."""
    return hashlib.sha256(b"\1" + left + right).digest()


def appended_nodes(size: int, leaves: Iterable[bytes], nodes: Nodes) -> dict[tuple[int, int], bytes]:
    """Return the new nodes, by level and index, of a tree of ``size`` leaves to which leaf hashes are added."""
    made: dict[tuple[int, int], bytes] = {}
    for index, digest in enumerate(leaves, size):
        level = 0
        made[level, index] = digest
        while index & 1:
            left = made.get((level, index - 1)) or nodes(level, index - 1)
            level, index, digest = level + 1, index >> 1, node_hash(left, digest)
            made[level, index] = digest
    return made


def root(size: int, nodes: Nodes) -> bytes:
    """Return the root of the tree of the first ``size`` leaves."""
    return _subtree(0, size, nodes) if size else EMPTY_ROOT


def inclusion_path(index: int, size: int, nodes: Nodes) -> list[bytes]:
    """Return the proof that the leaf ``index`` is in the tree of ``size`` leaves (RFC 6962, section 2.1.1)."""
    path: list[bytes] = []
    low, high = 0, size
    while high - low > 1:
        middle = low + _split(high - low)
        if index < middle:
            path.append(_subtree(middle, high, nodes))
            high = middle
        else:
            path.append(_subtree(low, middle, nodes))
            low = middle
    return path[::-1]


def consistency_path(first: int, second: int, nodes: Nodes) -> list[bytes]:
    """Return the proof that the tree of ``first`` leaves begins that of ``second`` (RFC 6962, section 2.1.2)."""
    if first in (0, second):
        return []
    path: list[bytes] = []
    low, high, is_first = 0, second, True
    while first < high:
        middle = low + _split(high - low)
        if first <= middle:
            path.append(_subtree(middle, high, nodes))
            high = middle
        else:
            path.append(_subtree(low, middle, nodes))
            low, is_first = middle, False
    if not is_first:
        path.append(_subtree(low, high, nodes))
    return path[::-1]


def root_from_inclusion(leaf: bytes, index: int, size: int, path: Sequence[bytes]) -> bytes | None:
    """Return the root that ``path`` leads to from a leaf hash (RFC 9162, section 2.1.3.2); None when it cannot fit."""
    if not 0 <= index < size:
        return None
    node, last, digest = index, size - 1, leaf
    for sibling in path:
        if last == 0:
            return None
        if node & 1 or node == last:
            digest = node_hash(sibling, digest)
            while not node & 1 and node:
                node, last = node >> 1, last >> 1
        else:
            digest = node_hash(digest, sibling)
        node, last = node >> 1, last >> 1
    return digest if last == 0 else None


def is_consistent(first: int, first_root: bytes, second: int, second_root: bytes, path: Sequence[bytes]) -> bool:
    """Return whether ``path`` proves that one tree begins the other (RFC 9162, section 2.1.4.2)."""
    if not 0 <= first <= second:
        return False
    if first == second:
        return not path and first_root == second_root
    if first == 0:
        return not path and first_root == EMPTY_ROOT
    if not path:
        return False
    hashes = list(path) if first & (first - 1) else [first_root, *path]
    node, last = first - 1, second - 1
    while node & 1:
        node, last = node >> 1, last >> 1
    older = newer = hashes[0]
    for sibling in hashes[1:]:
        if last == 0:
            return False
        if node & 1 or node == last:
            older, newer = node_hash(sibling, older), node_hash(sibling, newer)
            while not node & 1 and node:
                node, last = node >> 1, last >> 1
        else:
            newer = node_hash(newer, sibling)
        node, last = node >> 1, last >> 1
    return last == 0 and older == first_root and newer == second_root


def _subtree(low: int, high: int, nodes: Nodes) -> bytes:
    """Return the hash over the leaves from ``low`` to before ``high``, a range that splitting has led to."""
    width = high - low
    if width & (width - 1) == 0:
        level = width.bit_length() - 1
        return nodes(level, low >> level)
    middle = low + _split(width)
    return node_hash(_subtree(low, middle, nodes), _subtree(middle, high, nodes))


def _split(width: int) -> int:
    return 1 << ((width - 1).bit_length() - 1)
