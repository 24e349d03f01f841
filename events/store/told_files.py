"""What processes were told, in files: one that is killed leaves to the others what it had not compared yet.

Each process of a machine appends to a file of its own, in a directory that they share, and holds a lock on it as long
as it runs. A file whose lock can be taken is what a process that has ended knew.
"""

import fcntl
import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Any

MAX_FILE_BYTES = 2_000_000
"""Then the older half is dropped: a replica does not lag that far."""

PREFIX = "told-"
Known = Mapping[int, tuple[str, str]]
"""Digest (cut as in ``VersionTag``) and request of events, by version."""


class ToldFiles:
    """The files in ``directory``. Safe to share between threads, and to use after a fork.

    Writing them is no condition for going on: while the disk is full, what this process was told is known to it alone.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._lock = Lock()
        self._owner = 0
        self._file = -1
        self._path = Path()
        self._bytes = 0

    def add(self, stream: str, version: int, digest: str, request: str) -> None:
        """Keep that this process was told of an event."""
        self._write([stream, version, digest, request])

    def forget(self, stream: str, version: int) -> None:
        """Keep that what was told of an event needs no comparison any more."""
        self._write([stream, version])

    def left(self) -> Iterator[dict[str, Known]]:
        """Yield what each process that has ended had been told, by stream; then its file is removed.

        Crash-safe: a file is removed when the caller asks for the next, having used what it says. Killed before, the
        next process finds it again.
        """
        with suppress(FileNotFoundError):
            for path in sorted(self._directory.iterdir()):
                if not path.name.startswith(PREFIX) or path == self._path:
                    continue
                with suppress(OSError), path.open("rb") as file:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    yield _read(file.read())
                    path.unlink(missing_ok=True)

    def _write(self, line: list[Any]) -> None:
        written = json.dumps(line, separators=(",", ":")).encode() + b"\n"
        with self._lock, suppress(OSError):
            if self._owner != os.getpid():
                self._begin()
            elif self._bytes > MAX_FILE_BYTES:
                self._begin_again()
            os.write(self._file, written)
            self._bytes += len(written)

    def _begin(self) -> None:
        """Make the file of this process; a process that was forked leaves its parent's alone."""
        self._directory.mkdir(parents=True, exist_ok=True)
        while True:
            file, name = tempfile.mkstemp(prefix=PREFIX, dir=self._directory)
            fcntl.flock(file, fcntl.LOCK_EX)
            if os.path.exists(name):  # another process may have taken it for one that was left, before the lock
                break
            os.close(file)
        self._owner, self._file, self._path, self._bytes = os.getpid(), file, Path(name), 0

    def _begin_again(self) -> None:
        """Go on in another file, with the newer half of this one.

        Crash-safe: this one is removed last. Killed before, both are left, and say the same.
        """
        file, path = self._file, self._path
        _, _, newer = path.read_bytes()[self._bytes // 2 :].partition(b"\n")
        self._begin()
        os.write(self._file, newer)
        self._bytes = len(newer)
        path.unlink()
        os.close(file)


def _read(written: bytes) -> dict[str, Known]:
    known: dict[str, dict[int, tuple[str, str]]] = {}
    for line in written.splitlines():
        with suppress(ValueError):  # the last line of a process that was killed while it wrote
            match json.loads(line):
                case [str(stream), int(version), str(digest), str(request)]:
                    known.setdefault(stream, {})[version] = digest, request
                case [str(stream), int(version)]:
                    known.get(stream, {}).pop(version, None)
    return {stream: events for stream, events in known.items() if events}
