"""The vectors of docs/proof/log.md: ``python -m tests.support.log_vectors`` writes them again."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from events.proof import merkle
from events.proof.checkpoints import leaf_of
from events.proof.documents import DocumentError
from events.proof.keys import SigningKey
from events.proof.leaves import AdministrationLeaf, KeyLeaf, Leaf, MatchLeaf, RevocationLeaf
from events.proof.tree_heads import TreeHead, sign_tree_head
from events.transparency.tlog_proofs import TlogProof, read_tlog_proof

DIRECTORY = Path(__file__).parents[2] / "docs" / "proof" / "vectors" / "log"
STEP = "tlog-proof"
INSTANT = 1_700_000_000_000
KEY = SigningKey(hashlib.sha256(b"the key of the vectors of the log").digest(), INSTANT)
DIGEST = hashlib.sha256(b"an event").hexdigest()

LEAVES: dict[str, Leaf] = {
    "a-match": MatchLeaf("k3x9", 17, DIGEST),
    "a-match-in-form-1": MatchLeaf("k3x9", 17, DIGEST, form=1),
    "the-log-of-administration": AdministrationLeaf(5, DIGEST),
    "a-key": KeyLeaf(KEY.id, "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo", INSTANT),
    "a-revocation": RevocationLeaf(KEY.id, INSTANT),
}


def vectors() -> Iterator[dict[str, Any]]:
    """Yield the vectors: of leaves, and of proofs, good and bad."""
    for name, leaf in LEAVES.items():
        given: dict[str, Any] = {"leaf": leaf.entry.decode()}
        if isinstance(leaf, MatchLeaf):
            head = leaf_of(leaf.match, leaf.version, leaf.digest).decode()
            given |= {"form": leaf.form, "head": head}
        yield {"name": name, "given": given, "expect": {"hash": merkle.leaf_hash(leaf.entry).hex()}}
    proof = _proof()
    text = str(proof)
    for name, changed, form, place in (
        ("a-proof", text, 2, None),
        ("a-proof-of-another-form", text, 1, "path"),
        ("a-proof-of-another-match", str(proof._replace(extra=leaf_of("other", 17, DIGEST))), 2, "path"),
        ("a-proof-of-another-leaf", str(proof._replace(leaf=3)), 2, "path"),
        ("a-proof-without-a-node", str(proof._replace(path=proof.path[1:])), 2, "path"),
        ("a-proof-with-a-node-too-many", str(proof._replace(path=(*proof.path, bytes(32)))), 2, "path"),
        ("a-proof-with-a-short-node", str(proof._replace(path=(proof.path[0], b"short"))), 2, "path[1]"),
        ("a-proof-of-another-version", text.replace("proof@v1", "proof@v2"), 2, ""),
        ("a-proof-without-an-index", text.replace("index 2\n", ""), 2, "index"),
        ("a-proof-with-a-leading-zero", text.replace("index 2", "index 02"), 2, "index"),
        ("a-proof-with-a-bad-extra", text.replace("extra ", "extra ="), 2, "extra"),
        ("a-proof-without-a-note", text.partition("\n\n")[0], 2, "note"),
    ):
        expected = {"proved": [STEP]} if place is None else {"fault": {"step": STEP, "place": place}}
        yield {"name": name, "given": {"proof": changed, "form": form}, "expect": expected}


def judged(given: dict[str, Any]) -> dict[str, Any]:
    """Return what the product finds in what a vector gives."""
    if "leaf" in given:
        return {"hash": merkle.leaf_hash(given["leaf"].encode()).hex()}
    try:
        proof = read_tlog_proof(given["proof"])
        head = json.loads(proof.extra or b"")
        proof.check(leaf_of(head["match"], head["version"], head["digest"], given["form"]))
    except DocumentError as fault:
        return {"fault": {"step": STEP, "place": fault.place}}
    return {"proved": [STEP]}


def write_vectors(directory: Path = DIRECTORY) -> None:
    """Write each vector into a file of its name."""
    directory.mkdir(parents=True, exist_ok=True)
    for each in vectors():
        text = json.dumps(each, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
        (directory / f"{each['name']}.json").write_text(text)


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
    return TlogProof(2, path, sign_tree_head(head, KEY), leaf_of("k3x9", 17, DIGEST))


def _unread(level: int, index: int) -> bytes:
    raise AssertionError(f"a tree that begins empty does not read node {index} of level {level}")


if __name__ == "__main__":
    write_vectors()
