"""Public keys and their JSON Web Key Set. An id is the thumbprint (RFC 7638); signed bytes begin with a kind."""

import base64
import binascii
import hashlib
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from events.proof.documents import DocumentError, read_json
from events.runtime.wall_clock import rfc3339
from events.store.converter import SchemaError, shape_of
from events.store.envelope import canonical_json

KEY_BYTES = 32
SIGNATURE_BYTES = 64
_FIELD = 2**255 - 19
_ORDER_8 = 0x05FC536D880238B13933C6D305ACDFD5F098EFF289F4C345B027B2C28F95E826
_SMALL_ORDER = frozenset({0, 1, _FIELD - 1, _ORDER_8, _FIELD - _ORDER_8})
"""The y coordinates of the points whose order is 1, 2, 4 or 8."""


def is_public_key(raw: bytes) -> bool:
    """Return whether ``raw`` are 32 bytes, canonical and not of small order, as a public key of ours is."""
    y = int.from_bytes(raw, "little") & ((1 << 255) - 1)
    return len(raw) == KEY_BYTES and y < _FIELD and y not in _SMALL_ORDER


def is_signed(public: bytes, signature: bytes, message: bytes) -> bool:
    """Return whether ``signature`` is that of ``public`` under ``message``, by [S]B = R + [k]A, without cofactor."""
    if len(signature) != SIGNATURE_BYTES or not is_public_key(public) or not is_public_key(signature[:KEY_BYTES]):
        return False
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


MAX_KEY_SET_BYTES = 1_000_000
"""Enough for thousands of rotations."""


class PublicKey(NamedTuple):
    """A public key, 32 bytes, in use from ``since`` to before ``until``; signatures from ``revoked`` on are void."""

    raw: bytes
    since: int
    until: int | None = None
    revoked: int | None = None

    @property
    def id(self) -> str:
        """The thumbprint of the key (RFC 7638): 43 letters."""
        return thumbprint(self.raw)

    def check(self, signature: str, kind: str, statement: Mapping[str, Any], signed_at: int) -> None:
        """Raise DocumentError unless ``signature`` is this key's for ``statement``, made when the key was in use."""
        if not is_signed(self.raw, bytes.fromhex(signature), signed_bytes(kind, statement)):
            raise DocumentError("signature", f"it is not the signature of key {self.id} under what is signed here")
        if signed_at < self.since or (self.until is not None and signed_at >= self.until):
            raise DocumentError("signature", f"key {self.id} was not in use when this is said to have been signed")
        if self.revoked is not None and signed_at >= self.revoked:
            raise DocumentError(
                "signature", f"key {self.id} is revoked from {rfc3339(self.revoked)} on, and this was signed later"
            )


def signed_bytes(kind: str, statement: Mapping[str, Any]) -> bytes:
    """Return the bytes that are signed: the kind, a line feed, the statement as canonical JSON (RFC 8785)."""
    return kind.encode() + b"\n" + canonical_json(statement)


def thumbprint(raw: bytes) -> str:
    """Return the id of a public key: the SHA-256 of its JSON Web Key (RFC 7638), in base64url."""
    return base64url(hashlib.sha256(canonical_json(_web_key(raw))).digest())


KeySet = Mapping[str, PublicKey]


def key_set(keys: Iterable[PublicKey]) -> dict[str, Any]:
    """Return ``keys`` as a JSON Web Key Set (RFC 7517, RFC 8037), with their time in use, in milliseconds."""
    return {"keys": [_shown(key) for key in keys]}


def _shown(key: PublicKey) -> dict[str, Any]:
    shown = {**_web_key(key.raw), "alg": "Ed25519", "kid": key.id, "since": key.since, "until": key.until, "use": "sig"}
    return shown if key.revoked is None else {**shown, "revoked": key.revoked}


def read_key_set(packed: bytes) -> KeySet:
    """Return the keys of a JSON Web Key Set as an installation serves it; raises DocumentError for the first fault."""
    try:
        _, value = read_json(packed, MAX_KEY_SET_BYTES)
    except DocumentError as fault:
        raise DocumentError("", str(fault)) from None
    if not isinstance(value, dict) or not isinstance(value.get("keys"), list):
        raise DocumentError("keys", "a key set has a list of keys")
    keys = {}
    for number, entry in enumerate(value["keys"]):
        key = _read_key(f"keys[{number}]", entry)
        if key.id in keys:
            raise DocumentError(f"keys[{number}].kid", "this key stands twice in the set")
        keys[key.id] = key
    return keys


class _WebKey(NamedTuple):
    kty: str
    crv: str
    x: str
    alg: str
    kid: str
    use: str
    since: int
    until: int | None = None
    revoked: int | None = None


_WEB_KEY = shape_of(_WebKey)


def _read_key(place: str, entry: Any) -> PublicKey:
    if isinstance(entry, dict):
        # The order of members counts for nothing, nor does how a whole number is written.
        entry = {name: _whole(value) for name, value in sorted(entry.items()) if (name, value) != ("until", None)}
    try:
        read: _WebKey = _WEB_KEY.read(entry)
        raw = from_base64url(read.x)
    except SchemaError as error:
        raise DocumentError(f"{place}{error.path}", str(error)) from None
    except binascii.Error:
        raise DocumentError(f"{place}.x", "it is not base64url") from None
    if (read.kty, read.crv) != ("OKP", "Ed25519") or not is_public_key(raw):
        raise DocumentError(place, "it is no Ed25519 key, or one under which others can sign")
    key = PublicKey(raw, read.since, read.until, read.revoked)
    if key.id != read.kid:
        raise DocumentError(f"{place}.kid", f"this key has the id {key.id}")
    return key


def _whole(value: Any) -> Any:
    """Return a number as int if it is whole and exact, else as float; anything else as it is."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return int(value) if abs(value) < 1 << 53 and value == int(value) else float(value)


def _web_key(raw: bytes) -> dict[str, str]:
    return {"crv": "Ed25519", "kty": "OKP", "x": base64url(raw)}


def from_base64url(text: str) -> bytes:
    """Return the bytes of ``text``, base64url without padding; raises binascii.Error unless it is their one form."""
    raw = base64.b64decode(text.encode("ascii", "replace") + b"=" * (-len(text) % 4), b"-_", validate=True)
    if base64url(raw) != text:
        raise binascii.Error
    return raw


def base64url(raw: bytes) -> str:
    """Return ``raw`` in base64url without padding (RFC 7515)."""
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")
