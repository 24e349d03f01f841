"""The compiled build of the domain: ``python -m deploy.local.compiled`` makes it, from the source tree.

A build is a directory with the whole package ``domain``, named by a digest of all that it was made from, and comes
before the sources on the path of the processes that are to run it. A build of other sources has another name: it is
never taken, so that changed sources run in plain Python until they are compiled again.
"""

import os
import platform
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from sysconfig import get_config_var
from tempfile import TemporaryDirectory

from deploy.local.environment import ROOT

BUILDS = ROOT / "build" / "compiled"


class CompilationError(Exception):
    """The domain could not be compiled; the message gives the reason and the remedy."""


def build_directory() -> Path:
    """Return where the compiled build of the present sources for this Python is, or would be."""
    digest = sha256(f"{get_config_var('EXT_SUFFIX')} {platform.python_version()} ".encode())
    for path in (ROOT / "setup.py", ROOT / "requirements-compile.txt", *sorted((ROOT / "domain").rglob("*.py"))):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(ROOT).as_posix()} {len(content)} ".encode() + content)
    return BUILDS / digest.hexdigest()[:16]


def find_build() -> Path | None:
    """Return the compiled build of the present sources, None when there is none."""
    if not (ROOT / "setup.py").is_file():
        return None
    directory = build_directory()
    return directory if directory.is_dir() else None


def has_builds() -> bool:
    """Return whether there is any build, whatever its sources."""
    return BUILDS.is_dir() and any(BUILDS.iterdir())


def make_build() -> Path:
    """Return the compiled build of the present sources, which is made if need be; raises CompilationError.

    Crash-safe: a build gets its name when it is complete.
    """
    directory = build_directory()
    if directory.is_dir():
        return directory
    BUILDS.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=BUILDS.parent) as scratch:
        library = Path(scratch) / "library"
        shutil.copytree(ROOT / "domain", library / "domain", ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("pyproject.toml", "requirements.in", "README.md", "setup.py", "domain"):
            (Path(scratch) / name).symlink_to(ROOT / name)
        command = [sys.executable, "setup.py", "--quiet", "build_ext", "--build-lib", str(library)]
        compiled = subprocess.run(
            command, cwd=scratch, env={**os.environ, "ROOKERY_COMPILE": "1"}, capture_output=True, text=True
        )
        if compiled.returncode:
            raise CompilationError(
                f"{compiled.stdout[-2000:]}{compiled.stderr[-2000:]}\nThe domain could not be compiled. It takes "
                "requirements-compile.txt, a C compiler and the headers of Python (apt install gcc python3-dev)."
            )
        for stale in BUILDS.iterdir():
            shutil.rmtree(stale)
        library.rename(directory)
    return directory


def main() -> None:
    """Make the build, and say where it is."""
    try:
        directory = make_build()
    except CompilationError as error:
        sys.exit(str(error))
    print(f"The rules and the search are compiled: `make run` takes them from {directory.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
