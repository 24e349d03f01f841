"""The ticker: what time makes due happens as soon as it is due.

It reads the deadlines that every append writes, settles the matches whose deadline has come, and waits for the next
one. It also says every second that time is kept, tells all matches of an outage, and lets them follow what has changed
in the diaries of their players. It remembers nothing that counts: killed at any moment, the next one, or another one
that runs at the same time, finds the same things to do, and what is done twice is done once.
"""

import threading
from collections.abc import Callable, Iterator
from itertools import islice
from typing import NamedTuple

import structlog

from domain.match.state import ABORTED, FINISHED
from events.private.availability import Diaries
from events.readmodels.reader import ReadModels
from events.runtime import beats
from events.runtime.wall_clock import rfc3339
from events.service.outages import Heartbeat, Outage
from events.service.timekeeper import Timekeeper, unavailable
from events.store.contract import EventStore
from workers.lines import repeat

TICK_MS = 1000
"""The ticker looks again at least so often, and so long ahead."""

AT_ONCE = 100
"""Deadlines of one shard, and matches that are told of an outage, in one tick."""

PATIENCE_MS = 10_000
LONGEST_PATIENCE_MS = 600_000

log = structlog.get_logger("ticker")


class Idle(NamedTuple):
    """Settling a match at this ``deadline`` has changed nothing: it is not tried again before ``until``."""

    deadline: int
    until: int
    patience: int


class Crediting(NamedTuple):
    """The outages that all matches are being told of, and the matches that are still to be told."""

    outages: list[Outage]
    streams: Iterator[str]


class Ticker:
    """Keeps the time of an installation. Any number may run; ``now`` returns milliseconds since 1970 UTC."""

    def __init__(
        self,
        store: EventStore,
        readmodels: ReadModels,
        timekeeper: Timekeeper,
        diaries: Diaries,
        heartbeat: Heartbeat,
        now: Callable[[], int],
    ) -> None:
        self._store = store
        self._readmodels = readmodels
        self._timekeeper = timekeeper
        self._diaries = diaries
        self._heartbeat = heartbeat
        self._now = now
        self._idle: dict[str, Idle] = {}
        self._crediting: Crediting | None = None
        self._announced: list[Outage] = []

    def run(self, stop: threading.Event) -> None:
        """Tick until ``stop`` is set. Whatever is unavailable is waited for, with growing delays."""

        def tick() -> float:
            following = self.tick()
            # No longer than a tick, even if the clock is set back meanwhile.
            return min(max(0, following - self._now()), TICK_MS) / 1000

        repeat(tick, stop, self._forget_crediting, line="ticker")

    def _forget_crediting(self) -> None:
        self._crediting = None

    def tick(self) -> int:
        """Let happen what is due; return the instant at which to tick again.

        Raises redis errors, StoreUnavailable, and ClockDiffers when this process's clock is wrong: then it keeps no
        time, for every flag would fall early, and records none.
        """
        now = self._now()
        # Before any flag: a gap that ends here is an outage, and whoever settles a match from now on knows of it.
        self._heartbeat.beat(now, now)
        self._announce_provisional()
        following = min(self._settle_due(now), now + TICK_MS)
        for mark in self._diaries.marks():
            beats.beat()
            self._timekeeper.follow(mark, now)
        return now if self._credit_outages(now) else following

    def _announce_provisional(self) -> None:
        """Tell the operator of outages that are credited but may be the work of a wrong clock."""
        provisional = self._heartbeat.provisional()
        for outage in provisional:
            if outage not in self._announced:
                log.error(
                    "an outage longer than a day is credited provisionally: see rookery clocks",
                    since=rfc3339(outage.since),
                    until=rfc3339(outage.until),
                )
        self._announced = provisional

    def _settle_due(self, now: int) -> int:
        """Settle the matches whose deadline has come; return the earliest deadline that has not."""
        following = now + TICK_MS
        for shard in range(self._store.shards):
            # What stands there to no purpose must not hide what is due behind it.
            limit = AT_ONCE + len(self._idle)
            due = self._store.due(shard, now + TICK_MS, limit)
            for match, deadline in due:
                if deadline > now:
                    following = min(following, deadline)
                elif not self._is_idle(match, deadline, now) and not self._settle(match, now):
                    self._rest(match, deadline, now)
            if len(due) == limit and due[-1][1] <= now:
                following = now
        return following

    def _settle(self, match: str, now: int) -> bool:
        """Settle ``match``; return whether anything happened in it."""
        beats.beat()
        try:
            before, after = self._timekeeper.settle(match, now)
        except Exception as error:
            if unavailable(error):
                raise
            # A match that cannot be read must not stop the clocks of the others.
            log.error("a match cannot be settled", match=match, error=str(error))
            return False
        return after != before

    def _is_idle(self, match: str, deadline: int, now: int) -> bool:
        known = self._idle.get(match)
        return known is not None and known.deadline == deadline and now < known.until

    def _rest(self, match: str, deadline: int, now: int) -> None:
        """Leave a match alone for a while, longer each time: its deadline says more than its events do."""
        known = self._idle.get(match)
        again = known is not None and known.deadline == deadline
        patience = min(2 * known.patience, LONGEST_PATIENCE_MS) if known is not None and again else PATIENCE_MS
        log.warning("nothing is due", match=match, deadline=deadline, again_in_ms=patience)
        forgotten = now - LONGEST_PATIENCE_MS
        self._idle = {other: idle for other, idle in self._idle.items() if idle.until > forgotten}
        self._idle[match] = Idle(deadline, now + patience, patience)

    def _credit_outages(self, now: int) -> bool:
        """Tell some of the matches of the outages that not all know of; return whether there are more to tell.

        Whoever settles a match finds the outages by himself: this is for those that nobody settles for a while. Killed
        midway, it begins anew; a match that knows already is left as it is.
        """
        if self._crediting is None:
            outages = self._heartbeat.uncredited()
            if not outages:
                return False
            self._crediting = Crediting(outages, self._store.all_streams())
        matches = list(islice(self._crediting.streams, AT_ONCE))
        for match, projected in zip(matches, self._readmodels.projected(matches), strict=True):
            if projected is None or projected.summary.status not in (FINISHED, ABORTED):
                self._settle(match, now)
        if len(matches) == AT_ONCE:
            return True
        for outage in self._crediting.outages:
            self._heartbeat.credited(outage)
            log.info("an outage is credited", since=outage.since, until=outage.until)
        self._crediting = None
        return False
