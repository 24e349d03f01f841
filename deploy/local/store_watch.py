"""Watches the embedded server: keeps its high-water mark, flushes its files, checks the free space on its disk."""

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread

from deploy.local import aof
from deploy.local.disk_reserve import DiskReserve
from events.runtime.errors import StoreError, StoreTimeoutError
from events.store.high_water_mark import HighWaterMark, MissingEvents
from events.store.redis import RedisStore

INTERVAL_S = 2.0
FLUSH_INTERVAL_S = 0.5
"""The time between two marks; the shorter one where writes are flushed after their acknowledgement, by the mark."""

MAX_SILENCE_S = 60.0
"""A server that answers nothing for this long hangs. It is longer than for other parts: a disk may be slow."""

FAILURES = (StoreError, OSError)


class StoreWatch:
    """Keeps the high-water mark of the embedded server in the file ``path``, flushes its files and watches its disk.

    ``behind`` means that the server acknowledges before anything is flushed, which is then done here. The watching
    thread calls ``on_loss`` when the running store has lost flushed events, and ``on_hang`` when it accepts
    requests and has answered none for MAX_SILENCE_S. Methods raise StoreError and OSError.
    """

    def __init__(
        self,
        store: RedisStore,
        path: Path,
        on_message: Callable[[str], None],
        directory: Path,
        behind: bool = False,
        on_loss: Callable[[MissingEvents], None] = lambda _: None,
        on_hang: Callable[[], None] = lambda: None,
    ) -> None:
        """Reserve space on the disk of ``directory``; nothing is watched yet."""
        self._store = store
        self._mark = HighWaterMark(store, path, on_message, lambda: aof.flush(directory), behind=behind, is_local=True)
        self.find_missing = self._mark.find_missing
        self._interval_s = FLUSH_INTERVAL_S if behind else INTERVAL_S
        self._message = on_message
        self._on_loss = on_loss
        self._on_hang = on_hang
        self._answered_at = time.monotonic()
        self._reserve = DiskReserve(directory)
        self._trouble = ""
        self._stop = Event()
        self._thread = Thread(target=self._run, name="store-watch", daemon=True)

    def start(self) -> None:
        """Mark the present events of the store, and watch it from now on."""
        self._mark.begin()
        self._thread.start()

    def stop(self) -> None:
        """Stop watching; a store that answers is marked as shut down cleanly."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()
            with suppress(*FAILURES):
                self._mark.close()
        self._reserve.release()

    def step(self) -> None:
        """Check the disk, write the mark and flush."""
        self._check_space(self._reserve)
        missing = self._mark.step()
        if missing is not None:
            self._message("\n".join([missing.summary(), *missing.lines()]))
            if missing.flushed:
                self._on_loss(missing)

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
        while not self._stop.wait(self._interval_s):
            trouble = ""
            try:
                self.step()
            except OSError as error:
                trouble = f"what happened in the last seconds may not be on the disk: {error}"
            except StoreTimeoutError:
                if time.monotonic() - self._answered_at > MAX_SILENCE_S:
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
