"""Keeps the high-water mark of the store, in the relay with FIRST_SHARD, and reports what the store has lost."""

import threading
from pathlib import Path

import structlog

from events.service.high_water_mark import HighWaterMark
from events.store.redis import RedisStore
from workers.shares import FIRST_SHARD, Share, has_shard
from workers.threads import repeat

INTERVAL_S = 1.0

log = structlog.get_logger("mark")


class MarkKeeper:
    """Keeps the mark of ``store`` in the file ``path`` while ``share`` has FIRST_SHARD."""

    def __init__(self, store: RedisStore, path: Path, share: Share = lambda: None) -> None:
        self._mark = HighWaterMark(store, path, log.warning)
        self._share = share
        self._is_keeping = False

    def run(self, stop: threading.Event) -> None:
        """Work until ``stop`` is set."""
        repeat(self.step, stop, lambda: None, line="mark")

    def step(self) -> float:
        """Compare the store with the mark and bring that up to the store; return when to do so again, in seconds."""
        if not has_shard(self._share, FIRST_SHARD):
            self._is_keeping = False
            return INTERVAL_S
        if not self._is_keeping:
            self._mark.load()
            self._is_keeping = True
        missing = self._mark.step()
        if missing is not None:
            log.error("acknowledged events are lost", summary=missing.summary(), lost=missing.lines())
        return INTERVAL_S
