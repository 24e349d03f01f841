"""Merkle trees against the known vectors of Certificate Transparency, and every proof of every small tree."""

import hashlib
from itertools import product

import pytest

from events.proof import merkle
from tests.support.tables import table

LEAVES = [bytes.fromhex(text) for text in ("", "00", "10", "2021", "3031", "40414243", "5051525354555657")] + [
    bytes(range(0x60, 0x70))
]
"""The leaves of the test vectors of Google's Certificate Transparency implementations."""

ROOTS = table(__file__, "the roots of no leaf to all eight")


def tree(leaves: list[bytes]) -> merkle.Nodes:
    """Return the nodes of the tree over ``leaves``, which has grown in two steps."""
    kept: dict[tuple[int, int], bytes] = {}

    def node(level: int, index: int) -> bytes:
        return kept[level, index]

    third = len(leaves) // 3
    for start, part in ((0, leaves[:third]), (third, leaves[third:])):
        kept.update(merkle.appended_nodes(start, map(merkle.leaf_hash, part), node))
    return node


def test_the_roots_are_those_of_certificate_transparency() -> None:
    nodes = tree(LEAVES)
    assert [merkle.root(size, nodes).hex() for size in range(9)] == list(ROOTS)
    assert ROOTS[0] == merkle.EMPTY_ROOT.hex()


def test_known_proofs() -> None:
    nodes = tree(LEAVES)
    assert [node.hex() for node in merkle.inclusion_path(5, 8, nodes)] == [
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ]
    assert [node.hex() for node in merkle.consistency_path(6, 8, nodes)] == [
        "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ]


def test_the_root_is_what_the_definition_says() -> None:
    leaves = [bytes([number]) for number in range(21)]

    def defined(part: list[bytes]) -> bytes:
        if len(part) == 1:
            return hashlib.sha256(b"\0" + part[0]).digest()
        split = next(1 << power for power in range(8, -1, -1) if 1 << power < len(part))
        return merkle.node_hash(defined(part[:split]), defined(part[split:]))

    nodes = tree(leaves)
    assert [merkle.root(size, nodes) for size in range(1, 22)] == [defined(leaves[:size]) for size in range(1, 22)]


SIZES = 13


@pytest.fixture(scope="module")
def nodes() -> merkle.Nodes:
    return tree([bytes([number]) for number in range(SIZES)])


def test_every_leaf_is_proved_in_every_tree_and_nowhere_else(nodes: merkle.Nodes) -> None:
    for size in range(1, SIZES + 1):
        for index in range(size):
            path = merkle.inclusion_path(index, size, nodes)
            leaf = nodes(0, index)
            assert merkle.root_from_inclusion(leaf, index, size, path) == merkle.root(size, nodes)
            wrong = [(leaf, other, path) for other in range(-1, size + 1) if other != index]
            wrong += [
                (merkle.node_hash(leaf, leaf), index, path),
                (leaf, index, [*path, leaf]),
                (leaf, index, path[1:]),
            ]
            wrong += [(leaf, index, path[::-1])] if path[::-1] != path else []
            for tried, place, shown in wrong:
                if (tried, place, shown) != (leaf, index, path):
                    assert merkle.root_from_inclusion(tried, place, size, shown) != merkle.root(size, nodes)


def test_every_tree_is_proved_to_begin_every_larger_one_and_no_other(nodes: merkle.Nodes) -> None:
    roots = [merkle.root(size, nodes) for size in range(SIZES + 1)]
    for first, second in product(range(SIZES + 1), repeat=2):
        if first > second:
            assert not merkle.is_consistent(first, roots[first], second, roots[second], [])
            continue
        path = merkle.consistency_path(first, second, nodes)
        assert merkle.is_consistent(first, roots[first], second, roots[second], path)
        assert not merkle.is_consistent(first, bytes(32), second, roots[second], path)
        assert not merkle.is_consistent(first, roots[first], second, roots[second], [*path, bytes(32)])
        if first not in (0, second):
            assert not merkle.is_consistent(first, roots[first], second, bytes(32), path)
            assert not merkle.is_consistent(first, roots[first], second, roots[second], path[:-1])
            changed = [bytes(32), *path[1:]]
            assert not merkle.is_consistent(first, roots[first], second, roots[second], changed)
