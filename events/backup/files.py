"""Where backups are: a file, or whatever fsspec knows by URL."""

import os
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import fsspec

from events.backup.errors import BackupError
from events.backup.records import Record, unpack_records
from events.backup.sealing import SECRET_BYTES, read_sealed
from events.runtime.durable_files import UNFINISHED, sync_directory


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
