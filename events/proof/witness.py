"""The decision of a witness on each checkpoint that it is asked to cosign (C2SP tlog-witness)."""

import contextlib
import hashlib
import secrets
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import structlog

from events.proof import merkle
from events.proof.documents import DocumentError
from events.proof.notes import ED25519, NoteKey, SignedNote
from events.proof.transparency.witness_protocol import SIZE_TYPE, AddCheckpoint, read_request
from events.proof.tree_heads import CosigningKey, TreeHead, parse_tree_head
from events.runtime.durable_files import create_file, replace_file

MAX_CONTRADICTIONS = 100
"""The greatest number of contradictions that are kept of each kind, as evidence."""

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
            create_file(path, f"{secrets.token_hex(_KEY_BYTES)} {name}\n".encode())
        digits, _, stored_name = path.read_text().strip().partition(" ")
        if stored_name != name:
            raise ValueError(f"the witness in {self._directory} is called {stored_name}: its key is that of this name")
        return CosigningKey(name, bytes.fromhex(digits))

    def cosigned(self) -> dict[str, CosignedTree]:
        """Return the last tree head of each log that was cosigned, by its origin."""
        with self._open() as connection:
            return {origin: CosignedTree(*rest) for origin, *rest in connection.execute("SELECT * FROM cosigned")}

    @contextlib.contextmanager
    def changing(self, origin: str) -> Iterator[tuple[CosignedTree, Callable[[CosignedTree], None]]]:
        """Give the last tree head of ``origin``, and a function that replaces it; nothing else changes it meanwhile.

        Crash-safe: one transaction, on the disk when the block has ended.
        """
        with self._open() as connection:
            connection.execute("BEGIN IMMEDIATE")
            row = connection.execute("SELECT size, root, note FROM cosigned WHERE origin = ?", (origin,)).fetchone()

            def replace(tree: CosignedTree) -> None:
                connection.execute("REPLACE INTO cosigned VALUES (?, ?, ?, ?)", (origin, *tree))

            yield NEVER if row is None else CosignedTree(*row), replace
            connection.execute("COMMIT")

    def keep_contradiction(self, kind: str, last: CosignedTree, body: bytes, text: str) -> None:
        """Store a contradicting request with the note it contradicts, as evidence, once for each ``text``.

        The limit is that of a ``kind``: wrong proofs, which anybody can send, do not keep out tree heads.
        """
        directory = self._directory / "contradictions"
        directory.mkdir(mode=0o700, exist_ok=True)
        path = directory / f"{kind}-{hashlib.sha256(text.encode()).hexdigest()}.txt"
        if not path.exists() and sum(1 for _ in directory.glob(f"{kind}-*")) < MAX_CONTRADICTIONS:
            replace_file(path, last.note.encode() + b"\n" + body)

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


TEXT_TYPE = "text/plain; charset=utf-8"

TWO_TREES, NO_PROOF = "two-trees", "no-proof"
"""Kinds of contradictions: another tree of the size that was cosigned, and a tree that is not proved to extend it."""

log = structlog.get_logger("witness")


class WitnessReply(NamedTuple):
    """An answer: the status of HTTP, the content type and the body."""

    status: int
    content_type: str
    body: bytes


class Witness:
    """Cosigns the tree heads of ``logs``, each known by its keys; ``now_s`` returns seconds since 1970 UTC."""

    def __init__(
        self, key: CosigningKey, logs: Iterable[NoteKey], state: WitnessState, now_s: Callable[[], int]
    ) -> None:
        self.key = key
        self._logs: dict[str, list[NoteKey]] = {}
        for log_key in logs:
            self._logs.setdefault(log_key.name, []).append(log_key)
        self._state = state
        self._now_s = now_s

    def add_checkpoint(self, body: bytes) -> WitnessReply:
        """Return the answer to a request: a cosignature for a consistent tree. Raises sqlite3.Error and OSError."""
        try:
            asked = read_request(body)
            head = parse_tree_head(asked.note.text)
        except DocumentError as fault:
            return _refusal(400, str(fault))
        keys = self._logs.get(head.origin)
        if keys is None:
            return _refusal(404, "the log of this origin is not known here")
        if not any(_is_signed(asked.note, key) for key in keys):
            return _refusal(403, "no known key of this log has signed the checkpoint")
        if asked.old_size > head.size:
            return _refusal(400, f"old: {asked.old_size} is more than the {head.size} leaves of the checkpoint")
        return self._cosign(asked, head, body)

    def _cosign(self, asked: AddCheckpoint, head: TreeHead, body: bytes) -> WitnessReply:
        with self._state.changing(head.origin) as (last, replace):
            reply, contradiction = _judge(asked, head, last)
            if reply is None:
                replace(CosignedTree(head.size, head.root, str(asked.note)))
        if contradiction is not None:
            log.error(
                "a log contradicts itself, or the proof is wrong",
                kind=contradiction,
                origin=head.origin,
                size=head.size,
                cosigned=last.size,
            )
            self._state.keep_contradiction(contradiction, last, body, asked.note.text)
        if reply is not None:
            return reply
        line = self.key.cosign(asked.note.text, self._now_s()).line
        return WitnessReply(200, TEXT_TYPE, line.encode())


def _judge(asked: AddCheckpoint, head: TreeHead, last: CosignedTree) -> tuple[WitnessReply | None, str | None]:
    """Return the refusal of a checkpoint (None when it extends ``last``), and the kind of contradiction, if any."""
    size = WitnessReply(409, SIZE_TYPE, f"{last.size}\n".encode())
    if asked.old_size != last.size:
        return size, None
    if head.size == last.size and head.root != last.root:
        return size, TWO_TREES if last.size else None
    if not merkle.is_consistent(last.size, last.root, head.size, head.root, asked.proof):
        words = f"the proof does not lead from the {last.size} leaves that were cosigned to this checkpoint"
        return _refusal(422, words), NO_PROOF if last.size else None
    return None, None


def _is_signed(note: SignedNote, key: NoteKey) -> bool:
    if key.type != ED25519:
        return False
    try:
        note.check(key)
    except DocumentError:
        return False
    return True


def _refusal(status: int, reason: str) -> WitnessReply:
    return WitnessReply(status, TEXT_TYPE, f"{reason}\n".encode())
