"""The place of a backup: a file, or a URL of fsspec."""

import hashlib
import hmac
import os
import secrets
import struct
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import fsspec
import zstandard
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from events.operations.backup.records import BackupError, Record, unpack_records
from events.runtime.durable_files import UNFINISHED, sync_directory

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


class Digests:
    """The seal of backups without a key."""

    def encrypt(self, nonce: bytes, content: bytes, beside: bytes) -> bytes:
        """Return ``content`` as it is written."""
        return hashlib.sha256(beside + nonce + content).digest() + content

    def decrypt(self, nonce: bytes, sealed: bytes, beside: bytes) -> bytes:
        """Return the content that was sealed with the same arguments; raises InvalidTag."""
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
        format_name = MAGIC.rpartition(b" ")[0]
        other = ": it has another format than this Rookery knows" if beside.startswith(format_name) else ""
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


def _seal(beside: bytes, secret: bytes | None) -> AESGCM | Digests:
    if secret is None:
        return Digests()
    return AESGCM(HKDF(SHA256(), SECRET_BYTES, beside[-SALT_BYTES:], MAGIC).derive(secret))


@contextmanager
def new_file(destination: str) -> Iterator[IO[bytes]]:
    """Yield a file that is at ``destination``, a path or URL, when the block has ended; raises BackupError.

    Crash-safe: durable under another name, then renamed or sent as a whole. An unfinished one has no last part.
    """
    file_system, path = _place(destination)
    is_local = "file" in file_system.protocol
    if _exists(file_system, path, destination):
        raise BackupError(f"{destination} exists already: backups are never overwritten")
    directory = Path(path).parent if is_local else Path(tempfile.gettempdir())
    unfinished = directory / f".{Path(path).name}{UNFINISHED}{secrets.token_hex(4)}"
    try:
        with os.fdopen(os.open(unfinished, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if is_local:
            unfinished.rename(path)
            sync_directory(directory)
        else:
            _send(file_system, unfinished, path, destination)
    except OSError as error:
        raise BackupError(f"the backup cannot be written to {destination}: {error}") from error
    finally:
        unfinished.unlink(missing_ok=True)


@contextmanager
def open_records(source: str, secret: bytes | None) -> Iterator[Iterator[Record]]:
    """Yield the records of the backup at ``source``, a path or URL; reading them raises BackupError."""
    file_system, path = _place(source)
    try:
        with file_system.open(path, "rb") as file:
            yield unpack_records(read_sealed(file, secret))
    except OSError as error:
        raise BackupError(f"the backup {source} cannot be read: {error}") from error


def read_secret(path: Path) -> bytes:
    """Return the key in a file: 64 hexadecimal digits. Raises BackupError."""
    try:
        secret = bytes.fromhex(path.read_text(encoding="ascii"))
    except (OSError, ValueError) as error:
        raise BackupError(
            f"the key {path} cannot be read: it must hold {2 * SECRET_BYTES} hexadecimal digits"
        ) from error
    if len(secret) != SECRET_BYTES:
        raise BackupError(
            f"the key {path} has {len(secret)} bytes, not {SECRET_BYTES}: make one with openssl rand -hex 32"
        )
    return secret


def _place(place: str) -> tuple[Any, str]:
    try:
        file_system, path = fsspec.core.url_to_fs(place, use_listings_cache=False, skip_instance_cache=True)
    except (ImportError, ValueError) as error:
        raise BackupError(f"{place} cannot be used: {error}") from error
    return file_system, path


def _exists(file_system: Any, path: str, place: str) -> bool:
    try:
        return bool(file_system.exists(path))
    except Exception as error:
        # Every library of a storage has errors of its own.
        raise BackupError(f"{place} cannot be used now: {error}") from error


def _send(file_system: Any, content: Path, path: str, destination: str) -> None:
    try:
        file_system.put_file(str(content), path)
    except Exception as error:
        raise BackupError(f"the backup cannot be written to {destination}: {error}") from error
