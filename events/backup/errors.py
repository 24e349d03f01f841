"""Why a backup is not made, read or restored."""


class BackupError(Exception):
    """A backup cannot be made, read or restored; the message says why and what to do."""
