"""What an installation keeps from other users of its machine: everything below its directory."""

import os
import shlex
from collections.abc import Mapping
from pathlib import Path

KEYS = "keys"
KEY_FILE = "at-rest.key"
"""The secret that the signing key is encrypted with in the store."""

SERVER_SECRET = "server.conf"  # noqa: S105 - the name of a file
"""The password as the embedded server reads it."""

ENVIRONMENT = "environment"
"""What a shell reads to run commands on the store of a running installation."""

OURS = ("redis", "log", "metrics", "damaged", KEYS)


def close_to_others(var: Path) -> None:
    """Let only the present user read what is below ``var``, nor what this process and its children make.

    What an earlier release has made is closed, too. Raises OSError.
    """
    os.umask(0o077)
    var.mkdir(mode=0o700, parents=True, exist_ok=True)
    var.chmod(0o700)
    files = [path for path in var.iterdir() if path.is_file() and not path.is_symlink()]
    for name in OURS:
        for folder, _, names in os.walk(var / name):
            Path(folder).chmod(0o700)
            files += [Path(folder, name) for name in names]
    for path in files:
        path.chmod(0o600)


def write_private(path: Path, text: str) -> None:
    """Write a file that only the present user can read, from its first moment on; raises OSError."""
    path.parent.mkdir(mode=0o700, exist_ok=True)
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)


def exports(environment: Mapping[str, str]) -> str:
    """Return the lines with which a shell exports ``environment``."""
    return "".join(f"export {name}={shlex.quote(value)}\n" for name, value in environment.items())


def read_exports(text: str) -> dict[str, str]:
    """Return the environment that ``exports`` wrote as ``text``; raises ValueError for a text that is cut off."""
    return dict(word.split("=", 1) for word in shlex.split(text) if word != "export")
