"""Run a command that receives SIGTERM when the process that started it dies, however it dies.

Started as ``python -I -S die_with_parent.py PARENT_PID COMMAND...``. It is a program of its own because code between
fork and exec can deadlock in a process with threads. Where the kernel has no parent-death signal (macOS), the command
runs without one, and is stopped only by a supervisor that is not itself killed.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def main(parent_pid: int, command: list[str]) -> None:
    """Replace this process with ``command``, bound to the process ``parent_pid``."""
    bind_to_parent(parent_pid)
    os.execvp(command[0], command)  # noqa: S606 - no shell is wanted


def bind_to_parent(parent_pid: int) -> None:
    """Have SIGTERM sent to this process when its parent ``parent_pid`` dies; exit when it is dead already."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
        if os.getppid() != parent_pid:  # the parent died before the signal was set
            sys.exit(1)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
