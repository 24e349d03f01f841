"""A receiver of webhooks written from the Standard Webhooks specification alone: what a bot has to check."""

import base64
import hashlib
import hmac
from collections.abc import Mapping

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

TOLERANCE_S = 300


def verified_schemes(
    headers: Mapping[str, str], body: bytes, now_s: int, *, secret: str = "", public_key: str = ""
) -> set[str]:
    """Return the schemes ("v1", "v1a") of the signatures in ``headers`` that are valid for ``body`` at ``now_s``."""
    if abs(now_s - int(headers["webhook-timestamp"])) > TOLERANCE_S:
        return set()
    signed = b".".join((headers["webhook-id"].encode(), headers["webhook-timestamp"].encode(), body))
    valid = set()
    for signature in headers["webhook-signature"].split(" "):
        scheme, _, text = signature.partition(",")
        value = base64.b64decode(text, validate=True)
        if scheme == "v1" and secret.startswith("whsec_") and _is_hmac(secret, signed, value):
            valid.add(scheme)
        if scheme == "v1a" and public_key.startswith("whpk_") and _is_signed(public_key, signed, value):
            valid.add(scheme)
    return valid


def _is_hmac(secret: str, signed: bytes, value: bytes) -> bool:
    key = base64.b64decode(secret[6:], validate=True)
    return hmac.compare_digest(hmac.new(key, signed, hashlib.sha256).digest(), value)


def _is_signed(public_key: str, signed: bytes, value: bytes) -> bool:
    key = Ed25519PublicKey.from_public_bytes(base64.b64decode(public_key[5:], validate=True))
    try:
        key.verify(value, signed)
    except InvalidSignature:
        return False
    return True
