"""Disk space reserved for the store, and the limits at which writing stops and resumes."""

import os
from pathlib import Path

RESERVE_FILE = "reserve"
RESERVE_BYTES = 8 * 1024 * 1024
MIN_FREE_BYTES = 8 * 1024 * 1024
MIN_TO_RESUME_BYTES = 24 * 1024 * 1024
"""Free space, the reserve included, at which writes are accepted: clearly more than the limit that stops them."""


class DiskReserve:
    """Disk space reserved for the store: writes are refused when little else is left, and those under way use it."""

    def __init__(self, directory: Path) -> None:
        """Reserve space in ``directory``; raises OSError when there is not enough."""
        self._path = directory / RESERVE_FILE
        self.is_low = False
        if not self._allocate():
            raise OSError(
                f"only {free_bytes(directory) >> 20} MB are free on the disk of {directory}, and Rookery needs "
                f"{MIN_TO_RESUME_BYTES >> 20} MB to start: make room"
            )

    def update(self) -> bool:
        """Return whether writes are to be refused, having released or allocated the reserve accordingly."""
        if self.is_low:
            self.is_low = not self._allocate()
        elif free_bytes(self._path.parent) < MIN_FREE_BYTES:
            self.is_low = True
            self.release()
        return self.is_low

    def release(self) -> None:
        """Release the space."""
        self._path.unlink(missing_ok=True)

    def _allocate(self) -> bool:
        """Allocate the space if enough remains beside it; return whether it was allocated."""
        self.release()
        if free_bytes(self._path.parent) < MIN_TO_RESUME_BYTES:
            return False
        try:
            self._path.write_bytes(bytes(RESERVE_BYTES))
        except OSError:
            self.release()
            return False
        return True


def free_bytes(directory: Path) -> int:
    """Return how many bytes can still be written to the disk of ``directory``; raises OSError."""
    disk = os.statvfs(directory)
    return disk.f_bavail * disk.f_frsize
