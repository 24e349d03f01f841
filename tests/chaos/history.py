"""What the clients of a campaign have asked for, been told and seen: JSON Lines, one record each.

Instants are milliseconds of the clock of the clients' process, which only goes forward. Events are named by the match,
the version and the beginning of the digest, as in version tags.
"""

import json
import time
from collections.abc import Iterable
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from events.store.contract import DIGEST_DIGITS


class Tag(NamedTuple):
    """An event of a match, which stands for all events before it; version 0 is that of a match that does not exist."""

    version: int
    digest: str

    @classmethod
    def parse(cls, text: str) -> "Tag":
        version, _, digest = text.partition("-")
        return cls(int(version), digest[:DIGEST_DIGITS])


NOTHING = Tag(0, "")


class Answered(NamedTuple):
    """A request that was answered after it had been sent under one ``key``, once or more.

    ``events`` are those that the answer acknowledges, none when it refuses with ``code``.
    """

    client: str
    key: str
    match: str
    sent_at: int
    at: int
    status: int
    code: str
    events: tuple[Tag, ...]
    moves: tuple[str, ...]


class Read(NamedTuple):
    client: str
    match: str
    sent_at: int
    at: int
    tag: Tag


class Disturbed(NamedTuple):
    """What was done to a part of the installation."""

    action: str
    part: str
    at: int


Record = Answered | Read | Disturbed


class History:
    """Writes records to a file as they come. Safe to share between threads."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = path.open("a", buffering=1)  # by lines: the clients may be killed, too
        self._lock = Lock()

    def add(self, record: Record) -> None:
        """Write ``record``."""
        line = json.dumps([type(record).__name__, *record])
        with self._lock:
            self._file.write(line + "\n")

    def close(self) -> None:
        self._file.close()


def read_history(lines: Iterable[str]) -> list[Record]:
    """Return the records that ``lines`` are."""
    return [_record(*json.loads(line)) for line in lines]


def clock_ms() -> int:
    return time.monotonic_ns() // 1_000_000


def _record(name: str, *fields: Any) -> Record:
    match name:
        case "Answered":
            client, key, match, sent_at, at, status, code, events, moves = fields
            tags = tuple(Tag(*event) for event in events)
            return Answered(client, key, match, sent_at, at, status, code, tags, tuple(moves))
        case "Read":
            client, match, sent_at, at, tag = fields
            return Read(client, match, sent_at, at, Tag(*tag))
    return Disturbed(*fields)
