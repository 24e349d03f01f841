"""The server side of a witness: which requests it refuses and how, and that it never goes back."""

from collections.abc import Sequence
from pathlib import Path
from threading import Barrier, Thread

import pytest

from events.proof import merkle, witness as state
from events.proof.keys import SigningKey
from events.proof.notes import SignedNote, parse_signatures
from events.proof.transparency.witness_protocol import SIZE_TYPE, read_request, write_request
from events.proof.tree_heads import TreeHead, find_cosignatures, note_key, sign_tree_head
from events.proof.witness import Witness, WitnessReply, WitnessState

ORIGIN = "club.example/rookery"
NOW_S = 1_800_000_000


class GrowingLog:
    """A log in memory, whose every tree can be signed and proved."""

    def __init__(self, leaves: Sequence[bytes] = ()) -> None:
        self.key = SigningKey(bytes(range(32)), since=0)
        self.public = note_key(ORIGIN, self.key.public.raw)
        self._nodes: dict[tuple[int, int], bytes] = {}
        self.leaves = [*leaves, *(b"leaf %d" % number for number in range(len(leaves), 40))]
        self._nodes.update(merkle.appended_nodes(0, map(merkle.leaf_hash, self.leaves), self.node))

    def note(self, size: int) -> SignedNote:
        return sign_tree_head(TreeHead(ORIGIN, size, merkle.root(size, self.node)), self.key)

    def request(self, old: int, size: int) -> bytes:
        return write_request(old, merkle.consistency_path(old, size, self.node), self.note(size))

    def node(self, level: int, index: int) -> bytes:
        return self._nodes[level, index]


LOG = GrowingLog()
FORKED = GrowingLog([b"leaf 0", b"another story"])


def make_witness(directory: Path) -> Witness:
    state = WitnessState(directory)
    return Witness(state.key("witness.example/w1"), [LOG.public], state, lambda: NOW_S)


@pytest.fixture
def witness(tmp_path: Path) -> Witness:
    return make_witness(tmp_path / "witness")


def statuses(witness: Witness, *requests: bytes) -> list[int]:
    return [witness.add_checkpoint(request).status for request in requests]


def test_it_cosigns_a_log_that_grows_and_says_when(witness: Witness) -> None:
    for old, size in ((0, 7), (7, 7), (7, 20)):
        reply = witness.add_checkpoint(LOG.request(old, size))
        assert reply.status == 200
        note = LOG.note(size).joined_by(parse_signatures(reply.body.decode().splitlines()))
        assert find_cosignatures(note, [witness.key.public]) == [(witness.key.public, NOW_S)]


def test_it_names_its_size_to_a_log_that_proves_from_another(witness: Witness) -> None:
    assert statuses(witness, LOG.request(0, 7)) == [200]
    for request in (LOG.request(0, 20), LOG.request(5, 20), LOG.request(5, 6), LOG.request(20, 20)):
        assert witness.add_checkpoint(request) == WitnessReply(409, SIZE_TYPE, b"7\n")


def test_it_never_cosigns_a_second_story_and_keeps_the_evidence(witness: Witness, tmp_path: Path) -> None:
    assert statuses(witness, LOG.request(0, 7)) == [200]
    assert statuses(witness, FORKED.request(7, 7), FORKED.request(7, 20), FORKED.request(0, 7)) == [409, 422, 409]
    cosigned = f"{LOG.note(7)}\n".encode()
    kept = [path.read_bytes() for path in (tmp_path / "witness" / "contradictions").iterdir()]
    assert sorted(kept) == sorted([cosigned + FORKED.request(7, 7), cosigned + FORKED.request(7, 20)])
    assert read_request(kept[0].removeprefix(cosigned)).note.text.startswith(ORIGIN)
    assert statuses(witness, LOG.request(7, 20)) == [200]


def test_wrong_proofs_hide_no_evidence(witness: Witness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "MAX_CONTRADICTIONS", 2)
    assert statuses(witness, LOG.request(0, 7)) == [200]
    wrong = [write_request(7, [bytes([number]) * 32], LOG.note(size)) for size in (8, 9, 10) for number in range(3)]
    assert statuses(witness, *wrong, FORKED.request(7, 7)) == [422] * 9 + [409]
    kept = sorted(path.name[:8] for path in (tmp_path / "witness" / "contradictions").iterdir())
    assert kept == ["no-proof", "no-proof", "two-tree"]


def test_a_witness_that_has_lost_its_memory_does_not_begin_again_with_its_key(tmp_path: Path) -> None:
    make_witness(tmp_path)
    (tmp_path / "cosigned.sqlite").unlink()
    with pytest.raises(ValueError, match="is lost: begin again in an empty directory, with another name"):
        make_witness(tmp_path)


def test_it_knows_a_log_by_origin_and_key_alone(witness: Witness) -> None:
    other = sign_tree_head(TreeHead("other.example/log", 1, bytes(32)), LOG.key)
    stolen = sign_tree_head(TreeHead(ORIGIN, 1, bytes(32)), SigningKey(bytes(32), since=0))
    assert statuses(witness, write_request(0, (), other), write_request(0, (), stolen)) == [404, 403]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"old 0\n" + str(LOG.note(7)).encode(),
        LOG.request(0, 7).replace(b"old 0", b"old 00"),
        LOG.request(0, 7).replace(b"old 0", b"new 0"),
        LOG.request(0, 7).replace(b"old 0", b"old 8"),
        LOG.request(0, 7).replace(b"old 0", b"old 0\nAAAA"),
        LOG.request(0, 7).replace(b"old 0", b"old 0" + b"\n" + b"\n".join([b"A" * 43 + b"="] * 64)),
        LOG.request(0, 7) + b"x" * 200_000,
    ],
)
def test_it_refuses_malformed_requests(witness: Witness, body: bytes) -> None:
    assert witness.add_checkpoint(body).status == 400
    assert statuses(witness, LOG.request(0, 7)) == [200]


def test_a_witness_that_starts_again_has_its_key_and_its_memory(tmp_path: Path) -> None:
    first = make_witness(tmp_path)
    assert statuses(first, LOG.request(0, 20)) == [200]
    again = make_witness(tmp_path)
    assert again.key.public == first.key.public
    assert statuses(again, LOG.request(0, 7), FORKED.request(20, 21)) == [409, 422]


def test_two_processes_at_once_never_roll_each_other_back(tmp_path: Path) -> None:
    witnesses, replies, barrier = [make_witness(tmp_path) for _ in range(2)], [], Barrier(2)
    assert statuses(witnesses[0], LOG.request(0, 7)) == [200]

    def ask(witness: Witness, size: int) -> None:
        barrier.wait()
        replies.append((witness.add_checkpoint(LOG.request(7, size)).status, size))

    threads = [Thread(target=ask, args=each) for each in zip(witnesses, (8, 20), strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(status for status, _ in replies) == [200, 409]
    (cosigned,) = (size for status, size in replies if status == 200)
    assert WitnessState(tmp_path).cosigned()[ORIGIN].size == cosigned
