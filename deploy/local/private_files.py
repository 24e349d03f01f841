"""Files that other users of the machine cannot read: everything in the directory of an installation."""

import os
from pathlib import Path

KEYS_DIRECTORY = "keys"
KEY_FILE = "at-rest.key"
"""The secret that encrypts the signing key in the store."""

GUARD_DIRECTORY = "checkpoint-guard"
"""Which checkpoints were signed, outside the store."""

SERVER_SECRET = "server.conf"  # noqa: S105 - the name of a file
"""The password in the configuration format of the embedded server."""

_DIRECTORIES = ("redis", "log", "metrics", "damaged", "archive", KEYS_DIRECTORY)


def restrict_access(var: Path) -> None:
    """Make ``var`` and all that this process and its children create readable to this user only. Raises OSError."""
    os.umask(0o077)
    var.mkdir(mode=0o700, parents=True, exist_ok=True)
    var.chmod(0o700)
    files = [path for path in var.iterdir() if path.is_file() and not path.is_symlink()]
    for name in _DIRECTORIES:
        for directory, _, names in os.walk(var / name):
            Path(directory).chmod(0o700)
            files += [Path(directory, name) for name in names]
    for path in files:
        path.chmod(0o600)


def write_private(path: Path, text: str) -> None:
    """Write a file that only this user can read, from the moment it exists; raises OSError."""
    path.parent.mkdir(mode=0o700, exist_ok=True)
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
