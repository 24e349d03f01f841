"""Tree heads (https://c2sp.org/tlog-checkpoint), the text of notes, and cosignatures (c2sp.org/tlog-cosignature)."""

from collections.abc import Iterable
from typing import NamedTuple

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from events.proof.documents import DocumentError
from events.proof.keys import SigningKey
from events.proof.notes import COSIGNATURE, ED25519, NoteKey, NoteSignature, SignedNote, from_base64, to_base64

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
        return f"{self.origin}\n{self.size}\n{to_base64(self.root)}\n"


def parse_tree_head(text: str) -> TreeHead:
    """Return the tree head of a note; raises DocumentError at text, size or root. Extension lines are ignored."""
    lines = text.removesuffix("\n").split("\n")
    if len(lines) < 3 or not all(lines) or not text.endswith("\n"):
        raise DocumentError("text", "a checkpoint has at least the lines origin, size and root, and no empty line")
    origin, digits, packed = lines[:3]
    root = from_base64("root", packed)
    if len(root) != ROOT_BYTES:
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


TIME_BYTES = 8
MAX_TIME_S = (1 << 63) - 1


class Cosignature(NamedTuple):
    """A cosignature that was verified: by which witness, and at which instant (seconds since 1970 UTC)."""

    witness: NoteKey
    time_s: int


class CosigningKey:
    """The private key of a witness; it has no printable form. ``raw`` is 32 bytes, ``name`` that of the witness."""

    def __init__(self, name: str, raw: bytes) -> None:
        self._key = Ed25519PrivateKey.from_private_bytes(raw)
        self.public = NoteKey(name, COSIGNATURE, self._key.public_key().public_bytes_raw())

    def cosign(self, text: str, time_s: int) -> NoteSignature:
        """Return the cosignature, made at ``time_s``, of the tree head that is the ``text`` of a note."""
        value = time_s.to_bytes(TIME_BYTES, "big") + self._key.sign(_message(text, time_s))
        return NoteSignature(self.public.name, self.public.id, value)


def find_cosignatures(note: SignedNote, witnesses: Iterable[NoteKey]) -> list[Cosignature]:
    """Return at most one valid cosignature for each of ``witnesses``; raises DocumentError for a forged one."""
    verified = {}
    for witness in witnesses:
        for number, signature in enumerate(note.signatures):
            if signature.is_of(witness):
                verified[witness] = _verified(note.text, f"signatures[{number}]", signature, witness)
    return list(verified.values())


def _verified(text: str, place: str, signature: NoteSignature, witness: NoteKey) -> Cosignature:
    packed, value = signature.value[:TIME_BYTES], signature.value[TIME_BYTES:]
    time_s = int.from_bytes(packed, "big")
    if witness.type != COSIGNATURE or time_s > MAX_TIME_S or not witness.has_signed(_message(text, time_s), value):
        raise DocumentError(place, f"it is not the cosignature of {witness.name} under the text of this note")
    return Cosignature(witness, time_s)


def _message(text: str, time_s: int) -> bytes:
    return f"cosignature/v1\ntime {time_s}\n{text}".encode()
