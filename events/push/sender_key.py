"""The key with which this installation identifies itself to push services: one P-256 key pair, made when first used.

Browsers subscribe for its public key, and push services take messages for them from nobody else: with another key all
have to subscribe again, which their next visit does. So the private key is in the store, with which it is backed up,
encrypted like the signing key.
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
    """The key of one installation, encrypted with the secret in ``key_file`` (None: not).

    Methods raise StoreUnavailableError.
    """

    def __init__(self, client: StoreClient, prefix: str, key_file: Path | None = None) -> None:
        self._client = client
        self._file = KeyFile(key_file, "key of push notices")
        self._key = PushKeys(prefix).private_key

    def read(self) -> EllipticCurvePrivateKey:
        """Return the private key; raises UnreadableKeyError when it cannot be decrypted.

        Crash-safe: processes that make the first key at the same time, or again after a kill, all get the one that was
        stored first.
        """
        stored = self._client.get(self._key)
        if stored is None:
            self._client.set(self._key, self._file.seal(_new_scalar()), nx=True)
            stored = self._client.get(self._key) or b""
        return self._unsealed(stored)

    def replace_unreadable(self) -> bool:
        """Make another key if the stored one cannot be decrypted; return whether it was made. Raises OSError.

        Without the name of a file nothing is known of the stored key, and it stays.
        """
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
