"""Run a command that ends when the process that asked for it ends, however that happens.

Started as ``python -I -S tether.py PARENT COMMAND...``. It is a program of its own, because code between fork and exec
in a process with threads can hang. Where the kernel has no such signal (macOS), the command runs untethered: the
supervisor then stops it as long as the supervisor itself is not killed.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def main(parent: int, command: list[str]) -> None:
    """Become ``command``, tethered to the process ``parent``."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
        if os.getppid() != parent:  # it died before the tether was tied
            sys.exit(1)
    os.execvp(command[0], command)  # noqa: S606 - no shell is wanted


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
