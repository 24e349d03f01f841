"""Signed notes and tree heads, on the examples that C2SP, Go's sumdb and litewitness have published."""

import pytest

from events.proof.documents import DocumentError
from events.proof.keys import SigningKey
from events.proof.notes import NoteKey, NoteSignature, parse_note, parse_vkey
from events.proof.tree_heads import TreeHead, note_key, parse_tree_head, sign_tree_head

# From the documentation of golang.org/x/mod/sumdb/note.
NEUMANN = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
GO_NOTE = (
    "If you think cryptography is the answer to your problem,\n"
    "then you don't know what your problem is.\n"
    "\n"
    "— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n"
)
# The example of https://c2sp.org/tlog-cosignature.
COSIGNED = """example.com/behind-the-sofa
20852163
CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=

— example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=
— witness.example.com/w1 jWbPPwAAAABkGFDLEZMHwSRaJNiIDoe9DYn/zXcrtPHeolMI5OWXEhZCB9dlrDJsX3b2oyin1nPZqhf5nNo0xUe+mbIUBkBIfZ+qnA==
"""  # noqa: E501 (published in this form)
# From the tests of litewitness: a log of sigsum, and its public key.
SIGSUM_KEY = bytes.fromhex("52c05edad1bf5feffa81354faae59a655d9a9a1a793ed2f62c39c26c0be2aecd")
SIGSUM = """sigsum.org/v1/tree/985ea163f5af026723561354f51f2ebcdcf2af809ce254ccfb64aa9aadd80f90
1
KgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=

— sigsum.org/v1/tree/985ea163f5af026723561354f51f2ebcdcf2af809ce254ccfb64aa9aadd80f90 7BKT0gOfNZ1J0So9unY3BZtm2YkPIoNYM/dce0Z2avJDs8dxN6ts9bOSwwrVrbjm6P9K3ZxpK6jJngOG6YvGGzV/lwo=
"""  # noqa: E501


def test_the_examples_of_others_verify_and_are_written_as_they_were() -> None:
    key = parse_vkey(NEUMANN)
    assert (key.name, key.id.hex(), key.vkey) == ("PeterNeumann", "c74f20a3", NEUMANN)
    parse_note(GO_NOTE).check(key)
    sigsum = parse_note(SIGSUM)
    head = parse_tree_head(sigsum.text)
    assert (head.size, head.root) == (1, bytes([42]) + bytes(31))
    sigsum.check(note_key(head.origin, SIGSUM_KEY))
    for example in (GO_NOTE, COSIGNED, SIGSUM):
        assert str(parse_note(example.encode())) == example


def test_a_cosigned_checkpoint_states_origin_size_and_root() -> None:
    note = parse_note(COSIGNED)
    head = parse_tree_head(note.text)
    assert head[:2] == ("example.com/behind-the-sofa", 20852163)
    assert head.text == note.text
    assert [signature.name for signature in note.signatures] == [head.origin, "witness.example.com/w1"]
    assert note.joined_by(note.signatures[1:]) == note


def test_our_key_signs_tree_heads_that_verify() -> None:
    key = SigningKey(bytes(range(32)), since=0)
    head = TreeHead("rookery.example.org/rookery", 0, bytes(32))
    note = sign_tree_head(head, key)
    assert parse_note(str(note)) == note
    note.check(parse_vkey(note_key(head.origin, key.public.raw).vkey))
    assert parse_tree_head(note.text) == head


def test_a_signature_counts_only_under_its_text_and_of_its_key() -> None:
    key = parse_vkey(NEUMANN)
    with pytest.raises(DocumentError, match=r"signatures\[0\]: it is not the signature of PeterNeumann"):
        parse_note(GO_NOTE.replace("answer", "Answer")).check(key)
    with pytest.raises(DocumentError, match="it is not signed by somebody-else"):
        parse_note(GO_NOTE).check(NoteKey("somebody-else", *key[1:]))
    unknown = NoteSignature("somebody-else", bytes(4), bytes(64))
    parse_note(str(parse_note(GO_NOTE).joined_by([unknown]))).check(key)


@pytest.mark.parametrize(
    ("note", "reason"),
    [
        ("text\n", "no empty line"),
        ("text\n\n", "does not end with a line feed"),
        (GO_NOTE[:-1], "does not end with a line feed"),
        (GO_NOTE + "\n", "does not end with a line feed"),
        ("te\txt\n\n— name aaaaaaa=\n", "byte 3 is a control character"),
        (b"\xff\n\n", "byte 1 is not UTF-8"),
        ("\ud800\n\n", "byte 1 is not UTF-8"),
        ("text\n\n- name aaaaaaaaaaa=\n", r"signatures\[0\]: a signature begins with an em dash"),
        ("text\n\n— name aaaa=\n", r"signatures\[0\]: 'aaaa=' is not base64"),
        ("text\n\n— name AAAAAAAAAAB=\n", "is not base64"),
        ("text\n\n— name AAAAAA==\n", "four bytes of a key id"),
        ("text\n\n—  AAAAAAAAAAA=\n", "no name of a key"),
        ("text\n\n— a+b AAAAAAAAAAA=\n", "no name of a key"),
        ("text\n\n" + "— name AAAAAAAAAAA=\n" * 101, "at most 100 signatures"),
        ("x" * 200_000, "at most 131,072 bytes"),
    ],
)
def test_a_malformed_note_is_refused_with_the_place(note: str | bytes, reason: str) -> None:
    with pytest.raises(DocumentError, match=reason):
        parse_note(note)


@pytest.mark.parametrize(
    ("vkey", "reason"),
    [
        ("PeterNeumann", "is no verifier key"),
        (NEUMANN.replace("c74f20a3", "c74f20a4"), "this key has the id c74f20a3"),
        ("Peter Neumann" + NEUMANN[12:], "no name of a key"),
        ("Peter\udcff" + NEUMANN[5:], "is not UTF-8"),
        (NEUMANN[:-4], "it is no Ed25519 key"),
        (NEUMANN.replace("+ARpc", "+Bhpc"), "it is no Ed25519 key"),
        (NEUMANN + "!", "is not base64"),
    ],
)
def test_a_malformed_verifier_key_is_refused(vkey: str, reason: str) -> None:
    with pytest.raises(DocumentError, match=reason):
        parse_vkey(vkey)


@pytest.mark.parametrize(
    "text",
    ["", "origin\n1\n", "origin\n01\n{root}\n", "origin\n-1\n{root}\n", "origin\n٣\n{root}\n", "\n1\n{root}\n",
     "origin\n1\nAAAA\n", "origin\n1\n{root}", "origin\n9223372036854775808\n{root}\n", "origin\n1\n{root}\n\nmore\n"],
)  # fmt: skip
def test_a_malformed_tree_head_is_refused(text: str) -> None:
    with pytest.raises(DocumentError):
        parse_tree_head(text.format(root="CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I="))
