"""The lock that all processes of an installation hold, by which a start waits for those of the previous run.

When a supervisor dies, the kernel asks its children to stop, which takes a while; until the last one has exited they
hold ports and the database.
"""

import fcntl
import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

MAX_STOPPING_S = 10.0
"""Processes that have not stopped by then hang, and are killed."""

MAX_KILLING_S = 10.0
POLL_INTERVAL_S = 0.05


class LeftoverProcessesError(Exception):
    """Processes of the previous run do not exit; the message lists them."""


def acquire_process_lock(path: Path, on_message: Callable[[str], None]) -> int:
    """Return the descriptor of the lock at ``path``, to be inherited by the processes of an installation.

    Waits for processes of the previous run and kills those that hang; raises LeftoverProcessesError for the rest.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        if not _lock(descriptor, 0.0):
            on_message("Waiting for the processes of the previous run to exit")
            if not _lock(descriptor, MAX_STOPPING_S):
                for pid in lock_holders(path):
                    with suppress(ProcessLookupError, PermissionError):
                        os.kill(pid, signal.SIGKILL)
                if not _lock(descriptor, MAX_KILLING_S):
                    pids = ", ".join(map(str, lock_holders(path))) or "unknown"
                    raise LeftoverProcessesError(
                        f"processes of the previous run do not exit (process ids: {pids}): end them"
                    )
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def lock_holders(path: Path) -> list[int]:
    """Return the ids of the other processes that have ``path`` open, where the system can tell (Linux)."""
    pids = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if int(process.name) != os.getpid() and any(
                os.readlink(link) == str(path) for link in (process / "fd").iterdir()
            ):
                pids.append(int(process.name))
    return pids


def _lock(descriptor: int, timeout_s: float) -> bool:
    """Lock ``descriptor`` within ``timeout_s``; return whether that succeeded."""
    deadline = time.monotonic() + timeout_s
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                return False
            time.sleep(POLL_INTERVAL_S)
        else:
            return True
