"""The vectors of docs/proof/log.md."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from events.proof import merkle
from events.proof.checkpoints import match_head
from events.proof.documents import DocumentError
from events.proof.keys import SigningKey
from events.proof.leaves import AdministrationLeaf, KeyLeaf, Leaf, MatchLeaf, RevocationLeaf
from events.proof.notes import NoteSignature, parse_vkey
from events.proof.policies import NO_QUORUM, Policy
from events.proof.transparency.tlog_proofs import TlogProof
from events.proof.tree_heads import TreeHead, note_key, sign_tree_head
from tests.support.tlog_proofs import check_tlog_proof, read_tlog_proof

DIRECTORY = Path(__file__).parents[2] / "docs" / "proof" / "vectors" / "log"
STEP = "tlog-proof"
INSTANT = 1_700_000_000_000
KEY = SigningKey(hashlib.sha256(b"the key of the vectors of the log").digest(), INSTANT)
OTHER = bytes.fromhex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")
"""A public key that has signed nothing here (RFC 8032, 7.1)."""

DIGEST = hashlib.sha256(b"an event").hexdigest()

LEAVES: dict[str, Leaf] = {
    "a-match": MatchLeaf("k3x9", 17, DIGEST),
    "the-log-of-administration": AdministrationLeaf(5, DIGEST),
    "a-key": KeyLeaf(KEY.id, "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo", INSTANT),
    "a-revocation": RevocationLeaf(KEY.id, INSTANT),
}


def vectors() -> Iterator[dict[str, Any]]:
    """Yield the vectors: of leaves, and of proofs, good and bad."""
    for name, leaf in LEAVES.items():
        given: dict[str, Any] = {"leaf": leaf.entry.decode()}
        if isinstance(leaf, MatchLeaf):
            given |= {"head": leaf.stored.decode()}
        yield {"name": name, "given": given, "expect": {"hash": merkle.leaf_hash(leaf.entry).hex()}}
    proof = _proof()
    text = str(proof)
    for name, changed, place in (
        ("a-proof", text, None),
        ("a-proof-of-another-match", str(proof._replace(extra=match_head("other", 17, DIGEST))), "path"),
        ("a-proof-of-another-leaf", str(proof._replace(leaf=3)), "path"),
        ("a-proof-without-a-node", str(proof._replace(path=proof.path[1:])), "path"),
        ("a-proof-with-a-node-too-many", str(proof._replace(path=(*proof.path, bytes(32)))), "path"),
        ("a-proof-with-a-short-node", str(proof._replace(path=(proof.path[0], b"short"))), "path[1]"),
        ("a-proof-of-another-version", text.replace("proof@v1", "proof@v2"), ""),
        ("a-proof-without-an-index", text.replace("index 2\n", ""), "index"),
        ("a-proof-with-a-leading-zero", text.replace("index 2", "index 02"), "index"),
        ("a-proof-with-a-bad-extra", text.replace("extra ", "extra ="), "extra"),
        ("a-proof-without-a-note", text.partition("\n\n")[0], "note"),
    ):
        expected = {"proved": [STEP]} if place is None else {"fault": {"step": STEP, "place": place}}
        yield {"name": name, "given": {"proof": changed}, "expect": expected}
    head = (proof.extra or b"").decode()
    bare = str(proof._replace(extra=None))
    yield {"name": "a-proof-without-an-extra", "given": {"proof": bare, "head": head}, "expect": {"proved": [STEP]}}
    log, other = note_key(proof.note.text.split("\n")[0], KEY.public.raw), note_key("other.example", KEY.public.raw)
    forged = f"{text}{NoteSignature(log.name, log.id, bytes(64)).line}"
    for name, given, place in (
        ("a-proof-that-the-log-has-signed", {"proof": text, "vkey": log.vkey}, None),
        ("a-proof-of-another-log", {"proof": text, "vkey": other.vkey}, "text"),
        ("a-proof-that-another-key-has-signed", {"proof": text, "vkey": log._replace(raw=OTHER).vkey}, "signatures"),
        ("a-proof-with-a-second-forged-signature", {"proof": forged, "vkey": log.vkey}, "signatures[1]"),
    ):
        expected = {"proved": [STEP]} if place is None else {"fault": {"step": STEP, "place": place}}
        yield {"name": name, "given": given, "expect": expected}


def judged(given: dict[str, Any]) -> dict[str, Any]:
    """Return what the product finds in what a vector gives."""
    if "leaf" in given:
        return {"hash": merkle.leaf_hash(given["leaf"].encode()).hex()}
    try:
        proof = read_tlog_proof(given["proof"])
        head = json.loads(proof.extra or given["head"])
        check_tlog_proof(proof, MatchLeaf(head["match"], head["version"], head["digest"]).entry)
        if "vkey" in given:
            Policy((parse_vkey(given["vkey"]),), {}, {}, NO_QUORUM).check_log(proof.note)
    except DocumentError as fault:
        return {"fault": {"step": STEP, "place": fault.place}}
    return {"proved": [STEP]}


def files() -> Iterator[tuple[Path, str]]:
    for each in vectors():
        yield DIRECTORY / f"{each['name']}.json", json.dumps(each, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def _proof() -> TlogProof:
    entries = [leaf.entry for leaf in (AdministrationLeaf(1, DIGEST), RevocationLeaf("key", 1))]
    entries += [
        MatchLeaf("k3x9", 17, DIGEST).entry,
        MatchLeaf("other", 1, DIGEST).entry,
        AdministrationLeaf(2, DIGEST).entry,
    ]
    nodes = merkle.appended_nodes(0, map(merkle.leaf_hash, entries), _unread)

    def node(level: int, index: int) -> bytes:
        return nodes[level, index]

    head = TreeHead("rookery.example/rookery", len(entries), merkle.root(len(entries), node))
    path = tuple(merkle.inclusion_path(2, len(entries), node))
    return TlogProof(2, path, sign_tree_head(head, KEY), match_head("k3x9", 17, DIGEST))


def _unread(level: int, index: int) -> bytes:
    raise AssertionError(f"a tree that begins empty does not read node {index} of level {level}")
