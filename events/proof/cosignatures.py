"""Cosignatures of witnesses (https://c2sp.org/tlog-cosignature, cosignature/v1): no other story was shown to them."""

from collections.abc import Iterable
from typing import NamedTuple

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from events.proof.documents import DocumentError
from events.proof.notes import COSIGNATURE, NoteKey, NoteSignature, SignedNote

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
    found = {}
    for witness in witnesses:
        for number, signature in enumerate(note.signatures):
            if signature.is_of(witness):
                found[witness] = _verified(note.text, f"signatures[{number}]", signature, witness)
    return list(found.values())


def _verified(text: str, place: str, signature: NoteSignature, witness: NoteKey) -> Cosignature:
    packed, value = signature.value[:TIME_BYTES], signature.value[TIME_BYTES:]
    time_s = int.from_bytes(packed, "big")
    if witness.type != COSIGNATURE or time_s > MAX_TIME_S or not witness.has_signed(_message(text, time_s), value):
        raise DocumentError(place, f"it is not the cosignature of {witness.name} under the text of this note")
    return Cosignature(witness, time_s)


def _message(text: str, time_s: int) -> bytes:
    return f"cosignature/v1\ntime {time_s}\n{text}".encode()
