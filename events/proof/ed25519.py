"""Ed25519 as all verifiers must judge it alike (docs/proof/bundle.md, section 5.3): RFC 8032 leaves odd cases open."""

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

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
