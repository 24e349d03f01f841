"""The file, outside the store and its backups, with the secret that encrypts private keys there (AES-256-GCM)."""

import secrets
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from events.runtime.durable_files import create_file
from events.runtime.errors import StoreError

BEGIN = b"AES-256-GCM:"
"""Begins an encrypted key; an unencrypted one has 32 bytes."""

SECRET_BYTES = 32
NONCE_BYTES = 12


class UnreadableKeyError(StoreError):
    """The stored private key cannot be used; the message says why and what to do."""


class SecretNotGivenError(UnreadableKeyError):
    """The private key is encrypted, and no file with its secret is named."""


class KeyFile:
    """The file at ``path`` with the secret in hexadecimal digits (None: no encryption); messages call it ``name``."""

    def __init__(self, path: Path | None, name: str = "signing key") -> None:
        self._path = path
        self._name = name

    def is_sealed(self, stored: bytes) -> bool:
        """Return whether ``stored`` is encrypted, if it has to be."""
        return self._path is None or stored.startswith(BEGIN)

    def seal(self, raw: bytes) -> bytes:
        """Return the private key ``raw`` as it is to be stored; makes the file when there is none. Raises OSError."""
        if self._path is None:
            return raw
        nonce = secrets.token_bytes(NONCE_BYTES)
        return BEGIN + nonce + AESGCM(_secret(self._path, make=True)).encrypt(nonce, raw, BEGIN)

    def open(self, stored: bytes) -> bytes:
        """Return the private key that was ``stored``; raises UnreadableKeyError if another file has sealed it."""
        if not stored.startswith(BEGIN):
            return stored
        if self._path is None:
            raise SecretNotGivenError(f"the {self._name} is encrypted: name the file of its secret in ROOKERY_KEY_FILE")
        nonce, sealed = stored[len(BEGIN) :][:NONCE_BYTES], stored[len(BEGIN) + NONCE_BYTES :]
        try:
            return AESGCM(_secret(self._path, make=False)).decrypt(nonce, sealed, BEGIN)
        except (OSError, ValueError, InvalidTag) as error:
            raise UnreadableKeyError(
                f"the {self._name} cannot be decrypted with {self._path} ({error or 'it was encrypted with another'}): "
                "put the right file back, or begin a new key with: rookery audit rotate-key"
            ) from error


def _secret(path: Path, *, make: bool) -> bytes:
    if make and not path.exists():
        create_file(path, f"{secrets.token_hex(SECRET_BYTES)}\n".encode())
    secret = bytes.fromhex(path.read_text())
    if len(secret) != SECRET_BYTES:
        raise ValueError(f"it does not hold {SECRET_BYTES} bytes")
    return secret
