"""The file of a backup: compressed chunks, each of which shows that it is unchanged, in its place, and the last or not.

    magic (16 bytes), kind (1 byte), salt (16 bytes), then chunks: length (4 bytes), sealed content

A chunk is sealed under its number, whether it is the last, and the bytes before the chunks: with AES-256-GCM under a
key that HKDF derives from the secret and the salt, or without a secret by a SHA-256, which shows damage, not forgery.
"""

import hashlib
import hmac
import secrets
import struct
from collections.abc import Iterator
from typing import IO, Protocol

import zstandard
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from events.backup.errors import BackupError

MAGIC = b"rookery backup 1"
PLAIN, ENCRYPTED = b"p", b"e"
SALT_BYTES = 16
SECRET_BYTES = 32
CHUNK_BYTES = 1 << 20
"""Of a chunk before it is compressed."""

MAX_SEALED_BYTES = CHUNK_BYTES + (1 << 16)
LEVEL = 6
_LENGTH = struct.Struct(">I")
_NONCE = struct.Struct(">Q?3x")


class Seal(Protocol):
    """What shows that a chunk is unchanged."""

    def encrypt(self, nonce: bytes, content: bytes, beside: bytes, /) -> bytes:
        """Return ``content`` as it is written."""

    def decrypt(self, nonce: bytes, sealed: bytes, beside: bytes, /) -> bytes:
        """Return what was sealed with the same arguments; raises InvalidTag."""


class Digests:
    """The seal of backups without a key."""

    def encrypt(self, nonce: bytes, content: bytes, beside: bytes) -> bytes:
        """See Seal."""
        return hashlib.sha256(beside + nonce + content).digest() + content

    def decrypt(self, nonce: bytes, sealed: bytes, beside: bytes) -> bytes:
        """See Seal."""
        digest, content = sealed[:32], sealed[32:]
        if not hmac.compare_digest(digest, hashlib.sha256(beside + nonce + content).digest()):
            raise InvalidTag
        return content


class SealedWriter:
    """Writes a backup to ``file``, encrypted if there is a ``secret`` of SECRET_BYTES; unreadable until closed."""

    def __init__(self, file: IO[bytes], secret: bytes | None) -> None:
        self._file = file
        self._beside = MAGIC + (PLAIN if secret is None else ENCRYPTED) + secrets.token_bytes(SALT_BYTES)
        self._seal = _seal(self._beside, secret)
        self._compressor = zstandard.ZstdCompressor(level=LEVEL)
        self._waiting = bytearray()
        self._number = 0
        file.write(self._beside)

    def write(self, content: bytes) -> None:
        """Add ``content``."""
        self._waiting += content
        while len(self._waiting) > CHUNK_BYTES:
            self._write_chunk(bytes(self._waiting[:CHUNK_BYTES]), is_last=False)
            del self._waiting[:CHUNK_BYTES]

    def close(self) -> None:
        """Write the last chunk."""
        self._write_chunk(bytes(self._waiting), is_last=True)

    def _write_chunk(self, content: bytes, is_last: bool) -> None:
        compressed = self._compressor.compress(content)
        sealed = self._seal.encrypt(_NONCE.pack(self._number, is_last), compressed, self._beside)
        self._file.write(_LENGTH.pack(len(sealed)) + sealed)
        self._number += 1


def read_sealed(file: IO[bytes], secret: bytes | None) -> Iterator[bytes]:
    """Yield the contents of the chunks of a backup, up to the last one. Raises BackupError."""
    beside = file.read(len(MAGIC) + 1 + SALT_BYTES)
    if not beside.startswith(MAGIC):
        known = MAGIC.rpartition(b" ")[0]
        other = ": it has another format than this Rookery knows" if beside.startswith(known) else ""
        raise BackupError(f"this is no backup of Rookery{other}")
    kind = beside[len(MAGIC) : len(MAGIC) + 1]
    if kind == ENCRYPTED and secret is None:
        raise BackupError("the backup is encrypted: name the file of its key with --key")
    if kind == PLAIN and secret is not None:
        raise BackupError("the backup is not encrypted, so the key proves nothing about it: repeat without --key")
    if kind not in (ENCRYPTED, PLAIN) or len(beside) != len(MAGIC) + 1 + SALT_BYTES:
        raise BackupError("the beginning of the backup is damaged")
    seal, decompressor = _seal(beside, secret), zstandard.ZstdDecompressor()
    number, length = 0, file.read(_LENGTH.size)
    while True:
        sealed = _read_chunk(file, length, number)
        length = file.read(_LENGTH.size)
        try:
            compressed = seal.decrypt(_NONCE.pack(number, not length), sealed, beside)
            yield decompressor.decompress(compressed, max_output_size=CHUNK_BYTES)
        except (InvalidTag, zstandard.ZstdError) as error:
            raise BackupError(_explain(number, kind, bool(length))) from error
        if not length:
            return
        number += 1


def _explain(number: int, kind: bytes, goes_on: bool) -> str:
    if number == 0 and kind == ENCRYPTED:
        return "the backup cannot be decrypted: the key is another one, or the file was changed or truncated"
    reason = "it was changed" if goes_on else "the file was changed or truncated"
    return f"the backup is damaged in part {number + 1}: {reason}"


def _read_chunk(file: IO[bytes], length: bytes, number: int) -> bytes:
    if len(length) == _LENGTH.size:
        (size,) = _LENGTH.unpack(length)
        if size <= MAX_SEALED_BYTES:
            sealed = file.read(size)
            if len(sealed) == size:
                return sealed
    raise BackupError(f"the backup is damaged or truncated in part {number + 1}")


def _seal(beside: bytes, secret: bytes | None) -> Seal:
    if secret is None:
        return Digests()
    return AESGCM(HKDF(SHA256(), SECRET_BYTES, beside[-SALT_BYTES:], MAGIC).derive(secret))
