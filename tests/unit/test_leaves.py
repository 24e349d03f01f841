"""Leaves of the log, their tiles, bundles and proofs in the forms of C2SP, and the vectors of docs/proof/log.md."""

import hashlib
import json

import pytest

from events.proof import leaves, merkle
from events.proof.checkpoints import match_head
from events.proof.documents import DocumentError
from events.proof.public_keys import PublicKey
from events.proof.transparency.tiles import NoTileError, TilePlace, bundle_of_entries, parse_level, parse_place
from events.store.contract import Head
from events.store.logged_leaves import LoggedLeaf, pack_logged, unpack_logged
from tests.support.log_tiles import entries_of_bundle, places_of
from tests.support.log_vectors import DIRECTORY, files, judged, vectors
from tests.support.tables import table
from tests.support.tlog_proofs import read_tlog_proof

DIGEST = "ab" * 32
LEAVES: list[leaves.Leaf] = [
    leaves.MatchLeaf("k3x9", 17, DIGEST),
    leaves.MatchLeaf('","match":', 1, DIGEST),
    leaves.AdministrationLeaf(5, DIGEST),
    leaves.KeyLeaf("key-id", "AAAA", 1_700_000_000_000),
    leaves.RevocationLeaf("key-id", 1_700_000_000_000),
]


@pytest.mark.parametrize("leaf", LEAVES)
def test_a_leaf_is_read_as_it_was_stored_and_hashed_as_its_entry(leaf: leaves.Leaf) -> None:
    assert leaves.read_leaf(leaf.stored) == leaf
    assert leaves.entry_of_stored(leaf.stored) == leaf.entry
    assert leaves.hash_of_stored(leaf.stored) == merkle.leaf_hash(leaf.entry)


def test_the_entry_of_a_match_commits_to_its_head_and_does_not_name_it() -> None:
    head = b'{"digest":"%s","match":"k3x9","version":17}' % DIGEST.encode()
    commitment = hashlib.sha256(head).hexdigest()
    entry = leaves.MatchLeaf("k3x9", 17, DIGEST).entry
    assert entry == b'{"commitment":"%s","form":1,"kind":"match"}' % commitment.encode()
    assert match_head("k3x9", 17, DIGEST) == leaves.MatchLeaf("k3x9", 17, DIGEST).stored == head


def test_a_revoked_key_has_a_leaf_of_its_own_and_one_of_its_revocation() -> None:
    key = PublicKey(bytes(32), 1, 2, revoked=3)
    assert leaves.leaves_of_key(key) == [leaves.KeyLeaf(key.id, "A" * 43, 1), leaves.RevocationLeaf(key.id, 3)]


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
        leaves.read_leaf(stored)


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


def test_the_product_judges_every_vector_as_it_says() -> None:
    different = {each["name"]: judged(each["given"]) for each in vectors() if judged(each["given"]) != each["expect"]}
    assert different == {}


def test_the_published_vectors_are_these() -> None:
    written = {path.name: text for path, text in files()}
    assert {file.name: file.read_text() for file in DIRECTORY.iterdir()} == written
    assert len(written) > 15
    assert all(json.loads(content)["name"] for content in written.values())


PLACES = {
    "000": TilePlace(0), "067": TilePlace(67), "x001/000": TilePlace(1000), "x001/x234/067": TilePlace(1_234_067),
    "000.p/1": TilePlace(0, 1), "x273/112.p/255": TilePlace(273_112, 255),
}  # fmt: skip


@pytest.mark.parametrize(("path", "place"), PLACES.items())
def test_a_path_names_one_tile(path: str, place: TilePlace) -> None:
    assert parse_place(path) == place
    assert place.path == path


@pytest.mark.parametrize(
    "path",
    ["", "0", "1000", "x000/001", "001/000", "x1/000", "000.p/", "000.p/0", "000.p/01", "000.p/256", "-01", "٠٠٠"],
)
def test_other_forms_of_a_path_name_none(path: str) -> None:
    with pytest.raises(NoTileError):
        parse_place(path)


@pytest.mark.parametrize("text", ["", "00", "64", "-1", "data", "٣"])
def test_a_level_has_one_form(text: str) -> None:
    assert [parse_level("0"), parse_level("63")] == [0, 63]
    with pytest.raises(NoTileError):
        parse_level(text)


def test_the_tiles_of_a_log_are_those_of_the_example_in_the_specification() -> None:
    of_level = [places_of(70_000, level) for level in range(4)]
    assert [(len(places), places[-1].width) for places in of_level if places] == [(274, 112), (2, 17), (1, 1)]
    assert places_of(256, 0) == [TilePlace(0)]
    assert places_of(256, 1) == [TilePlace(0, 1)]
    assert places_of(600, 0, known=300) == [TilePlace(1), TilePlace(2, 88)]
    assert places_of(600, 1, known=520) == []


def test_entries_are_read_as_they_were_bundled() -> None:
    entries = [b"one", b"", b"x" * 65_535]
    assert entries_of_bundle(bundle_of_entries(entries)) == entries
    with pytest.raises(ValueError, match="ends within entry 2"):
        entries_of_bundle(bundle_of_entries(entries)[:-1])


NOTE = "example.com/log\n1\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n\n— example.com/log AAAAAAAA\n"
NODE = "A" * 43 + "="


@pytest.mark.parametrize(("text", "place"), table(__file__, "a proof is refused with the place of its fault"))
def test_a_proof_is_refused_with_the_place_of_its_fault(text: str, place: str) -> None:
    with pytest.raises(DocumentError) as caught:
        read_tlog_proof(text)
    assert caught.value.place == place


def test_a_proof_is_written_as_it_was_read() -> None:
    for extra in ("", "extra AAAA\n"):
        text = f"c2sp.org/tlog-proof@v1\n{extra}index 0\n{NODE}\n\n{NOTE}"
        assert str(read_tlog_proof(text)) == text
