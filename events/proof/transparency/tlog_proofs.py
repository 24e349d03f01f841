"""Proofs that a match is in the log, as one text (https://c2sp.org/tlog-proof, version 1).

The entry follows from the extra data, the canonical JSON of digest, match and version, which nobody signs.
"""

from typing import NamedTuple

from events.proof.checkpoints import Inclusion, match_head
from events.proof.notes import SignedNote, parse_note, to_base64

FIRST_LINE = "c2sp.org/tlog-proof@v1"


class TlogProof(NamedTuple):
    """A proof as it is read: index of the leaf, audit path, note of the tree, and the extra data if there is any."""

    leaf: int
    path: tuple[bytes, ...]
    note: SignedNote
    extra: bytes | None = None

    def __str__(self) -> str:
        extra = [] if self.extra is None else [f"extra {to_base64(self.extra)}"]
        lines = [FIRST_LINE, *extra, f"index {self.leaf}", *map(to_base64, self.path)]
        return "\n".join(lines) + f"\n\n{self.note}"


def tlog_proof_of(inclusion: Inclusion, match_id: str, digest: str) -> TlogProof | None:
    """Return the proof that ``inclusion`` is of the head of a match; None where no note of that tree is known."""
    if inclusion.note is None:
        return None
    head = match_head(match_id, inclusion.version, digest)
    path = tuple(bytes.fromhex(node) for node in inclusion.path)
    return TlogProof(inclusion.leaf, path, parse_note(inclusion.note), head)
