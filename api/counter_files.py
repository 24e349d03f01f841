"""The files in which the processes of a web server share their counters (``prometheus_client.multiprocess``).

The library keeps a file of a megabyte for each process and adds them up. The counters of a process that has ended move
to one file for all of these: without them, Prometheus takes the drop for a restart and counts all others again.
"""

import fcntl
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from prometheus_client.mmap_dict import MmapedDict

ENDED = "counter_ended.db"
"""The counters of all processes that have ended."""

MAX_BYTES = 1024 * 1024
"""Disk space for the counters of a process: the initial size of their file in the library, and of ENDED."""

_LOCK = "lock"


@contextmanager
def unchanged(directory: str) -> Iterator[None]:
    """Let no counters be moved from file to file while the block lasts."""
    with (Path(directory) / _LOCK).open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_SH)
        yield


def fold_ended(directory: str, pids: Iterable[int]) -> bool:
    """Add the counters of the processes ``pids``, which have ended, to ENDED, and remove their files.

    Returns False, with all files as they were, while somebody reads them, for nothing should wait for that, or where
    the disk has no space. Crash-safe: all of them are removed when the web server starts; a process that is killed
    between the two steps leaves both, so that these counters are too high by the counts of the process, until then.
    """
    try:
        with (Path(directory) / _LOCK).open("ab") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _allocate(Path(directory) / ENDED)
            for pid in pids:
                _fold(Path(directory), Path(directory) / f"counter_{pid}.db")
    except OSError:
        return False
    return True


def _allocate(path: Path) -> None:
    """Take the space for a file before it is mapped: writing to a mapped file on a full disk would kill the process."""
    with path.open("ab") as file:
        if hasattr(os, "posix_fallocate"):  # not on macOS
            os.posix_fallocate(file.fileno(), 0, MAX_BYTES)


def _fold(directory: Path, ended: Path) -> None:
    if not ended.exists():
        return
    sums: Any = MmapedDict(os.fspath(directory / ENDED))  # type: ignore[no-untyped-call]
    try:
        entries: Any = MmapedDict.read_all_values_from_file(os.fspath(ended))  # type: ignore[no-untyped-call]
        for key, value, timestamp, _ in entries:
            total, _ = sums.read_value(key)
            sums.write_value(key, total + value, timestamp)
    finally:
        sums.close()
    ended.unlink()
