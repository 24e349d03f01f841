"""Signed notes (https://c2sp.org/signed-note, 1.0.0): a text and lines of signatures.

A ``vkey`` is ``name+key id+base64(type, public key)``; key ids only find the key of a signature.
"""

import base64
import binascii
import hashlib
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from events.proof.documents import DocumentError
from events.proof.public_keys import is_public_key, is_signed

ED25519 = 0x01
"""The type of keys whose signatures are over the text of a note."""

COSIGNATURE = 0x04
"""The type of keys of witnesses (``events.proof.tree_heads``)."""

MAX_NOTE_BYTES = 131_072
MAX_SIGNATURES = 100
MAX_VKEY_LETTERS = 500
KEY_ID_BYTES = 4
_SIGNATURE_BEGIN = "— "
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f]")
_NO_NAME = re.compile(r"[\s+]")


class NoteKey(NamedTuple):
    """An Ed25519 key that signs notes: its ``name``, its ``type`` (ED25519 or COSIGNATURE), and its 32 bytes."""

    name: str
    type: int
    raw: bytes

    @property
    def id(self) -> bytes:
        """The id that signatures name: 4 bytes."""
        return hashlib.sha256(self.name.encode() + b"\n" + bytes([self.type]) + self.raw).digest()[:KEY_ID_BYTES]

    @property
    def vkey(self) -> str:
        """The key as text, for those who verify."""
        return f"{self.name}+{self.id.hex()}+{to_base64(bytes([self.type]) + self.raw)}"

    def has_signed(self, message: bytes, signature: bytes) -> bool:
        """Return whether the 64 bytes ``signature`` are the Ed25519 signature of ``message`` by this key."""
        return is_signed(self.raw, signature, message)


class NoteSignature(NamedTuple):
    """A signature of a note: the name and the id (4 bytes) of the key, and the bytes that it has made."""

    name: str
    key_id: bytes
    value: bytes

    @property
    def line(self) -> str:
        """The line that this is in a note, with its line feed."""
        return f"{_SIGNATURE_BEGIN}{self.name} {to_base64(self.key_id + self.value)}\n"

    def is_of(self, key: NoteKey) -> bool:
        """Return whether this claims to be a signature of ``key``."""
        return (self.name, self.key_id) == (key.name, key.id)


class SignedNote(NamedTuple):
    """A note as it is read, its signatures not verified: the ``text``, with its last line feed, and the signatures."""

    text: str
    signatures: tuple[NoteSignature, ...]

    def __str__(self) -> str:
        return f"{self.text}\n{''.join(signature.line for signature in self.signatures)}"

    def joined_by(self, signatures: Iterable[NoteSignature]) -> "SignedNote":
        """Return this note with ``signatures`` after its own, each once."""
        return SignedNote(self.text, tuple(dict.fromkeys((*self.signatures, *signatures))))

    def check(self, key: NoteKey) -> None:
        """Raise DocumentError unless ``key`` (ED25519) has signed this note; signatures of other keys are ignored."""
        claimed = [(number, signature) for number, signature in enumerate(self.signatures) if signature.is_of(key)]
        if not claimed:
            raise DocumentError("signatures", f"it is not signed by {key.name} with the key {key.id.hex()}")
        for number, signature in claimed:
            if key.type != ED25519 or not key.has_signed(self.text.encode(), signature.value):
                raise DocumentError(
                    f"signatures[{number}]", f"it is not the signature of {key.name} under the text of this note"
                )


