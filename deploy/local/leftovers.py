"""What is left of an installation whose supervisor has died: its processes are waited for before the next start.

All processes of an installation inherit one lock. The kernel asks them to stop when their supervisor dies, which takes
a while; until the last one has ended they hold ports and the database.
"""

import fcntl
import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

MAX_STOPPING_S = 10.0
"""What has not stopped by then hangs, and is killed."""

MAX_DYING_S = 10.0
PAUSE_S = 0.05


class LeftoverProcesses(Exception):
    """Processes of an earlier run that do not end; the message says which."""


def lock_processes(path: Path, say: Callable[[str], None]) -> int:
    """Return the descriptor of the lock at ``path``, to be inherited by the processes of an installation.

    Waits for the processes of an earlier run, which ``say`` hears of, and kills those that hang. Raises
    LeftoverProcesses when that does not help.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        if not _locked(descriptor, 0.0):
            say("Waiting for the processes of the last run to end")
            if not _locked(descriptor, MAX_STOPPING_S):
                for pid in holders(path):
                    with suppress(ProcessLookupError, PermissionError):
                        os.kill(pid, signal.SIGKILL)
                if not _locked(descriptor, MAX_DYING_S):
                    named = ", ".join(map(str, holders(path))) or "unknown"
                    raise LeftoverProcesses(f"processes of the last run do not end (process ids: {named}): end them")
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def holders(path: Path) -> list[int]:
    """Return the ids of the other processes that have ``path`` open, where the system tells (Linux)."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if int(process.name) != os.getpid() and any(
                os.readlink(link) == str(path) for link in (process / "fd").iterdir()
            ):
                found.append(int(process.name))
    return found


def _locked(descriptor: int, within_s: float) -> bool:
    deadline = time.monotonic() + within_s
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                return False
            time.sleep(PAUSE_S)
        else:
            return True
