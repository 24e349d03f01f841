"""Files that are whole and on the disk when they have their names."""

import os
import secrets
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


def sync_directory(directory: Path) -> None:
    """Make the names in a directory durable."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
