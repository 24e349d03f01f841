"""The append-only file before a server loads it: an incomplete write at the end is truncated, other damage refused.

A power cut leaves zero bytes or half a command at the end of the file, which nothing was acknowledged for or which had
not been flushed: both are truncated, and the truncated part is kept. Damage before further transactions is different:
a server would silently stop reading there, or truncate the file for good, so it is not started.

Run as ``python -I -S aof.py DIRECTORY MARK SERVER ARGUMENTS...``, this module checks ``DIRECTORY`` and then becomes the
server, so that restarts after a crash are checked too. It starts fast because it imports only the standard library.
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

AOF_DIRECTORY = "appendonlydir"
AOF_FILE = "appendonly.aof"
"""The single file of servers before version 7, and the stem of the file names of later ones."""

TRUNCATED_DIRECTORY = "cut-off"
"""The directory below the data directory that keeps truncated bytes."""

END_OF_TRANSACTION = b"*1\r\n$4\r\nEXEC\r\n"
"""Every append ends with it: where it follows damage, whole events follow."""

CHUNK_BYTES = 1 << 20


class DamagedFileError(Exception):
    """An append-only file that must not be opened as it is; the message says where the damage is."""


class CheckedFile(NamedTuple):
    """A file, how many of its bytes are complete commands, and its size in bytes."""

    path: Path
    valid: int
    size: int

    @property
    def excess(self) -> int:
        """The number of bytes after the last complete command."""
        return self.size - self.valid


def repair_tails(directory: Path, server: str, mark: Path) -> list[str]:
    """Truncate incomplete writes so that the program ``server`` can load ``directory``; return a message for each.

    ``mark`` is the file of the high-water mark, which says how much of the newest file is known to be on the disk.
    Crash-safe: the truncated part is on the disk elsewhere before the file is shortened, and truncating again finds
    nothing to truncate. Raises OSError, and DamagedFileError, with nothing changed, for damage before further events.
    """
    files = [check_file(path, server) for path in incremental_files(directory)]
    for file in files:
        if file.excess and not _is_incomplete_write(file, mark, last=file is files[-1]):
            raise DamagedFileError(
                f"{file.path} is damaged at byte {file.valid:,}: the {file.excess:,} bytes that follow cannot be "
                "loaded, and contain events"
            )
    return [truncate(file, directory) for file in files if file.excess]


def check_file(path: Path, server: str) -> CheckedFile:
    """Return how much of the file at ``path`` can be loaded, as the program ``server`` finds itself."""
    size = path.stat().st_size
    if size == 0:
        return CheckedFile(path, 0, 0)
    completed = _run_checker("check-aof", path, server)
    valid = re.search(r"ok_up_to=(\d+)", completed.stdout)
    if valid is None:
        raise DamagedFileError(f"{path} cannot be checked: {(completed.stdout + completed.stderr).strip()}")
    return CheckedFile(path, int(valid[1]), size)


def truncate(file: CheckedFile, directory: Path) -> str:
    """Truncate ``file`` after its last complete command, keeping all but zero bytes; return a message about it."""
    if _is_all_zeros(file):
        message = f"{file.path}: {file.excess:,} zero bytes at the end were truncated"
    else:
        kept = directory / TRUNCATED_DIRECTORY / f"{file.path.name}-from-{file.valid}-{time.time_ns() // 1_000_000}"
        kept.parent.mkdir(mode=0o700, exist_ok=True)
        copy(file.path, kept, file.valid)
        message = f"{file.path}: {file.excess:,} bytes of an incomplete write at the end were truncated; kept as {kept}"
    with file.path.open("r+b") as opened:
        opened.truncate(file.valid)
        os.fsync(opened.fileno())
    return message


def truncate_at_first_damage(files: Sequence[CheckedFile], directory: Path) -> list[str]:
    """Truncate the first damaged one of ``files`` and empty the later ones, which depend on it; return messages."""
    first = next(number for number, file in enumerate(files) if file.excess)
    later = [file._replace(valid=0) for file in files[first + 1 :] if file.size]
    return [truncate(file, directory) for file in [*reversed(later), files[first]]]


def find_base_damage(directory: Path, server: str) -> str | None:
    """Return a message about damage in the snapshot that precedes the incremental files, None when it can be loaded."""
    for path in (directory / AOF_DIRECTORY).glob("*.base.rdb"):
        completed = _run_checker("check-rdb", path, server)
        if completed.returncode:
            output = completed.stdout.strip()
            return f"{path}: {output.splitlines()[-1] if output else completed.stderr.strip()}"
    return None


def _run_checker(tool: str, path: Path, server: str) -> subprocess.CompletedProcess[str]:
    # Valkey and Redis are their own checkers when they are called by that name.
    name = f"{'redis' if 'redis' in Path(server).name else 'valkey'}-{tool}"
    return subprocess.run([name, str(path)], executable=server, capture_output=True, text=True, errors="replace")


def copy(source: Path, target: Path, start: int = 0) -> None:
    """Copy ``source`` from byte ``start`` to a new file and flush that."""
    with source.open("rb") as file, target.open("xb") as new:
        file.seek(start)
        while chunk := file.read(CHUNK_BYTES):
            new.write(chunk)
        new.flush()
        os.fsync(new.fileno())


def incremental_files(directory: Path) -> list[Path]:
    """Return the incremental files of ``directory`` in the order of loading. Raises DamagedFileError."""
    manifest = directory / AOF_DIRECTORY / f"{AOF_FILE}.manifest"
    try:
        lines = manifest.read_text().splitlines()
    except FileNotFoundError:
        return [path] if (path := directory / AOF_FILE).is_file() else []
    paths = []
    for number, line in enumerate(lines, 1):
        # Newer servers add further fields, such as "startoffset 224".
        entry = re.fullmatch(r"file (\S+) seq \d+ type ([bhi])(?: .*)?", line.rstrip())
        if entry is not None and entry[2] == "i":
            paths.append(directory / AOF_DIRECTORY / entry[1])
        elif entry is None and line.strip() and not line.startswith("#"):
            raise DamagedFileError(f"{manifest} cannot be understood in line {number}: {line[:200]!r}")
    return [path for path in paths if path.is_file()]


def flush(directory: Path) -> tuple[str, int] | None:
    """Flush the incremental files; return the newest one's name and flushed bytes, or None. Raises OSError."""
    newest = None
    # A rewrite may replace files at any moment: one that is gone has been replaced by one that is flushed.
    with suppress(FileNotFoundError):
        for path in incremental_files(directory):
            with path.open("rb") as file:
                size = os.fstat(file.fileno()).st_size
                os.fsync(file.fileno())
            newest = path.name, size
    return newest


