"""The high-water mark: how many events the store had, recorded outside it, so that no loss goes unnoticed.

A file beside the database records the number of events of each shard, and the version and digest of the matches that
were appended to last. Whatever the store later lacks of that is lost, and reported by match and version.
"""

import json
import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from events.runtime.keys import ShardKeys
from events.store.contract import DamagedStreamError, Head
from events.store.redis import RedisStore

MARK = "mark.json"
"""The file of the mark, in the directory of an installation."""

FORMAT = 1
MAX_MATCHES = 4096
"""Matches that a mark names: those appended to last. Of others it only has the number of events."""

DIGEST_BYTES = 8
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


class ShardMark(NamedTuple):
    """The number of events of a shard, and how many of them are known to be on the disk."""

    sequence: int = 0
    flushed: int = 0


class MatchMark(NamedTuple):
    """The version of a match and the start of its digest; versions up to ``flushed`` are known to be on the disk."""

    version: int
    digest: str
    flushed: int = 0


class Mark(NamedTuple):
    """A high-water mark.

    It covers what was acknowledged before ``at`` (milliseconds since 1970 UTC). ``boot`` identifies the boot of the
    machine; ``behind`` means that the store acknowledges before it flushes, ``closed`` that it was shut down cleanly
    since. ``flushed`` is the newest append-only file and how many of its bytes are known to be on the disk.
    """

    installation: str
    at: int
    boot: str
    behind: bool
    closed: bool
    flushed: tuple[str, int] | None
    shards: Sequence[ShardMark]
    matches: Mapping[str, MatchMark]


class LostEvents(NamedTuple):
    """Events of a match that the store no longer has: those after version ``after`` up to ``until``.

    ``replaced`` means that it has others in their place.
    """

    match: str
    after: int
    until: int
    replaced: bool = False

    def __str__(self) -> str:
        """Return a description of the loss."""
        if self.replaced:
            return f"{self.match}: version {self.until} is another event than the one that was recorded"
        versions = f"versions {self.after + 1} to" if self.until - self.after > 1 else "version"
        return f"{self.match}: {versions} {self.until}"


class MissingEvents(NamedTuple):
    """What a store lacks of its mark of the instant ``at``: losses of known matches, and the number of other events.

    ``flushed`` means that some of them are known to have been on the disk: more than a power cut may take. ``unsure``
    means that the machine or the store stopped without warning, so that what was acknowledged within about a second
    after the mark may be missing too: if the store was ``behind`` with flushing, or else if the disk did not keep what
    it had confirmed.
    """

    at: int
    losses: tuple[LostEvents, ...]
    unnamed: int
    flushed: bool
    unsure: bool = False
    behind: bool = False

    @property
    def certain(self) -> bool:
        """Whether anything is missing for certain."""
        return bool(self.losses or self.unnamed)

    @property
    def events(self) -> int:
        """The number of events that are missing for certain."""
        return self.unnamed + sum(lost.until - lost.after for lost in self.losses)

    def lines(self) -> list[str]:
        """Return a description of the losses, one match per line."""
        lines = [str(lost) for lost in self.losses]
        if self.unnamed:
            lines.append(f"{self.unnamed:,} further events of matches that were not among the last appended to")
        return lines

    def summary(self) -> str:
        """Return one sentence about what is missing, without naming a match."""
        parts = []
        if self.certain:
            parts.append(f"{self.events:,} stored events are missing, of {len(self.losses):,} known matches")
        if self.unsure:
            moment = datetime.fromtimestamp(self.at / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
            condition = "" if self.behind or self.certain else ", if the disk did not keep what it had confirmed"
            parts.append(f"there was no orderly stop: what was done after {moment} UTC may be missing{condition}")
        return "; ".join(parts)


def read_mark(path: Path) -> Mark | None:
    """Return the mark in the file at ``path``, None when there is no file; raises ValueError for an unreadable one."""
    try:
        stored = json.loads(path.read_text())
        if stored.pop("format") != FORMAT:
            raise ValueError("unknown format")
        shards = [ShardMark(*shard) for shard in stored.pop("shards")]
        matches = {match: MatchMark(*mark) for match, mark in stored.pop("matches").items()}
        flushed = stored.pop("flushed")
        return Mark(shards=shards, matches=matches, flushed=tuple(flushed) if flushed else None, **stored)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"the high-water mark {path} cannot be read: {error}") from error


def write_mark(path: Path, mark: Mark) -> None:
    """Replace the mark on the disk with ``mark``; raises OSError.

    Crash-safe: the new file is complete and flushed before it replaces the old one.
    """
    fresh = path.with_suffix(".new")
    with fresh.open("w") as file:
        json.dump({"format": FORMAT, **mark._asdict()}, file)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)
    directory = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def find_missing(store: RedisStore, mark: Mark, boot: str) -> MissingEvents:
    """Return what ``store`` lacks of ``mark``; ``boot`` identifies the current boot of the machine.

    Raises StoreError.
    """
    losses, flushed = [], False
    named = [0] * len(mark.shards)
    for (match, known), head in zip(mark.matches.items(), store.heads(list(mark.matches)), strict=True):
        if head.version < known.version:
            losses.append(LostEvents(match, head.version, known.version))
            named[store.shard_of(match)] += known.version - head.version
            flushed |= head.version < known.flushed
        elif _digest_at(store, match, known.version, head) != known.digest:
            losses.append(LostEvents(match, known.version - 1, known.version, replaced=True))
            flushed |= known.version <= known.flushed
    lost = [shard.sequence - now for shard, now in zip(mark.shards, shard_sequences(store), strict=True)]
    flushed |= any(count > shard.sequence - shard.flushed for shard, count in zip(mark.shards, lost, strict=True))
    unnamed = sum(max(count - counted, 0) for count, counted in zip(lost, named, strict=True))
    missing = MissingEvents(mark.at, tuple(losses), unnamed, flushed, behind=mark.behind)
    return missing._replace(unsure=not mark.closed and (mark.boot != boot or missing.certain))


def shard_sequences(store: RedisStore) -> list[int]:
    """Return the number of events of each shard; raises StoreError."""
    with store.client.pipeline(transaction=False) as pipeline:
        for shard in range(store.shards):
            pipeline.get(ShardKeys(store.prefix, shard).sequence)
        return [int(sequence or 0) for sequence in pipeline.execute()]


def match_mark(head: Head, flushed: int = 0) -> MatchMark:
    """Return what a mark records of a match at ``head``."""
    return MatchMark(head.version, head.digest[:DIGEST_BYTES].hex(), flushed)


def boot_id() -> str:
    """Return the id of the current boot of the machine, empty where it has none."""
    try:
        return BOOT_ID.read_text().strip()
    except OSError:
        return ""


def _digest_at(store: RedisStore, match_id: str, version: int, head: Head) -> str:
    if head.version == version:
        return head.digest[:DIGEST_BYTES].hex()
    try:
        (event,) = store.read(match_id, version - 1, 1)
    except (DamagedStreamError, ValueError):
        return ""
    return event.digest[:DIGEST_BYTES].hex()
