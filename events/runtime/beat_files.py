"""Beats kept in a directory, one small file for each line of work, for ``rookery alive`` as the probe of a container.

A file holds the ``time.monotonic`` from which silence counts; that named by the process id alone says it has begun.
"""

import os
import re
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

MAX_SILENCE_S = 15.0
_FILE = re.compile("[0-9]+(-[a-z0-9-]+)?")
_WIDTH = 20


class Liveness(NamedTuple):
    """Whether a part of an installation works; ``reason`` is the fault, or a summary."""

    alive: bool
    reason: str


class BeatFiles:
    """The files of a process and of those that it forks, in ``directory``, which is theirs alone."""

    def __init__(self, directory: Path) -> None:
        """Make the directory, and remove the files of an earlier process from it; raises OSError."""
        self._directory = directory
        directory.mkdir(parents=True, exist_ok=True)
        for path in directory.iterdir():
            if _FILE.fullmatch(path.name):
                path.unlink()
        (directory / str(os.getpid())).touch()

    def beat(self, name: str, extra_s: float) -> None:
        """Record that the line ``name`` of this process makes progress; the next time may be ``extra_s`` late."""
        since = f"{time.monotonic() + extra_s:{_WIDTH}.3f}".encode()
        with suppress(OSError):  # a full disk: the probe will say that the line is silent
            file = os.open(self._path(name), os.O_WRONLY | os.O_CREAT, 0o644)
            try:
                # In place and of one length: a reader sees this instant or the last one.
                os.pwrite(file, since, 0)
            finally:
                os.close(file)

    def rest(self, name: str) -> None:
        """Record that the line ``name`` of this process has ended."""
        with suppress(OSError):
            self._path(name).unlink()

    def _path(self, name: str) -> Path:
        return self._directory / f"{os.getpid()}-{name}"


def read_liveness(directory: Path, max_silence_s: float = MAX_SILENCE_S) -> Liveness:
    """Return whether the process that beats in ``directory`` runs, and no line of it is silent.

    Lines of ended processes do not count. Waiting for the broker or the store is work.
    """
    try:
        names = sorted(path.name for path in directory.iterdir() if _FILE.fullmatch(path.name))
    except OSError as error:
        return Liveness(False, f"nothing beats in {directory}: {error.strerror}")
    if not any(name.isdigit() and _runs(name) for name in names):
        return Liveness(False, f"no process that beats in {directory} runs")
    lines = [name for name in names if not name.isdigit() and _runs(name.partition("-")[0])]
    ages = {name: _age_s(directory / name) for name in lines}
    silent = [f"{name} for {age:.0f} s" for name, age in ages.items() if age > max_silence_s]
    if silent:
        return Liveness(False, f"no progress: {', '.join(silent)}")
    return Liveness(True, f"{len(lines)} lines of work make progress")


def _age_s(path: Path) -> float:
    try:
        return time.monotonic() - float(path.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return 0.0  # it has ended just now, or writes its first beat


def _runs(pid: str) -> bool:
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except (PermissionError, ValueError):
        pass
    return True
