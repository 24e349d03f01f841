"""Keys and signatures of webhooks, by the Standard Webhooks specification. Pure, but for fresh keys.

``<webhook-id>.<webhook-timestamp>.<body>`` is signed by HMAC-SHA256 (``v1``) and Ed25519 (``v1a``); while keys are
replaced, both old and new sign.
"""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Iterable

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from events.notify.endpoints import EndpointKeys

SECRET_BYTES = 32
SECRET_PREFIX = "whsec_"  # noqa: S105 (the beginning of every secret)
PRIVATE_KEY_PREFIX = "whsk_"
PUBLIC_KEY_PREFIX = "whpk_"


def fresh_keys() -> EndpointKeys:
    """Return new random keys."""
    secret = base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()
    private_key = base64.b64encode(Ed25519PrivateKey.generate().private_bytes_raw()).decode()
    return EndpointKeys(secret=SECRET_PREFIX + secret, private_key=PRIVATE_KEY_PREFIX + private_key)


def public_key_of(keys: EndpointKeys) -> str:
    """Return the public half of the private key of ``keys`` (whpk_...), with which ``v1a`` signatures are verified."""
    return PUBLIC_KEY_PREFIX + base64.b64encode(_private_key(keys).public_key().public_bytes_raw()).decode()


def signed_headers(keys: Iterable[EndpointKeys], webhook_id: str, now: int, body: bytes) -> dict[str, str]:
    """Return the headers that identify, date and sign a webhook; ValueError for a full stop in ``webhook_id``."""
    if "." in webhook_id:
        raise ValueError("a full stop in the id of a webhook would make its signature ambiguous")
    timestamp = str(now // 1000)
    signed = f"{webhook_id}.{timestamp}.".encode() + body
    signatures = [signature for key in keys for signature in _signatures(key, signed)]
    return {"webhook-id": webhook_id, "webhook-timestamp": timestamp, "webhook-signature": " ".join(signatures)}


def _signatures(keys: EndpointKeys, signed: bytes) -> Iterable[str]:
    secret = base64.b64decode(keys.secret.removeprefix(SECRET_PREFIX))
    yield "v1," + base64.b64encode(hmac.digest(secret, signed, hashlib.sha256)).decode()
    yield "v1a," + base64.b64encode(_private_key(keys).sign(signed)).decode()


def _private_key(keys: EndpointKeys) -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(base64.b64decode(keys.private_key.removeprefix(PRIVATE_KEY_PREFIX)))
