"""What can go wrong with the archive."""

from events.runtime.errors import StoreError, StoreUnavailableError


class ArchiveUnavailableError(StoreUnavailableError):
    """The storage of the archive cannot be reached now, or lacks a file: what is archived cannot be read."""


class MissingFileError(ArchiveUnavailableError):
    """The storage of the archive answers and lacks a file, or does not show it now."""


class DamagedArchiveError(StoreError):
    """A file of the archive is not what was written."""
