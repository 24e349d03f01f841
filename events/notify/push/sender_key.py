"""The P-256 key pair with which this installation identifies itself to push services, made when first used.

Browsers subscribe for its public key; with another one they have to subscribe again, at their next visit.
"""

import json
from pathlib import Path
from urllib.parse import urlsplit

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256

from events.notify.push.encryption import encoded_point, to_base64url
from events.proof.key_file import KeyFile, SecretNotGivenError, UnreadableKeyError
from events.runtime.connections import StoreClient
from events.runtime.notice_keys import PushKeys

SCALAR_BYTES = 32


class SenderKeyStore:
    """The key of one installation, encrypted with the secret in ``key_file`` (None: not)."""

    def __init__(self, client: StoreClient, prefix: str, key_file: Path | None = None) -> None:
        self._client = client
        self._file = KeyFile(key_file, "key of push notices")
        self._key = PushKeys(prefix).private_key

    def read(self) -> ec.EllipticCurvePrivateKey:
        """Return the private key; raises UnreadableKeyError. Crash-safe: all processes get the one stored first."""
        stored = self._client.get(self._key)
        if stored is None:
            self._client.set(self._key, self._file.seal(_new_scalar()), nx=True)
            stored = self._client.get(self._key) or b""
        return self._unsealed(stored)

    def replace_unreadable(self) -> bool:
        """Make another key if the stored one cannot be decrypted; return whether it was. Raises OSError."""
        stored = self._client.get(self._key)
        if stored is None:
            return False
        try:
            self._unsealed(stored)
        except SecretNotGivenError:
            return False
        except UnreadableKeyError:
            self._client.set(self._key, self._file.seal(_new_scalar()))
            return True
        return False

    def _unsealed(self, stored: bytes) -> ec.EllipticCurvePrivateKey:
        try:
            return ec.derive_private_key(int.from_bytes(self._file.open(stored), "big"), ec.SECP256R1())
        except ValueError:
            raise UnreadableKeyError(
                "the key of push notices is damaged: rookery audit rotate-key replaces it"
            ) from None


def _new_scalar() -> bytes:
    return ec.generate_private_key(ec.SECP256R1()).private_numbers().private_value.to_bytes(SCALAR_BYTES, "big")


VALID_S = 12 * 3600
"""Push services refuse tokens that are valid for more than 24 hours."""

_COORDINATE_BYTES = 32


def subject_of(contact: str | None, page_url: str) -> str | None:
    """Return whom push services may turn to: ``contact``, or public pages; None for neither, which Apple refuses."""
    if contact is not None:
        return contact
    parts = urlsplit(page_url)
    return page_url if parts.scheme == "https" and "." in (parts.hostname or "") else None


def authorization(endpoint: str, key: ec.EllipticCurvePrivateKey, subject: str, now: int) -> str:
    """Return the header Authorization for a message to ``endpoint``; ``now`` is milliseconds since 1970 UTC."""
    parts = urlsplit(endpoint)
    claims = {"aud": f"{parts.scheme}://{parts.netloc}", "exp": now // 1000 + VALID_S, "sub": subject}
    signed = f"{_encoded({'typ': 'JWT', 'alg': 'ES256'})}.{_encoded(claims)}"
    r, s = decode_dss_signature(key.sign(signed.encode(), ec.ECDSA(SHA256())))
    signature = r.to_bytes(_COORDINATE_BYTES, "big") + s.to_bytes(_COORDINATE_BYTES, "big")
    return f"vapid t={signed}.{to_base64url(signature)}, k={to_base64url(encoded_point(key.public_key()))}"


def _encoded(value: dict[str, object]) -> str:
    return to_base64url(json.dumps(value, separators=(",", ":")).encode())
