"""The memory of a witness: what it has cosigned of each log, and the evidence of contradictions.

A database in a directory of its own, on the disk before an answer goes out. It belongs into no backup: a witness in an
older state would cosign a second story. One that has lost it begins again with another name and key.
"""

import contextlib
import hashlib
import os
import secrets
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from events.proof import merkle
from events.proof.cosignatures import CosigningKey
from events.runtime.durable_files import sync_directory

MAX_CONTRADICTIONS = 100
"""Of each kind, contradictions of what was cosigned are kept, as evidence, up to this number."""

LOCK_TIMEOUT_S = 5.0

_KEY_BYTES = 32
_DATABASE = "cosigned.sqlite"
_TABLES = """
CREATE TABLE IF NOT EXISTS cosigned (
    origin TEXT PRIMARY KEY, size INTEGER NOT NULL, root BLOB NOT NULL, note TEXT NOT NULL
)
"""


class CosignedTree(NamedTuple):
    """The last tree head of a log that was cosigned, and the ``note`` that states it, signed by the log."""

    size: int
    root: bytes
    note: str


NEVER = CosignedTree(0, merkle.EMPTY_ROOT, "")
"""Of a log of which nothing was cosigned."""


class WitnessState:
    """The memory of a witness in ``directory``, which is made. Several processes may share it.

    Methods raise sqlite3.Error and OSError. Raises ValueError for a key without memory: it was lost.
    """

    def __init__(self, directory: Path) -> None:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._directory = directory
        if (directory / "key").exists() and not (directory / _DATABASE).exists():
            raise ValueError(
                f"{directory} has the key of a witness, and {_DATABASE}, what it has cosigned, is lost: begin again in "
                "an empty directory, with another name"
            )
        with self._open() as connection:
            connection.execute(_TABLES)

    def key(self, name: str) -> CosigningKey:
        """Return the key of the witness, made when there is none; raises ValueError if it has another name.

        Crash-safe: the file is whole and durable before it gets its name, and a slower process takes it.
        """
        path = self._directory / "key"
        if not path.exists():
            fresh = self._directory / f"key.{secrets.token_hex(4)}"
            fresh.touch(mode=0o600)
            _write_durably(fresh, f"{secrets.token_hex(_KEY_BYTES)} {name}\n".encode())
            with contextlib.suppress(FileExistsError):
                path.hardlink_to(fresh)
            fresh.unlink()
            sync_directory(self._directory)
        digits, _, known = path.read_text().strip().partition(" ")
        if known != name:
            raise ValueError(f"the witness in {self._directory} is called {known}: its key is that of this name")
        return CosigningKey(name, bytes.fromhex(digits))

    def cosigned(self) -> dict[str, CosignedTree]:
        """Return the last tree head of each log that was cosigned, by its origin."""
        with self._open() as connection:
            return {origin: CosignedTree(*rest) for origin, *rest in connection.execute("SELECT * FROM cosigned")}

    @contextlib.contextmanager
    def changing(self, origin: str) -> Iterator[tuple[CosignedTree, Callable[[CosignedTree], None]]]:
        """Give the last tree head of ``origin``, and what replaces it; nothing else changes it meanwhile.

        Crash-safe: one transaction, on the disk when the block has ended.
        """
        with self._open() as connection:
            connection.execute("BEGIN IMMEDIATE")
            found = connection.execute("SELECT size, root, note FROM cosigned WHERE origin = ?", (origin,)).fetchone()

            def replace(tree: CosignedTree) -> None:
                connection.execute("REPLACE INTO cosigned VALUES (?, ?, ?, ?)", (origin, *tree))

            yield NEVER if found is None else CosignedTree(*found), replace
            connection.execute("COMMIT")

    def keep_contradiction(self, kind: str, last: CosignedTree, body: bytes, text: str) -> None:
        """Store a contradicting request with the note it contradicts, as evidence, once for each ``text``.

        The limit is that of a ``kind``: wrong proofs, which anybody can send, do not keep out tree heads.
        """
        directory = self._directory / "contradictions"
        directory.mkdir(mode=0o700, exist_ok=True)
        path = directory / f"{kind}-{hashlib.sha256(text.encode()).hexdigest()}.txt"
        if not path.exists() and sum(1 for _ in directory.glob(f"{kind}-*")) < MAX_CONTRADICTIONS:
            _write_durably(path, last.note.encode() + b"\n" + body)
            sync_directory(directory)

    @contextlib.contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        connection = sqlite3.connect(self._directory / _DATABASE, LOCK_TIMEOUT_S, isolation_level=None)
        try:
            connection.execute(
                "PRAGMA synchronous = EXTRA"
            )  # the removal of the journal, which commits, is durable too
            yield connection
        finally:
            connection.close()


def _write_durably(path: Path, content: bytes) -> None:
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