def _is_incomplete_write(file: CheckedFile, mark: Path, last: bool) -> bool:
    """Return whether the bytes after the last complete command are the remains of a power cut or a kill."""
    if _is_all_zeros(file):
        return True
    return last and (file.valid >= _flushed_bytes(mark, file.path) or not _has_transaction(file))


def _flushed_bytes(mark: Path, path: Path) -> int:
    """Return how many bytes of ``path`` are known to have been flushed; all of a file that the mark does not name."""
    try:
        name, size = json.loads(mark.read_text())["flushed"]
    except (OSError, ValueError, TypeError, KeyError):
        return sys.maxsize
    return int(size) if name == path.name else sys.maxsize


def _is_all_zeros(file: CheckedFile) -> bool:
    return all(not chunk.strip(b"\0") for chunk in _excess_chunks(file))


def _has_transaction(file: CheckedFile) -> bool:
    before = b""
    for chunk in _excess_chunks(file):
        if END_OF_TRANSACTION in before + chunk:
            return True
        before = chunk[-len(END_OF_TRANSACTION) :]
    return False


def _excess_chunks(file: CheckedFile) -> Iterator[bytes]:
    with file.path.open("rb") as opened:
        opened.seek(file.valid)
        while chunk := opened.read(CHUNK_BYTES):
            yield chunk


def main(directory: str, mark: str, server: str, *arguments: str) -> None:
    """Repair ``directory``, then become ``server``."""
    try:
        for message in repair_tails(Path(directory), server, Path(mark)):
            print(message, flush=True)
    except (DamagedFileError, OSError) as error:
        sys.exit(f"the server is not started: {error}")
    os.execv(server, [server, *arguments])  # noqa: S606 - no shell is wanted


if __name__ == "__main__":
    main(*sys.argv[1:])
