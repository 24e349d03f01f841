"""The encryption of a push message for one browser (RFC 8291, aes128gcm of RFC 8188), padded."""

import base64
import re

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ec import (
    ECDH,
    SECP256R1,
    EllipticCurvePrivateKey,
    EllipticCurvePublicKey,
)
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

MAX_PLAINTEXT_BYTES = 3993
"""With header, delimiter and tag a message of this length has 4096 bytes, which every push service takes (RFC 8030)."""

SALT_BYTES = 16
SECRET_BYTES = 16
POINT_BYTES = 65
RECORD_BYTES = 4096
_LAST_RECORD = b"\x02"
"""The delimiter between the text of the last record and its padding (RFC 8188, section 2)."""

_BASE64URL = re.compile("[A-Za-z0-9_-]*")


class InvalidKeyError(ValueError):
    """A key of a subscription is none; the message says why, as a clause."""


def encrypt(
    plaintext: bytes, point: bytes, secret: bytes, sender: EllipticCurvePrivateKey, salt: bytes, *, pad_to: int = 0
) -> bytes:
    """Return the body of a message of at most MAX_PLAINTEXT_BYTES, padded to ``pad_to`` (RFC 8188, section 2).

    ``point`` and ``secret`` are p256dh and auth, ``sender`` a private key for this message, ``salt`` 16 random bytes.
    Raises InvalidKeyError when ``point`` is not on the curve.
    """
    if len(plaintext) > MAX_PLAINTEXT_BYTES:
        raise ValueError(f"a push message has at most {MAX_PLAINTEXT_BYTES} bytes, not {len(plaintext)}")
    own_point = encoded_point(sender.public_key())
    shared = sender.exchange(ECDH(), read_point(point))
    keying = _derive(shared, secret, b"WebPush: info\x00" + point + own_point, 32)
    key = _derive(keying, salt, b"Content-Encoding: aes128gcm\x00", 16)
    nonce = _derive(keying, salt, b"Content-Encoding: nonce\x00", 12)
    header = salt + RECORD_BYTES.to_bytes(4, "big") + bytes([len(own_point)]) + own_point
    record = (plaintext + _LAST_RECORD).ljust(pad_to + len(_LAST_RECORD), b"\x00")
    return header + AESGCM(key).encrypt(nonce, record, None)


def read_point(point: bytes) -> EllipticCurvePublicKey:
    """Return the public key that ``point``, uncompressed, encodes; raises InvalidKeyError."""
    if len(point) != POINT_BYTES:
        raise InvalidKeyError(f"must have {POINT_BYTES} bytes")
    try:
        return EllipticCurvePublicKey.from_encoded_point(SECP256R1(), point)
    except ValueError:
        raise InvalidKeyError("is not a point of the curve P-256") from None


def encoded_point(key: EllipticCurvePublicKey) -> bytes:
    """Return a public key as 65 bytes: an uncompressed point."""
    return key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def to_base64url(raw: bytes) -> str:
    """Return ``raw`` as base64url without padding."""
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def from_base64url(text: str) -> bytes:
    """Return the bytes that ``text``, base64url with or without padding, encodes; raises InvalidKeyError."""
    digits = text.rstrip("=")
    if not _BASE64URL.fullmatch(digits) or len(digits) % 4 == 1:
        raise InvalidKeyError("must be base64url")
    return base64.urlsafe_b64decode(digits + "=" * (-len(digits) % 4))


def _derive(keying: bytes, salt: bytes, context: bytes, size: int) -> bytes:
    return HKDF(hashes.SHA256(), size, salt, context).derive(keying)
