"""Programs that tests run and Python does not install: where they are, or how to install them."""

import shutil
from collections.abc import Sequence
from pathlib import Path

UNPACKED = Path(__file__).parents[2] / ".venv" / "programs"
"""Where tests/programs.sh unpacks packages that are not to be installed."""


def find_program(names: Sequence[str], package: str, path: str | None = None) -> str:
    """Return the path of the first of ``names`` that is on the PATH or in ``path``, directories separated by colons.

    Raises FileNotFoundError, which says how to install the Debian package that has the program.
    """
    for name in names:
        program = shutil.which(name) or (shutil.which(name, path=path) if path else None)
        if program:
            return program
    raise FileNotFoundError(
        f"{names[0]} is not installed here: run `make programs`, or as root `apt-get install {package}`"
    )
