"""The append-only file before a server reads it: what follows the last whole command is cut off, or the start refused.

A power cut leaves zero bytes or half a command at the end of the file, which nothing was acknowledged for or which had
not been flushed: both are cut off, and what was cut off is kept. Damage in front of further transactions is another
matter: a server would stop reading there without a word, or truncate the file for good, so it is not started.

Run as ``python -I -S appendonly.py DIRECTORY MARK SERVER ARGUMENTS...`` it checks ``DIRECTORY`` and then becomes the
server, so that every start is checked, those after a crash too. It uses the standard library alone and imports nothing
else of Rookery, so that this costs little.
"""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

FOLDER = "appendonlydir"
SINGLE = "appendonly.aof"
"""The one file of servers before version 7."""

KEPT = "cut-off"
"""The folder below the data directory that keeps what was cut off."""

END_OF_TRANSACTION = b"*1\r\n$4\r\nEXEC\r\n"
"""Every append ends with it: where it follows damage, whole events follow."""

CHUNK = 1 << 20


class DamagedFile(Exception):
    """An append-only file that must not be opened as it is; the message says where the damage is."""


class Checked(NamedTuple):
    """A file, how many of its bytes are whole commands, and how many it has."""

    path: Path
    whole: int
    size: int

    @property
    def rest(self) -> int:
        """The number of bytes after the last whole command."""
        return self.size - self.whole


def prepare(directory: Path, server: str, mark: Path) -> list[str]:
    """Make the files in ``directory`` fit to be read by the program ``server``; return what was done, in words.

    ``mark`` is the file of the high-water mark, which says how much of the newest log is known to be on the disk.
    Crash-safe: what is cut off is on the disk elsewhere before the file is made shorter, and cutting again finds
    nothing to cut. Raises DamagedFile, with nothing changed, when there is damage in front of further events, and
    OSError.
    """
    files = [check(path, server) for path in logs_of_writes(directory)]
    for checked in files:
        if checked.rest and not _ends_here(checked, mark, last=checked is files[-1]):
            raise DamagedFile(
                f"{checked.path} is damaged at byte {checked.whole:,}: {checked.rest:,} bytes follow that no server "
                "reads, with events among them"
            )
    return [cut_off(checked, directory) for checked in files if checked.rest]


def check(path: Path, server: str) -> Checked:
    """Return how much of the log of writes at ``path`` can be read, as the program ``server`` finds itself."""
    size = path.stat().st_size
    if size == 0:
        return Checked(path, 0, 0)
    ran = _run_as("check-aof", path, server)
    found = re.search(r"ok_up_to=(\d+)", ran.stdout)
    if found is None:
        raise DamagedFile(f"{path} cannot be checked: {(ran.stdout + ran.stderr).strip()}")
    return Checked(path, int(found[1]), size)


def cut_off(checked: Checked, directory: Path) -> str:
    """Make the file end after its last whole command; return in words what was done.

    What is cut off is kept below ``directory``, unless it is zero bytes.
    """
    if _all_zero(checked):
        said = f"{checked.path}: {checked.rest:,} zero bytes at the end were cut off"
    else:
        kept = directory / KEPT / f"{checked.path.name}-from-{checked.whole}-{time.time_ns() // 1_000_000}"
        kept.parent.mkdir(mode=0o700, exist_ok=True)
        copy(checked.path, kept, checked.whole)
        said = f"{checked.path}: {checked.rest:,} bytes of an unfinished write at the end were cut off; kept as {kept}"
    with checked.path.open("r+b") as file:
        file.truncate(checked.whole)
        os.fsync(file.fileno())
    return said


def cut_off_from_the_first_damage(files: Sequence[Checked], directory: Path) -> list[str]:
    """Make the first of ``files`` that is damaged end before the damage, and empty those after it.

    What stands behind the damage rests on what is lost. Returns in words what was done.
    """
    first = next(number for number, checked in enumerate(files) if checked.rest)
    behind = [checked._replace(whole=0) for checked in files[first + 1 :] if checked.size]
    return [cut_off(checked, directory) for checked in [*reversed(behind), files[first]]]


