"""Tree heads (https://c2sp.org/tlog-checkpoint, 1.0.0): origin, number of leaves and root, as the text of a note."""

import base64
import binascii
from typing import NamedTuple

from events.proof.documents import DocumentError
from events.proof.keys import SigningKey
from events.proof.notes import ED25519, NoteKey, NoteSignature, SignedNote

ROOT_BYTES = 32
MAX_SIZE_DIGITS = 19
"""Sizes are below 2 ** 63."""


class TreeHead(NamedTuple):
    """A log at a size: its ``origin`` line, the number of its leaves, and the root over them, 32 bytes."""

    origin: str
    size: int
    root: bytes

    @property
    def text(self) -> str:
        """The text of the note that states this."""
        return f"{self.origin}\n{self.size}\n{base64.b64encode(self.root).decode()}\n"


def parse_tree_head(text: str) -> TreeHead:
    """Return what a note states; raises DocumentError at text, size or root. Extension lines are ignored."""
    lines = text.removesuffix("\n").split("\n")
    if len(lines) < 3 or not all(lines) or not text.endswith("\n"):
        raise DocumentError("text", "a checkpoint has at least the lines origin, size and root, and no empty line")
    origin, digits, packed = lines[:3]
    try:
        root = base64.b64decode(packed.encode("ascii", "replace"), validate=True)
    except binascii.Error:
        root = b""
    if len(root) != ROOT_BYTES or base64.b64encode(root).decode() != packed:
        raise DocumentError("root", f"{packed!r:.80} is not the base64 of 32 bytes")
    return TreeHead(origin, parse_size(digits), root)


def parse_size(digits: str) -> int:
    """Return the size of a tree written as decimal digits without leading zeros; raises DocumentError."""
    if not (digits.isascii() and digits.isdigit()) or str(number := int(digits[: MAX_SIZE_DIGITS + 1])) != digits:
        raise DocumentError("size", f"{digits!r:.40} is no number of leaves")
    if number >= 1 << 63:
        raise DocumentError("size", f"{digits!r:.40} is larger than any log")
    return number


def note_key(origin: str, public: bytes) -> NoteKey:
    """Return the key with which the log ``origin`` signs its tree heads, given the 32 bytes of its public key."""
    return NoteKey(origin, ED25519, public)


def sign_tree_head(head: TreeHead, key: SigningKey) -> SignedNote:
    """Return the note of ``head``, signed by the log's ``key``."""
    signer = note_key(head.origin, key.public.raw)
    return SignedNote(head.text, (NoteSignature(signer.name, signer.id, key.sign_note(head.text.encode())),))
