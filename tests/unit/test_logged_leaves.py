"""What is stored of the last leaf of a match in the log of checkpoints."""

import pytest

from events.store.contract import Head
from events.store.logged_leaves import LoggedLeaf, pack_logged, unpack_logged

HEAD = Head(61, bytes(range(32)))


@pytest.mark.parametrize("index", [0, 5_000_000, 2**32])
def test_a_logged_leaf_is_read_as_it_was_packed(index: int) -> None:
    leaf = LoggedLeaf(index, HEAD.tag)
    assert unpack_logged(pack_logged(leaf)) == leaf
    assert len(pack_logged(leaf)) == 16


def test_a_logged_leaf_of_a_head_with_a_short_digest_is_told_from_others() -> None:
    damaged = LoggedLeaf(7, Head(61, b"short").tag)
    assert unpack_logged(pack_logged(damaged)) == damaged != LoggedLeaf(7, HEAD.tag)


@pytest.mark.parametrize("packed", [b"", b"x", b"\x00" * 8])
def test_anything_else_is_refused(packed: bytes) -> None:
    with pytest.raises(ValueError, match="leaf"):
        unpack_logged(packed)