def damaged_base(directory: Path, server: str) -> str | None:
    """Return in words what is wrong with the snapshot that the logs of writes follow, None when it can be read."""
    for path in (directory / FOLDER).glob("*.base.rdb"):
        ran = _run_as("check-rdb", path, server)
        if ran.returncode:
            return f"{path}: {ran.stdout.strip().splitlines()[-1] if ran.stdout.strip() else ran.stderr.strip()}"
    return None


def _run_as(tool: str, path: Path, server: str) -> subprocess.CompletedProcess[str]:
    # Valkey and Redis are their own checkers when they are called by that name.
    name = f"{'redis' if 'redis' in Path(server).name else 'valkey'}-{tool}"
    return subprocess.run([name, str(path)], executable=server, capture_output=True, text=True, errors="replace")


def copy(source: Path, target: Path, start: int = 0) -> None:
    """Copy ``source`` from byte ``start`` on to a new file, which is on the disk afterwards."""
    with source.open("rb") as file, target.open("xb") as new:
        file.seek(start)
        while chunk := file.read(CHUNK):
            new.write(chunk)
        new.flush()
        os.fsync(new.fileno())


def logs_of_writes(directory: Path) -> list[Path]:
    """Return the files in ``directory`` that the server appends to or has appended to, in the order of reading.

    Raises DamagedFile when the manifest cannot be understood.
    """
    manifest = directory / FOLDER / f"{SINGLE}.manifest"
    try:
        lines = manifest.read_text().splitlines()
    except FileNotFoundError:
        return [path] if (path := directory / SINGLE).is_file() else []
    paths = []
    for number, line in enumerate(lines, 1):
        # Newer servers add further facts, such as "startoffset 224".
        named = re.fullmatch(r"file (\S+) seq \d+ type ([bhi])(?: .*)?", line.rstrip())
        if named is not None and named[2] == "i":
            paths.append(directory / FOLDER / named[1])
        elif named is None and line.strip() and not line.startswith("#"):
            raise DamagedFile(f"{manifest} cannot be understood in line {number}: {line[:200]!r}")
    return [path for path in paths if path.is_file()]


def flush(directory: Path) -> tuple[str, int] | None:
    """Return the newest log of writes and its size, when that much is on the disk for certain; None without one.

    Raises OSError when the disk cannot be written to.
    """
    newest = None
    # A rewrite replaces files at any moment: one that is gone has been replaced by one that is flushed.
    with suppress(FileNotFoundError):
        for path in logs_of_writes(directory):
            with path.open("rb") as file:
                size = os.fstat(file.fileno()).st_size
                os.fsync(file.fileno())
            newest = path.name, size
    return newest


def _ends_here(checked: Checked, mark: Path, last: bool) -> bool:
    """Return whether what follows the last whole command is what a power cut or a kill leaves behind."""
    if _all_zero(checked):
        return True
    return last and (checked.whole >= _flushed(mark, checked.path) or not _has_events(checked))


def _flushed(mark: Path, path: Path) -> int:
    """Return how many bytes of ``path`` are known to have been on the disk; of an unknown file all."""
    try:
        name, size = json.loads(mark.read_text())["flushed"]
    except (OSError, ValueError, TypeError, KeyError):
        return sys.maxsize
    return int(size) if name == path.name else sys.maxsize


def _all_zero(checked: Checked) -> bool:
    return all(not chunk.strip(b"\0") for chunk in _rest(checked))


def _has_events(checked: Checked) -> bool:
    before = b""
    for chunk in _rest(checked):
        if END_OF_TRANSACTION in before + chunk:
            return True
        before = chunk[-len(END_OF_TRANSACTION) :]
    return False


def _rest(checked: Checked) -> Iterator[bytes]:
    with checked.path.open("rb") as file:
        file.seek(checked.whole)
        while chunk := file.read(CHUNK):
            yield chunk


def main(directory: str, mark: str, server: str, *arguments: str) -> None:
    """Check ``directory``, then become ``server``."""
    try:
        for words in prepare(Path(directory), server, Path(mark)):
            print(words, flush=True)
    except (DamagedFile, OSError) as error:
        sys.exit(f"the server is not started: {error}")
    os.execv(server, [server, *arguments])  # noqa: S606 - no shell is wanted


if __name__ == "__main__":
    main(*sys.argv[1:])
