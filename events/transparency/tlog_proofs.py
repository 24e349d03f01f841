"""Proofs that a match is in the log, as one text (https://c2sp.org/tlog-proof, version 1).

The entry follows from the extra data, the canonical JSON of digest, match and version, which nobody signs.
"""

import base64
import binascii
from typing import NamedTuple

from events.proof import merkle
from events.proof.checkpoints import Inclusion, match_head
from events.proof.documents import DocumentError
from events.proof.notes import SignedNote, parse_note
from events.proof.tree_heads import parse_size, parse_tree_head

FIRST_LINE = "c2sp.org/tlog-proof@v1"
MAX_PATH_NODES = 63


class TlogProof(NamedTuple):
    """A proof as it is read: index of the leaf, audit path, note of the tree, and the extra data if there is any."""

    leaf: int
    path: tuple[bytes, ...]
    note: SignedNote
    extra: bytes | None = None

    def __str__(self) -> str:
        extra = [] if self.extra is None else [f"extra {_base64(self.extra)}"]
        lines = [FIRST_LINE, *extra, f"index {self.leaf}", *map(_base64, self.path)]
        return "\n".join(lines) + f"\n\n{self.note}"

    def check(self, entry: bytes) -> None:
        """Raise DocumentError unless the path leads from ``entry`` to the root of the note. Signers are not checked."""
        head = parse_tree_head(self.note.text)
        if merkle.root_from_inclusion(merkle.leaf_hash(entry), self.leaf, head.size, self.path) != head.root:
            raise DocumentError("path", "it does not lead from the entry to the root of the checkpoint")


def tlog_proof_of(inclusion: Inclusion, match_id: str, digest: str) -> TlogProof | None:
    """Return the proof that ``inclusion`` is of the head of a match; None where no note of that tree is known."""
    if inclusion.note is None:
        return None
    head = match_head(match_id, inclusion.version, digest)
    path = tuple(bytes.fromhex(node) for node in inclusion.path)
    return TlogProof(inclusion.leaf, path, parse_note(inclusion.note), head)


def read_tlog_proof(text: str) -> TlogProof:
    """Return the proof that ``text`` is; raises DocumentError with the place of the first fault."""
    proof, separator, note = text.partition("\n\n")
    lines = proof.split("\n")
    if lines[0] != FIRST_LINE:
        raise DocumentError("", f"the first line is not {FIRST_LINE}")
    extra = None
    if len(lines) > 1 and lines[1].startswith("extra "):
        extra = _from_base64("extra", lines.pop(1).removeprefix("extra "))
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
    path = tuple(_from_base64(f"path[{number}]", line) for number, line in enumerate(nodes))
    for number, node in enumerate(path):
        if len(node) != len(merkle.EMPTY_ROOT):
            raise DocumentError(f"path[{number}]", "it is no hash of 32 bytes")
    return TlogProof(index, path, parse_note(note), extra)


def _base64(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


def _from_base64(place: str, text: str) -> bytes:
    try:
        raw = base64.b64decode(text.encode("ascii", "replace"), validate=True)
    except binascii.Error:
        raw = None
    if raw is None or _base64(raw) != text:
        raise DocumentError(place, f"{text!r:.80} is not base64")
    return raw
