"""Proofs that a match is in the log, read and checked as strangers do."""

from events.proof import merkle
from events.proof.documents import DocumentError
from events.proof.notes import from_base64, parse_note
from events.proof.transparency.tlog_proofs import FIRST_LINE, TlogProof
from events.proof.tree_heads import parse_size, parse_tree_head

MAX_PATH_NODES = 63


def read_tlog_proof(text: str) -> TlogProof:
    """Return the proof that ``text`` is; raises DocumentError with the place of the first fault."""
    proof, separator, note = text.partition("\n\n")
    lines = proof.split("\n")
    if lines[0] != FIRST_LINE:
        raise DocumentError("", f"the first line is not {FIRST_LINE}")
    extra = None
    if len(lines) > 1 and lines[1].startswith("extra "):
        extra = from_base64("extra", lines.pop(1).removeprefix("extra "))
    if len(lines) < 2 or not lines[1].startswith("index "):
        raise DocumentError("index", "the line with the index is missing")
    if not separator:
        raise DocumentError("note", "there is no empty line before the checkpoint")
    try:
        index = parse_size(lines[1].removeprefix("index "))
    except DocumentError as fault:
        raise DocumentError("index", fault.reason) from None
    nodes = lines[2:]
    if len(nodes) > MAX_PATH_NODES:
        raise DocumentError("path", f"a path has at most {MAX_PATH_NODES} hashes")
    path = tuple(from_base64(f"path[{number}]", line) for number, line in enumerate(nodes))
    for number, node in enumerate(path):
        if len(node) != len(merkle.EMPTY_ROOT):
            raise DocumentError(f"path[{number}]", "it is no hash of 32 bytes")
    return TlogProof(index, path, parse_note(note), extra)


def check_tlog_proof(proof: TlogProof, entry: bytes) -> None:
    """Raise DocumentError unless the path leads from ``entry`` to the root of the note. Signers are not checked."""
    head = parse_tree_head(proof.note.text)
    if merkle.root_from_inclusion(merkle.leaf_hash(entry), proof.leaf, head.size, proof.path) != head.root:
        raise DocumentError("path", "it does not lead from the entry to the root of the checkpoint")
