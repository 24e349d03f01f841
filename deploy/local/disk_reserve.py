"""Room on the disk that is held for the store, and when it is too little to go on writing."""

import os
from pathlib import Path

RESERVE = "reserve"
RESERVE_BYTES = 8 * 1024 * 1024
MIN_FREE_BYTES = 8 * 1024 * 1024
MIN_TO_ACCEPT_BYTES = 24 * 1024 * 1024
"""With this much, the reserve included, writes are accepted: clearly more than what they are refused with."""


class Reserve:
    """Room on the disk that is held for the store: when only little else is left, writes are refused.

    What was acknowledged in the moment in which the disk became full finds its place where the reserve was.
    """

    def __init__(self, directory: Path) -> None:
        """Hold room in ``directory``; raises OSError when there is not enough of it."""
        self._path = directory / RESERVE
        self.refusing = False
        if not self._hold():
            raise OSError(
                f"only {free_bytes(directory) >> 20} MB are free on the disk of {directory}, and Rookery needs "
                f"{MIN_TO_ACCEPT_BYTES >> 20} MB to begin: make room"
            )

    def look(self) -> bool:
        """Return whether writes are to be refused from now on; the reserve is given up or held again."""
        if self.refusing:
            self.refusing = not self._hold()
        elif free_bytes(self._path.parent) < MIN_FREE_BYTES:
            self.refusing = True
            self.give_up()
        return self.refusing

    def give_up(self) -> None:
        """Let the room go."""
        self._path.unlink(missing_ok=True)

    def _hold(self) -> bool:
        """Take the room, if there is enough beside it; return whether it was."""
        self.give_up()
        if free_bytes(self._path.parent) < MIN_TO_ACCEPT_BYTES:
            return False
        try:
            self._path.write_bytes(bytes(RESERVE_BYTES))
        except OSError:
            self.give_up()
            return False
        return True


def free_bytes(directory: Path) -> int:
    """Return how much may still be written to the disk of ``directory``; raises OSError."""
    disk = os.statvfs(directory)
    return disk.f_bavail * disk.f_frsize
