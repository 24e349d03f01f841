"""The request for a cosignature (C2SP tlog-witness 1.0.0): old size, proof lines, an empty line, the note."""

from collections.abc import Sequence
from typing import NamedTuple

from events.proof.documents import DocumentError
from events.proof.notes import MAX_NOTE_BYTES, SignedNote, from_base64, parse_note, to_base64
from events.proof.tree_heads import parse_size

MAX_PROOF_LINES = 63
NODE_BYTES = 32
MAX_REQUEST_BYTES = MAX_NOTE_BYTES + 4_096
PATH = "/add-checkpoint"
SIZE_TYPE = "text/x.tlog.size"
"""The content type of an answer that names the size of the tree head that the witness has cosigned last."""


class AddCheckpoint(NamedTuple):
    """A request: the ``note`` of a tree head, and the ``proof`` that it extends the tree of ``old_size`` leaves."""

    old_size: int
    proof: tuple[bytes, ...]
    note: SignedNote


def write_request(old_size: int, proof: Sequence[bytes], note: SignedNote) -> bytes:
    """Return the body of a request."""
    lines = "".join(f"{to_base64(node)}\n" for node in proof)
    return f"old {old_size}\n{lines}\n{note}".encode()


def read_request(body: bytes) -> AddCheckpoint:
    """Return the request in a body; raises DocumentError with the first fault."""
    if len(body) > MAX_REQUEST_BYTES:
        raise DocumentError("", f"a request has at most {MAX_REQUEST_BYTES:,} bytes")
    head, separator, note = body.partition(b"\n\n")
    if not separator:
        raise DocumentError("", "there is no empty line before the checkpoint")
    first, *lines = head.decode("ascii", "replace").split("\n")
    if not first.startswith("old "):
        raise DocumentError("old", "the first line has the form: old SIZE")
    if len(lines) > MAX_PROOF_LINES:
        raise DocumentError("proof", f"a proof has at most {MAX_PROOF_LINES} lines")
    old_size = parse_size(first.removeprefix("old "))
    return AddCheckpoint(old_size, tuple(_node(number, line) for number, line in enumerate(lines)), parse_note(note))


def _node(number: int, line: str) -> bytes:
    node = from_base64(f"proof[{number}]", line)
    if len(node) != NODE_BYTES:
        raise DocumentError(f"proof[{number}]", f"{line!r:.60} is not the base64 of {NODE_BYTES} bytes")
    return node
