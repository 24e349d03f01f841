"""Cosignatures of witnesses under tree heads."""

import pytest

from events.proof.documents import DocumentError
from events.proof.notes import NoteSignature, SignedNote, parse_note, parse_vkey
from events.proof.tree_heads import CosigningKey, find_cosignatures
from tests.unit.test_notes import COSIGNED

WITNESS = CosigningKey("witness.example.com/w1", bytes(range(32)))
NOTE = parse_note(COSIGNED)


def test_a_cosignature_says_who_has_seen_the_tree_head_and_when() -> None:
    note = NOTE.joined_by([WITNESS.cosign(NOTE.text, 1_679_315_147)])
    witness = parse_vkey(WITNESS.public.vkey)
    assert find_cosignatures(parse_note(str(note)), [witness]) == [(witness, 1_679_315_147)]


def test_cosignatures_of_others_are_ignored() -> None:
    other = CosigningKey("witness.example.com/w1", bytes(32))
    assert find_cosignatures(NOTE.joined_by([other.cosign(NOTE.text, 1)]), [WITNESS.public]) == []


@pytest.mark.parametrize("part", range(3))
def test_a_forged_cosignature_is_a_fault_with_its_place(part: int) -> None:
    name, key_id, value = WITNESS.cosign(NOTE.text, 1_679_315_147)
    forged = [
        NoteSignature(name, key_id, value[:7] + b"\0" + value[8:]),
        NoteSignature(name, key_id, b"\xff" + value[1:]),
        NoteSignature(name, key_id, value[:-1]),
    ][part]
    with pytest.raises(DocumentError, match=r"signatures\[2\]: it is not the cosignature of witness.example.com/w1"):
        find_cosignatures(SignedNote(NOTE.text, (*NOTE.signatures, forged)), [WITNESS.public])
