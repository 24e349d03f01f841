"""Signed notes, cosignatures under them, and policies of who must have signed: on published examples, and refused."""

import json
from pathlib import Path

import pytest

from events.proof.documents import DocumentError
from events.proof.keys import SigningKey
from events.proof.notes import NoteKey, NoteSignature, parse_note, parse_vkey
from events.proof.policies import parse_policy
from events.proof.tree_heads import CosigningKey, TreeHead, note_key, parse_tree_head, sign_tree_head
from tests.support.tables import table
from tests.unit.test_witnessing import LOG

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
        *table(__file__, "a malformed note is refused with the place"),
        (GO_NOTE[:-1], "does not end with a line feed"),
        (b"\xff\n\n", "byte 1 is not UTF-8"),
        ("text\n\n" + "— name AAAAAAAAAAA=\n" * 101, "at most 100 signatures"),
        ("x" * 200_000, "at most 131,072 bytes"),
    ],
)
def test_a_malformed_note_is_refused_with_the_place(note: str | bytes, reason: str) -> None:
    with pytest.raises(DocumentError, match=reason):
        parse_note(note)


@pytest.mark.parametrize(("vkey", "reason"), table(__file__, "a malformed verifier key is refused"))
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


KEYS = {name: CosigningKey(f"{name}.example/w", bytes([number] * 32)) for number, name in enumerate("abcd", 1)}
WITNESSES = "".join(f"witness {name} {key.public.vkey} https://{name}.example\n" for name, key in KEYS.items())
POLICY = f"""# whom we trust
log {LOG.public.vkey}

{WITNESSES}
group\tXs 2 a b c
  group both all Xs d
quorum both
"""
NOTE = LOG.note(7)


def cosigned_by(names: str) -> str:
    return str(NOTE.joined_by(KEYS[name].cosign(NOTE.text, 1_800_000_000) for name in names))


@pytest.mark.parametrize(("names", "enough"), [("", False), ("abc", False), ("ad", False), ("acd", True)])
def test_a_quorum_of_groups_must_have_cosigned(names: str, enough: bool) -> None:
    words, proved = parse_policy(POLICY.encode()).judge(cosigned_by(names))
    assert proved == enough
    assert ("that is not the quorum both" in words) != enough
    assert all(f"{name} at 2027-01-15T08:00:00" in words for name in names)


def test_a_policy_may_ask_for_no_cosignature_but_not_for_no_log() -> None:
    words, proved = parse_policy(f"log {LOG.public.vkey}\nquorum none\n".encode()).judge(str(NOTE))
    assert proved, words
    words, proved = parse_policy(f"{WITNESSES}quorum a".encode()).judge(cosigned_by("a"))
    assert (proved, "names no log" in words) == (False, True)
    assert parse_policy(POLICY.encode()).judge(None) == (
        "the bundle has no note that a witness could have cosigned",
        False,
    )


def test_forged_signatures_are_faults_even_where_there_are_enough_others() -> None:
    policy = parse_policy(POLICY.encode())
    forged = NoteSignature(*KEYS["b"].cosign(NOTE.text, 1)[:2], bytes(72))
    with pytest.raises(DocumentError, match=r"signatures\[4\]: it is not the cosignature of b.example/w"):
        policy.judge(str(NOTE.joined_by([KEYS[name].cosign(NOTE.text, 1) for name in "acd"] + [forged])))
    with pytest.raises(DocumentError, match=r"it is not the signature of club\.example/rookery"):
        policy.judge(cosigned_by("acd").replace("\n7\n", "\n8\n"))


@pytest.mark.parametrize(
    ("policy", "reason"),
    [
        *table(__file__, "a malformed policy is refused with its line"),
        (f"log {KEYS['a'].public.vkey}\n", "line 1: the key is not that of a log"),
        (f"witness a {LOG.public.vkey}\n", "line 1: the key is not that of a witness"),
        (f"log {LOG.public.vkey}\n" * 2, "line 2: the key of club.example/rookery stands twice"),
        (f"{WITNESSES}{WITNESSES}", "line 5: the name 'a' is taken"),
        (f"witness none {KEYS['a'].public.vkey}\n", "line 1: the name 'none' is taken"),
        (f"{WITNESSES}group g 3 a b\n", "line 5: '3' is no threshold"),
        (f"{WITNESSES}group g any\n", "line 5: it has too few"),
        (f"{WITNESSES}group g any a a\n", "line 5: 'a' is a member of a group already"),
        (f"{WITNESSES}group g any h\n", "line 5: 'h' is not defined above"),
        ("#" * 70_000, "at most 65,536 bytes"),
    ],
)
def test_a_malformed_policy_is_refused_with_its_line(policy: str, reason: str) -> None:
    with pytest.raises(DocumentError, match=reason):
        parse_policy(policy.encode())


VECTORS = sorted((Path(__file__).parents[2] / "docs/proof/vectors/witnesses").glob("*.json"))


@pytest.mark.parametrize("path", VECTORS, ids=lambda path: path.stem)
def test_published_vectors_are_judged_as_they_say(path: Path) -> None:
    vector = json.loads(path.read_text())
    try:
        _, proved = parse_policy(vector["given"]["policy"].encode()).judge(vector["given"]["note"])
    except DocumentError:
        assert vector["expect"]["fault"] == {"step": "cosigned", "place": "inclusion.note"}
    else:
        assert vector["expect"] == {"proved": ["cosigned"] * proved, "fault": None}
