"""Watches a running store: keeps its high-water mark, flushes its files, checks the free space on its disk."""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from threading import Event, Thread

from deploy.local import aof
from deploy.local.disk_reserve import DiskReserve
from deploy.local.watermark import (
    MAX_MATCHES,
    Mark,
    MatchMark,
    MissingEvents,
    ShardMark,
    boot_id,
    find_missing,
    match_mark,
    read_mark,
    shard_sequences,
    write_mark,
)
from events.runtime.errors import StoreError, StoreTimeoutError
from events.runtime.wall_clock import now_ms
from events.service.incidents import Incident, Incidents
from events.service.lost_tails import incident_id
from events.store.redis import RedisStore

INTERVAL_S = 0.5
"""The time between two marks, and between two flushes of files that are flushed after the acknowledgement."""

MAX_SILENCE_S = 60.0
"""A server that answers nothing for this long hangs. It is longer than for other parts: a disk may be slow."""

FEED_BATCH = 10_000
FAILURES = (StoreError, OSError)


class StoreWatch:
    """Keeps the high-water mark of a store; for an embedded server, flushes its files and watches its disk.

    ``path`` is the file of the mark. ``directory`` is that of the embedded server, None for a server elsewhere;
    ``behind`` means that the server acknowledges before anything is flushed, which is then done here. ``on_message``
    receives what an operator wants to know. The watching thread calls ``on_loss`` when the running store has lost what
    was on the disk, and ``on_hang`` when it accepts requests and has answered none for ``max_silence_s``. Methods raise
    StoreError and OSError.
    """

    def __init__(
        self,
        store: RedisStore,
        path: Path,
        on_message: Callable[[str], None],
        directory: Path | None = None,
        behind: bool = False,
        on_loss: Callable[[MissingEvents], None] = lambda _: None,
        on_hang: Callable[[], None] = lambda: None,
        max_silence_s: float = MAX_SILENCE_S,
    ) -> None:
        """Reserve space on the disk of ``directory``; nothing is watched yet."""
        self._store = store
        self._path = path
        self._message = on_message
        self._directory = directory
        self._behind = behind
        self._on_loss = on_loss
        self._on_hang = on_hang
        self._max_silence_s = max_silence_s
        self._answered_at = time.monotonic()
        self._boot = boot_id()
        self._reserve = None if directory is None else DiskReserve(directory)
        self._at = 0
        self._file: tuple[str, int] | None = None
        self._shards: list[ShardMark] = []
        self._matches: dict[str, MatchMark] = {}
        self._unflushed: set[str] = set()
        self._trouble = ""
        self._stop = Event()
        self._thread = Thread(target=self._run, name="store-watch", daemon=True)

    def find_missing(self) -> MissingEvents | None:
        """Return what the store lacks of its last mark, None when it lacks nothing or there is no mark of it."""
        try:
            mark = read_mark(self._path)
        except ValueError as error:
            self._message(f"{error}; events missing at the end cannot be detected")
            return None
        if mark is None:
            return None
        if mark.installation != self._store.installation().id:
            self._message(f"{self._path} belongs to another store; events missing at the end cannot be detected")
            return None
        self._matches = dict(mark.matches)
        missing = find_missing(self._store, mark, self._boot)
        return missing if missing.certain or missing.unsure else None

    def start(self) -> None:
        """Mark what the store has now, and watch it from now on."""
        self._mark_current()
        self._thread.start()

    def stop(self) -> None:
        """Stop watching; a store that answers is marked as shut down cleanly."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()
            with suppress(*FAILURES):
                self.step()
                self._write(closed=True)
        if self._reserve is not None:
            self._reserve.release()

    def step(self) -> None:
        """Check the disk, write the mark and flush."""
        if self._reserve is not None:
            self._check_space(self._reserve)
        self._at = now_ms()
        now = shard_sequences(self._store)
        if any(count < shard.sequence for count, shard in zip(now, self._shards, strict=True)):
            self._handle_loss()
            return
        advanced = self._advance(now)
        # Files that are flushed after the acknowledgement are in the mark before: a power cut's loss can be named.
        if self._behind:
            self._write()
            self._flush()
        elif advanced:
            self._flush()
            self._write()

    def _mark_current(self) -> None:
        self._at = now_ms()
        self._shards = [ShardMark(count) for count in shard_sequences(self._store)]
        heads = self._store.heads(list(self._matches))
        known = zip(self._matches, heads, strict=True)
        self._matches = {match: match_mark(head) for match, head in known if head.version}
        self._unflushed = set(self._matches)
        self._flush()
        self._write()

    def _advance(self, now: Sequence[int]) -> bool:
        """Add the appends of each shard up to its number of events ``now``; return whether there were any."""
        touched: dict[str, None] = {}
        for number, (count, shard) in enumerate(zip(now, self._shards, strict=True)):
            at = shard.sequence
            while at < count and (pointers := self._store.feed(number, at, FEED_BATCH)):
                touched |= dict.fromkeys(pointer.stream for pointer in pointers)
                at = pointers[-1].sequence
            self._shards[number] = shard._replace(sequence=max(at, count))
        for match, head in zip(touched, self._store.heads(list(touched)), strict=True):
            before = self._matches.pop(match, None)
            self._matches[match] = match_mark(head, before.flushed if before else 0)
        for match in list(islice(self._matches, max(len(self._matches) - MAX_MATCHES, 0))):
            del self._matches[match]
        self._unflushed |= touched.keys()
        return bool(touched)

    def _flush(self) -> None:
        """Flush what the server has written, which includes everything in the mark."""
        if self._directory is not None:
            self._file = aof.flush(self._directory)
        self._shards = [ShardMark(shard.sequence, shard.sequence) for shard in self._shards]
        for match in self._unflushed & self._matches.keys():
            self._matches[match] = self._matches[match]._replace(flushed=self._matches[match].version)
        self._unflushed.clear()

    def _write(self, closed: bool = False) -> None:
        write_mark(self._path, self._mark(closed))

    def _mark(self, closed: bool) -> Mark:
        return Mark(
            installation=self._store.installation().id,
            at=self._at,
            boot=self._boot,
            behind=self._behind,
            closed=closed,
            flushed=self._file,
            shards=self._shards,
            matches=self._matches,
        )

    def _handle_loss(self) -> None:
        """Record that the store has fewer events than before, which only a restart of the server explains."""
        lost = find_missing(self._store, self._mark(closed=True), self._boot)
        # The same incident as the one in which other processes find lost what they have told.
        record_loss(self._store, lost, incident_id(self._store, 0))
        self._message("\n".join([lost.summary(), *lost.lines()]))
        self._mark_current()
        if lost.flushed:
            self._on_loss(lost)

    def _check_space(self, reserve: DiskReserve) -> None:
        was_low = reserve.is_low
        if reserve.update():
            # A restarted server has lost this setting, so it is set each time.
            self._store.client.config_set("min-replicas-to-write", 1)
            if not was_low:
                self._message("the disk is almost full: writes are refused until there is room again; reads still work")
        elif was_low:
            self._store.client.config_set("min-replicas-to-write", 0)
            self._message("there is room on the disk again: writes are accepted")

    def _run(self) -> None:
        while not self._stop.wait(INTERVAL_S):
            trouble = ""
            try:
                self.step()
            except OSError as error:
                trouble = f"what happened in the last second may not be on the disk: {error}"
            except StoreTimeoutError:
                if time.monotonic() - self._answered_at > self._max_silence_s:
                    self._on_hang()
                    self._answered_at = time.monotonic()
                continue
            except StoreError:
                self._answered_at = time.monotonic()
                continue  # the server is down, which its restart reports
            except Exception as error:
                trouble = f"the store cannot be watched: {error!r}"
            self._answered_at = time.monotonic()
            if trouble and trouble != self._trouble:
                self._message(trouble)
            self._trouble = trouble


def record_loss(store: RedisStore, missing: MissingEvents, id: str | None = None) -> None:
    """Record what is missing as an incident, for operators and for the players of the matches.

    Crash-safe: it is recorded before the next mark is written, under an id that is the same when it is found again:
    that of the mark, or the given ``id``.
    """
    lost = {loss.match: loss.after for loss in missing.losses}
    incident = Incident(id or f"lost-{missing.at}", now_ms(), missing.summary(), lost)
    Incidents(store.client, store.prefix).record(incident)
