"""The high-water mark of a store, as a file outside it: how many events each shard had, and the last heads.

It names the installation, too: a store that holds another one, or none, is not used in its place.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from events.runtime.durable_files import replace_file

MARK = "mark.json"
FORMAT = 1


class ShardMark(NamedTuple):
    """The number of events of a shard, and how many of them are known to be on the disk."""

    sequence: int = 0
    flushed: int = 0


class MatchMark(NamedTuple):
    """The version of a match and the start of its digest; versions up to ``flushed`` are known to be on the disk."""

    version: int
    digest: str
    flushed: int = 0


class RecordedMark(NamedTuple):
    """A high-water mark, which covers all that was acknowledged before ``at``, in the ``boot`` of the machine.

    ``behind``: acknowledged before flushed; ``closed``: shut down cleanly since. ``flushed`` is the newest append-only
    file and how many of its bytes are on the disk.
    """

    installation: str
    at: int
    boot: str
    behind: bool
    closed: bool
    flushed: tuple[str, int] | None
    shards: Sequence[ShardMark]
    matches: Mapping[str, MatchMark]


def read_mark(path: Path) -> RecordedMark | None:
    """Return the mark in the file at ``path``, None when there is no file; raises ValueError for an unreadable one."""
    try:
        stored = json.loads(path.read_text())
        if stored.pop("format") != FORMAT:
            raise ValueError("unknown format")
        shards = [ShardMark(*shard) for shard in stored.pop("shards")]
        matches = {match: MatchMark(*mark) for match, mark in stored.pop("matches").items()}
        flushed = stored.pop("flushed")
        return RecordedMark(shards=shards, matches=matches, flushed=tuple(flushed) if flushed else None, **stored)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"the high-water mark {path} cannot be read: {error}") from error


def write_mark(path: Path, mark: RecordedMark) -> None:
    """Replace the mark on the disk with ``mark``; raises OSError."""
    replace_file(path, json.dumps({"format": FORMAT, **mark._asdict()}).encode())
