"""The high-water mark: how far the store had come, kept outside of it, so that nothing goes missing in silence.

A file beside the database says how many events each shard had, and for the matches that were last appended to at which
version they were and with which digest. What the store has less than that at the next start, or otherwise, is lost,
and named.
"""

import json
import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from events.store.contract import DamagedStream, Head
from events.store.redis import RedisStore, ShardKeys

MARK = "mark.json"
"""The file of an installation's mark, below its directory."""

FORMAT = 1
MAX_MATCHES = 4096
"""Matches that a mark names, those appended to last; of older ones it only has the number of events."""

DIGEST_BYTES = 8
BOOT = Path("/proc/sys/kernel/random/boot_id")


class Reached(NamedTuple):
    """The number of events of a shard, and of how many of them it is known that they are on the disk."""

    sequence: int = 0
    flushed: int = 0


class Seen(NamedTuple):
    """A match at ``version`` with the start of its digest; versions up to ``flushed`` are known to be on the disk."""

    version: int
    digest: str
    flushed: int = 0


class Mark(NamedTuple):
    """A high-water mark.

    What was acknowledged before ``at`` (milliseconds since 1970 UTC) is in it. ``boot`` names the run of the machine,
    ``behind`` says that the store acknowledges before it flushes, ``closed`` that it was stopped in good order since.
    ``flushed`` is the newest log of writes and how many of its bytes are known to be on the disk.
    """

    installation: str
    at: int
    boot: str
    behind: bool
    closed: bool
    flushed: tuple[str, int] | None
    shards: Sequence[Reached]
    matches: Mapping[str, Seen]


class Lost(NamedTuple):
    """Events of a match that the store has no longer: those after version ``after`` up to ``until``.

    ``replaced`` says that it has others in their place.
    """

    match: str
    after: int
    until: int
    replaced: bool = False

    def __str__(self) -> str:
        """Return the loss in words."""
        if self.replaced:
            return f"{self.match}: version {self.until} is another event than the one that was recorded"
        versions = f"versions {self.after + 1} to" if self.until - self.after > 1 else "version"
        return f"{self.match}: {versions} {self.until}"


class Missing(NamedTuple):
    """What a store lacks that its mark of the instant ``at`` has: losses of matches by name, and further events.

    ``flushed`` says that events are among it that are known to have been on the disk: more than a power cut may take.
    ``unsure`` says that the machine or the store stopped without warning, so that what was acknowledged within about a
    second after the mark may be missing as well: surely if the store was ``behind`` with flushing, else only if the
    disk did not keep what it had confirmed.
    """

    at: int
    losses: tuple[Lost, ...]
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
        """Return the losses in words, one match a line."""
        lines = [str(lost) for lost in self.losses]
        if self.unnamed:
            lines.append(f"{self.unnamed:,} further events of matches that were not appended to lately")
        return lines

    def summary(self) -> str:
        """Return in one sentence, without naming a match, what is missing."""
        said = []
        if self.certain:
            said.append(f"{self.events:,} stored events are missing, of {len(self.losses):,} known matches")
        if self.unsure:
            moment = datetime.fromtimestamp(self.at / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
            lied = "" if self.behind or self.certain else ", if the disk did not keep what it had confirmed"
            said.append(f"there was no orderly stop: what was done after {moment} UTC may be missing{lied}")
        return "; ".join(said)


def read_mark(path: Path) -> Mark | None:
    """Return the mark in the file at ``path``, None when there is no such file; raises ValueError for an unfit one."""
    try:
        stored = json.loads(path.read_text())
        if stored.pop("format") != FORMAT:
            raise ValueError("it has another format")
        shards = [Reached(*reached) for reached in stored.pop("shards")]
        matches = {match: Seen(*seen) for match, seen in stored.pop("matches").items()}
        flushed = stored.pop("flushed")
        return Mark(shards=shards, matches=matches, flushed=tuple(flushed) if flushed else None, **stored)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"the high-water mark {path} cannot be read: {error}") from error


def write_mark(path: Path, mark: Mark) -> None:
    """Put ``mark`` on the disk in place of the one before; raises OSError.

    Crash-safe: the new file is whole and flushed before it takes the place of the old one.
    """
    fresh = path.with_suffix(".new")
    with fresh.open("w") as file:
        json.dump({"format": FORMAT, **mark._asdict()}, file)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def missing(store: RedisStore, mark: Mark, boot: str) -> Missing:
    """Return what ``store`` lacks of what ``mark`` has; ``boot`` names the present run of the machine.

    Raises StoreError and redis errors.
    """
    losses, flushed = [], False
    named = [0] * len(mark.shards)
    for (match, seen), head in zip(mark.matches.items(), store.heads(list(mark.matches)), strict=True):
        if head.version < seen.version:
            losses.append(Lost(match, head.version, seen.version))
            named[store.shard_of(match)] += seen.version - head.version
            flushed |= head.version < seen.flushed
        elif _digest_at(store, match, seen.version, head) != seen.digest:
            losses.append(Lost(match, seen.version - 1, seen.version, replaced=True))
            flushed |= seen.version <= seen.flushed
    gone = [reached.sequence - now for reached, now in zip(mark.shards, sequences(store), strict=True)]
    flushed |= any(lost > reached.sequence - reached.flushed for reached, lost in zip(mark.shards, gone, strict=True))
    unnamed = sum(max(lost - known, 0) for lost, known in zip(gone, named, strict=True))
    found = Missing(mark.at, tuple(losses), unnamed, flushed, behind=mark.behind)
    return found._replace(unsure=not mark.closed and (mark.boot != boot or found.certain))


def sequences(store: RedisStore) -> list[int]:
    """Return the number of events of each shard; raises redis errors."""
    with store.client.pipeline(transaction=False) as pipeline:
        for shard in range(store.shards):
            pipeline.get(ShardKeys(store.prefix, shard).sequence)
        return [int(sequence or 0) for sequence in pipeline.execute()]


def seen(head: Head, flushed: int = 0) -> Seen:
    """Return what a mark says of a match at ``head``."""
    return Seen(head.version, head.digest[:DIGEST_BYTES].hex(), flushed)


def this_boot() -> str:
    """Return the name of the present run of the machine, empty where the machine has none."""
    try:
        return BOOT.read_text().strip()
    except OSError:
        return ""


def _digest_at(store: RedisStore, match: str, version: int, head: Head) -> str:
    if head.version == version:
        return head.digest[:DIGEST_BYTES].hex()
    try:
        (event,) = store.read(match, version - 1, 1)
    except (DamagedStream, ValueError):
        return ""
    return event.digest[:DIGEST_BYTES].hex()
