"""What is hashed and what is stored of the leaves of the log."""

import hashlib

import pytest

from events.proof import merkle
from events.proof.checkpoints import match_head
from events.proof.leaves import (
    AdministrationLeaf,
    KeyLeaf,
    Leaf,
    MatchLeaf,
    RevocationLeaf,
    entry_of_stored,
    hash_of_stored,
    leaves_of_key,
    read_leaf,
)
from events.proof.public_keys import PublicKey

DIGEST = "ab" * 32
LEAVES: list[Leaf] = [
    MatchLeaf("k3x9", 17, DIGEST),
    MatchLeaf('","match":', 1, DIGEST),
    AdministrationLeaf(5, DIGEST),
    KeyLeaf("key-id", "AAAA", 1_700_000_000_000),
    RevocationLeaf("key-id", 1_700_000_000_000),
]


@pytest.mark.parametrize("leaf", LEAVES)
def test_a_leaf_is_read_as_it_was_stored_and_hashed_as_its_entry(leaf: Leaf) -> None:
    assert read_leaf(leaf.stored) == leaf
    assert entry_of_stored(leaf.stored) == leaf.entry
    assert hash_of_stored(leaf.stored) == merkle.leaf_hash(leaf.entry)


def test_the_entry_of_a_match_commits_to_its_head_and_does_not_name_it() -> None:
    head = b'{"digest":"%s","match":"k3x9","version":17}' % DIGEST.encode()
    commitment = hashlib.sha256(head).hexdigest()
    entry = MatchLeaf("k3x9", 17, DIGEST).entry
    assert entry == b'{"commitment":"%s","form":1,"kind":"match"}' % commitment.encode()
    assert match_head("k3x9", 17, DIGEST) == MatchLeaf("k3x9", 17, DIGEST).stored == head


def test_a_revoked_key_has_a_leaf_of_its_own_and_one_of_its_revocation() -> None:
    key = PublicKey(bytes(32), 1, 2, revoked=3)
    assert leaves_of_key(key) == [KeyLeaf(key.id, "A" * 43, 1), RevocationLeaf(key.id, 3)]


@pytest.mark.parametrize(
    "stored",
    [
        b"no JSON",
        b"[]",
        b'{"kind":"other"}',
        b'{"version":1,"match":"m","digest":"d"}',
        b'{"digest":"d","form":3,"match":"m","version":1}',
        b'{"digest":"d","match":"m","version":true}',
    ],
)
def test_what_is_no_leaf_is_refused(stored: bytes) -> None:
    with pytest.raises(ValueError, match=r"it is n|Expecting"):
        read_leaf(stored)