def parse_note(packed: bytes | str) -> SignedNote:
    """Return the note; raises DocumentError with the first place, ``text`` or ``signatures[0]``."""
    if isinstance(packed, str):
        packed = packed.encode(errors="surrogatepass")  # which is not UTF-8, and refused as such
    if len(packed) > MAX_NOTE_BYTES:
        raise DocumentError("", f"a note has at most {MAX_NOTE_BYTES:,} bytes")
    try:
        whole = packed.decode()
    except UnicodeDecodeError as error:
        raise DocumentError("", f"byte {error.start + 1} is not UTF-8") from None
    if (control := _CONTROL.search(whole)) is not None:
        before = len(whole[: control.start()].encode())
        raise DocumentError("", f"byte {before + 1} is a control character")
    # The last empty line parts text and signatures: a text may have empty lines, signatures cannot.
    text, separator, rest = whole.rpartition("\n\n")
    if not separator:
        raise DocumentError("", "there is no empty line between a text and its signatures")
    if not rest.endswith("\n"):
        raise DocumentError("signatures", "the note does not end with a line feed after a signature")
    lines = rest.removesuffix("\n").split("\n")
    if len(lines) > MAX_SIGNATURES:
        raise DocumentError("signatures", f"a note has at most {MAX_SIGNATURES} signatures")
    return SignedNote(text + "\n", parse_signatures(lines))


def parse_signatures(lines: Sequence[str]) -> tuple[NoteSignature, ...]:
    """Return the signatures that ``lines``, without their line feeds, are; raises DocumentError."""
    return tuple(_parse_signature(f"signatures[{number}]", line) for number, line in enumerate(lines))


def parse_vkey(text: str) -> NoteKey:
    """Return the key that a vkey is; raises DocumentError. Only Ed25519 keys are known here."""
    if len(text) > MAX_VKEY_LETTERS:
        raise DocumentError("", f"a verifier key has at most {MAX_VKEY_LETTERS} letters")
    name, _, rest = text.partition("+")
    key_id, plus, packed = rest.partition("+")
    if not plus:
        raise DocumentError("", f"{text!r:.80} is no verifier key: it has the form name+key id+base64")
    check_key_name(name)
    raw = from_base64("key", packed)
    if raw[:1] not in (bytes([ED25519]), bytes([COSIGNATURE])) or not is_public_key(raw[1:]):
        raise DocumentError("key", "it is no Ed25519 key (types 01 and 04), or one under which others can sign")
    key = NoteKey(name, raw[0], raw[1:])
    if key_id != key.id.hex():
        raise DocumentError("id", f"this key has the id {key.id.hex()}, not {key_id!r:.20}")
    return key


def check_key_name(name: str) -> None:
    """Raise DocumentError unless ``name`` can be that of a key: not empty, without spaces and plus signs, Unicode."""
    try:
        name.encode()
    except UnicodeEncodeError:
        raise DocumentError("name", f"{name!r:.80} is not UTF-8") from None
    if not name or _NO_NAME.search(name) or _CONTROL.search(name):
        raise DocumentError("name", f"{name!r:.80} is no name of a key: it is empty, or has a space or a plus sign")


def _parse_signature(place: str, line: str) -> NoteSignature:
    if not line.startswith(_SIGNATURE_BEGIN):
        raise DocumentError(place, "a signature begins with an em dash and a space")
    name, _, packed = line.removeprefix(_SIGNATURE_BEGIN).partition(" ")
    try:
        check_key_name(name)
    except DocumentError as fault:
        raise DocumentError(place, fault.reason) from None
    raw = from_base64(place, packed)
    if len(raw) <= KEY_ID_BYTES:
        raise DocumentError(place, "a signature has the four bytes of a key id, and more")
    return NoteSignature(name, raw[:KEY_ID_BYTES], raw[KEY_ID_BYTES:])


def to_base64(raw: bytes) -> str:
    """Return ``raw`` in base64 (RFC 4648, 4)."""
    return base64.b64encode(raw).decode()


def from_base64(place: str, text: str) -> bytes:
    """Return the bytes of ``text``; raises DocumentError unless it is their one form in base64 (RFC 4648, 4)."""
    try:
        raw = base64.b64decode(text.encode("ascii", "replace"), validate=True)
    except binascii.Error:
        raw = None
    if raw is None or to_base64(raw) != text:
        raise DocumentError(place, f"{text!r:.80} is not base64")
    return raw
