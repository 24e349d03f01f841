"""The identification of this server to push services (RFC 8292): a token signed with ES256 for each push service."""

import json
from urllib.parse import urlsplit

from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, EllipticCurvePrivateKey
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256

from events.push.encryption import encoded_point, to_base64url

VALID_S = 12 * 3600
"""Push services refuse tokens that are valid for more than 24 hours."""

_COORDINATE_BYTES = 32


def subject_of(contact: str | None, page_url: str) -> str | None:
    """Return whom push services may turn to: ``contact``, or public pages; None for neither, which Apple refuses."""
    if contact is not None:
        return contact
    parts = urlsplit(page_url)
    return page_url if parts.scheme == "https" and "." in (parts.hostname or "") else None


def authorization(endpoint: str, key: EllipticCurvePrivateKey, subject: str, now: int) -> str:
    """Return the header Authorization for a message to ``endpoint``; ``now`` is milliseconds since 1970 UTC."""
    parts = urlsplit(endpoint)
    claims = {"aud": f"{parts.scheme}://{parts.netloc}", "exp": now // 1000 + VALID_S, "sub": subject}
    signed = f"{_encoded({'typ': 'JWT', 'alg': 'ES256'})}.{_encoded(claims)}"
    r, s = decode_dss_signature(key.sign(signed.encode(), ECDSA(SHA256())))
    signature = r.to_bytes(_COORDINATE_BYTES, "big") + s.to_bytes(_COORDINATE_BYTES, "big")
    return f"vapid t={signed}.{to_base64url(signature)}, k={to_base64url(encoded_point(key.public_key()))}"


def _encoded(value: dict[str, object]) -> str:
    return to_base64url(json.dumps(value, separators=(",", ":")).encode())
