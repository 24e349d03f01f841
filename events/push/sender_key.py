"""The P-256 key pair with which this installation identifies itself to push services, made when first used.

Browsers subscribe for its public key; with another one they have to subscribe again, at their next visit.
"""

from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ec import (
    SECP256R1,
    EllipticCurvePrivateKey,
    derive_private_key,
    generate_private_key,
)

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

    def read(self) -> EllipticCurvePrivateKey:
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

    def _unsealed(self, stored: bytes) -> EllipticCurvePrivateKey:
        try:
            return derive_private_key(int.from_bytes(self._file.open(stored), "big"), SECP256R1())
        except ValueError:
            raise UnreadableKeyError(
                "the key of push notices is damaged: rookery audit rotate-key replaces it"
            ) from None


def _new_scalar() -> bytes:
    return generate_private_key(SECP256R1()).private_numbers().private_value.to_bytes(SCALAR_BYTES, "big")
