"""What is watched beside a running store: its high-water mark, the flushing of its files, the room on its disk."""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from threading import Event, Thread

from deploy.local import aof
from deploy.local.disk_reserve import Reserve
from deploy.local.watermark import (
    MAX_MATCHES,
    Mark,
    Missing,
    Reached,
    Seen,
    missing,
    read_mark,
    seen,
    sequences,
    this_boot,
    write_mark,
)
from events.runtime.errors import StoreError, StoreTimeout
from events.runtime.wall_clock import now_ms
from events.service.incidents import Incident, Incidents
from events.store.redis import RedisStore

EVERY_S = 0.5
"""The time between two marks. What is flushed behind the acknowledgement is flushed as often."""

MAX_SILENCE_S = 60.0
"""A server that answers nothing for this long hangs. It is longer than for other parts: a disk may take its time."""

POINTERS_AT_ONCE = 10_000
FAILURES = (StoreError, OSError)


class StoreWatch:
    """Takes the high-water mark of a store and, of an embedded server, flushes the files and watches the disk.

    ``path`` is the file of the mark. ``directory`` is that of the embedded server, None for a server elsewhere;
    ``behind`` says that it acknowledges before anything is flushed, which is then done here. ``say`` hears what a
    person who watches the installation wants to know. ``lose`` is called from the watching thread when the running
    store has lost what was on the disk, ``hang`` when it takes requests and has answered none for ``max_silence_s``.
    Methods raise StoreError, redis errors and OSError.
    """

    def __init__(
        self,
        store: RedisStore,
        path: Path,
        say: Callable[[str], None],
        directory: Path | None = None,
        behind: bool = False,
        lose: Callable[[Missing], None] = lambda _: None,
        hang: Callable[[], None] = lambda: None,
        max_silence_s: float = MAX_SILENCE_S,
    ) -> None:
        """Hold a reserve on the disk of ``directory``; nothing is watched yet."""
        self._store = store
        self._path = path
        self._say = say
        self._directory = directory
        self._behind = behind
        self._lose = lose
        self._hang = hang
        self._max_silence_s = max_silence_s
        self._answered = time.monotonic()
        self._boot = this_boot()
        self._reserve = None if directory is None else Reserve(directory)
        self._at = 0
        self._file: tuple[str, int] | None = None
        self._shards: list[Reached] = []
        self._matches: dict[str, Seen] = {}
        self._unflushed: set[str] = set()
        self._trouble = ""
        self._stop = Event()
        self._thread = Thread(target=self._run, name="store-watch", daemon=True)

    def missing(self) -> Missing | None:
        """Return what the store lacks of what it had when it was watched last, None when it lacks nothing."""
        try:
            mark = read_mark(self._path)
        except ValueError as error:
            self._say(f"{error}; whether events are missing at the end cannot be told")
            return None
        if mark is None:
            return None
        if mark.installation != self._store.installation().id:
            self._say(f"{self._path} is of another store; whether events are missing at the end cannot be told")
            return None
        self._matches = dict(mark.matches)
        found = missing(self._store, mark, self._boot)
        return found if found.certain or found.unsure else None

    def start(self) -> None:
        """Take what the store has now for all that there is, and watch it from now on."""
        self._begin()
        self._thread.start()

    def stop(self) -> None:
        """Stop watching; a store that answers is marked as stopped in good order."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()
            with suppress(*FAILURES):
                self.step()
                self._write(closed=True)
        if self._reserve is not None:
            self._reserve.give_up()

    def step(self) -> None:
        """Look at the disk, take the mark and flush."""
        if self._reserve is not None:
            self._keep_room(self._reserve)
        self._at = now_ms()
        now = sequences(self._store)
        if any(count < reached.sequence for count, reached in zip(now, self._shards, strict=True)):
            self._find_loss()
            return
        advanced = self._advance(now)
        # What is flushed behind the acknowledgement is in the mark before: what a power cut then takes can be named.
        if self._behind:
            self._write()
            self._flush()
        elif advanced:
            self._flush()
            self._write()

    def _begin(self) -> None:
        self._at = now_ms()
        self._shards = [Reached(count) for count in sequences(self._store)]
        heads = self._store.heads(list(self._matches))
        known = zip(self._matches, heads, strict=True)
        self._matches = {match: seen(head) for match, head in known if head.version}
        self._unflushed = set(self._matches)
        self._flush()
        self._write()

    def _advance(self, now: Sequence[int]) -> bool:
        """Take in the appends until the shards had as many events as ``now`` says; return whether anything was."""
        touched: dict[str, None] = {}
        for shard, (count, reached) in enumerate(zip(now, self._shards, strict=True)):
            at = reached.sequence
            while at < count and (pointers := self._store.feed(shard, at, POINTERS_AT_ONCE)):
                touched |= dict.fromkeys(pointer.stream for pointer in pointers)
                at = pointers[-1].sequence
            self._shards[shard] = reached._replace(sequence=max(at, count))
        for match, head in zip(touched, self._store.heads(list(touched)), strict=True):
            before = self._matches.pop(match, None)
            self._matches[match] = seen(head, before.flushed if before else 0)
        for match in list(islice(self._matches, max(len(self._matches) - MAX_MATCHES, 0))):
            del self._matches[match]
        self._unflushed |= touched.keys()
        return bool(touched)

    def _flush(self) -> None:
        """Put on the disk what the server has written; what the mark has is in the files then."""
        if self._directory is not None:
            self._file = aof.flush(self._directory)
        self._shards = [Reached(reached.sequence, reached.sequence) for reached in self._shards]
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

    def _find_loss(self) -> None:
        """The server was started again and has less than it had."""
        lost = missing(self._store, self._mark(closed=True), self._boot)
        record(self._store, lost)
        self._say("\n".join([lost.summary(), *lost.lines()]))
        self._begin()
        if lost.flushed:
            self._lose(lost)

    def _keep_room(self, reserve: Reserve) -> None:
        refusing = reserve.refusing
        if reserve.look():
            # The server forgets this setting when it is started again, so it is set each time.
            self._store.client.config_set("min-replicas-to-write", 1)
            if not refusing:
                self._say("the disk is almost full: nothing is written until there is room again; reading goes on")
        elif refusing:
            self._store.client.config_set("min-replicas-to-write", 0)
            self._say("there is room on the disk again: writing goes on")

    def _run(self) -> None:
        while not self._stop.wait(EVERY_S):
            trouble = ""
            try:
                self.step()
            except OSError as error:
                trouble = f"what happened in the last second may not be on the disk: {error}"
            except StoreTimeout:
                if time.monotonic() - self._answered > self._max_silence_s:
                    self._hang()
                    self._answered = time.monotonic()
                continue
            except StoreError:
                self._answered = time.monotonic()
                continue  # the server is away; that is said where it is started again
            except Exception as error:
                trouble = f"the store cannot be watched: {error!r}"
            self._answered = time.monotonic()
            if trouble and trouble != self._trouble:
                self._say(trouble)
            self._trouble = trouble


def record(store: RedisStore, missing: Missing) -> None:
    """Record what is missing as an incident, for operators and for the players of the matches.

    Crash-safe: it is recorded before the next mark is taken, under an id that is the same when it is found again.
    """
    lost = {each.match: each.after for each in missing.losses}
    Incidents(store.client, store.prefix).record(Incident(f"lost-{missing.at}", now_ms(), missing.summary(), lost))
