"""Files that are whole and on the disk when they have their names."""

import os
import secrets
from contextlib import suppress
from pathlib import Path
from typing import Any

UNFINISHED = ".unfinished-"
"""In the names of files that are being written, or whose writer was killed."""


def write_durably(file_system: Any, path: str, content: bytes) -> None:
    """Write a file on a file system of fsspec; an object store shows a whole object or none."""
    if "file" in file_system.protocol:
        replace_file(Path(path), content)
    else:
        file_system.pipe_file(path, content)


def replace_file(target: Path, content: bytes) -> None:
    """Write the file; raises OSError. Crash-safe: durable under another name, then renamed."""
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    unfinished = target.with_name(f"{target.name[:16]}{UNFINISHED}{secrets.token_hex(4)}")
    with unfinished.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    unfinished.rename(target)
    sync_directory(target.parent)


def create_file(path: Path, content: bytes) -> None:
    """Create a secret file unless another process does. Crash-safe: it is whole and durable before it has its name."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fresh = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    with suppress(FileExistsError):
        path.hardlink_to(fresh)
    fresh.unlink()
    sync_directory(path.parent)


def sync_directory(directory: Path) -> None:
    """Make the names in a directory durable."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
