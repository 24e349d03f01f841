"""Policies: who must have signed and cosigned a tree head."""

import json
from pathlib import Path

import pytest

from events.proof.documents import DocumentError
from events.proof.notes import NoteSignature
from events.proof.policies import parse_policy
from events.proof.tree_heads import CosigningKey
from tests.unit.test_witnessing import LOG

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
        ("", "there is no quorum"),
        ("quorum a\n", "line 1: 'a' is not defined above"),
        ("quorum none\nquorum none\n", "line 2: there is a quorum already"),
        ("trust everyone\n", "line 1: 'trust' is none of log, witness, group, quorum"),
        ("quorum\n", "line 1: it has too few or too many words"),
        ("# \x01\n", "line 1: it has a control character"),
        (f"log {KEYS['a'].public.vkey}\n", "line 1: the key is not that of a log"),
        (f"witness a {LOG.public.vkey}\n", "line 1: the key is not that of a witness"),
        ("log vkey\n", "line 1: 'vkey' is no verifier key"),
        (f"log {LOG.public.vkey}\n" * 2, "line 2: the key of club.example/rookery stands twice"),
        (f"{WITNESSES}{WITNESSES}", "line 5: the name 'a' is taken"),
        (f"witness none {KEYS['a'].public.vkey}\n", "line 1: the name 'none' is taken"),
        (f"{WITNESSES}group g 3 a b\n", "line 5: '3' is no threshold"),
        (f"{WITNESSES}group g any\n", "line 5: it has too few"),
        (f"{WITNESSES}group g any a a\n", "line 5: 'a' is a member of a group already"),
        (f"{WITNESSES}group g any h\n", "line 5: 'h' is not defined above"),
        ("#" * 70_000, "at most 65,536 bytes"),
    ],
)  # fmt: skip
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
