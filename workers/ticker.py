"""The ticker: steps that time makes due are taken as soon as they are due.

It settles the matches whose deadline has passed; at every tick it also records that time is kept, and tells matches of
outages and availability. Crash-safe: it remembers nothing, all is idempotent.
"""

import threading
from collections.abc import Callable, Iterator
from itertools import islice
from typing import NamedTuple

import structlog

from domain.match.due import Outage
from domain.match.enums import Status
from events.matches.outages import Heartbeat
from events.matches.readmodels import ReadModels
from events.matches.timekeeper import Timekeeper
from events.runtime import beats
from events.runtime.errors import StoreUnavailableError
from events.runtime.wall_clock import rfc3339
from events.store.kinds import is_match, only_matches
from events.store.redis import RedisStore
from workers.retries import Retries
from workers.shares import FIRST_SHARD, Share, has_shard
from workers.threads import repeat

TICK_MS = 2000
"""The ticker looks at deadlines at least this often, and this far ahead."""

MAX_MATCHES_PER_TICK = 100

log = structlog.get_logger("ticker")


class Crediting(NamedTuple):
    """Outages that all matches are being told of, and the matches that are still to be told."""

    outages: list[Outage]
    streams: Iterator[str]


class Ticker:
    """Keeps the time of the matches and contests of an installation that belong to the ``share`` of this relay."""

    def __init__(
        self,
        store: RedisStore,
        readmodels: ReadModels,
        timekeeper: Timekeeper,
        heartbeat: Heartbeat,
        now: Callable[[], int],
        share: Share = lambda: None,
        settle_contest: Callable[[str], bool] = lambda _: False,
    ) -> None:
        self._store = store
        self._readmodels = readmodels
        self._timekeeper = timekeeper
        self._heartbeat = heartbeat
        self._now = now
        self._share = share
        self._settle_contest = settle_contest
        self._idle = Retries()
        self._crediting: Crediting | None = None
        self._announced: list[Outage] = []

    def run(self, stop: threading.Event) -> None:
        """Tick until ``stop`` is set, waiting with growing delays for whatever is unavailable."""

        def tick() -> float:
            following = self.tick()
            # No longer than a tick, even if the clock is set back meanwhile.
            return min(max(0, following - self._now()), TICK_MS) / 1000

        repeat(tick, stop, self._restart_crediting, line="ticker")

    def tick(self) -> int:
        """Take the steps that are due; return the instant of the next tick. Raises ClockMismatchError."""
        now = self._now()
        # Before any flag: a gap that ends here is an outage, and every match that is settled from now on knows of it.
        self._heartbeat.beat(now, now)
        self._announce_provisional()
        following = min(self._settle_due(now), now + TICK_MS)
        self._timekeeper.follow_changes(now)
        return now if has_shard(self._share, FIRST_SHARD) and self._credit_outages(now) else following

    def _announce_provisional(self) -> None:
        """Tell the operator of outages that are credited but may come from a wrong clock."""
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
        following = now + TICK_MS
        # Deadlines at which nothing happens must not hide those behind them.
        limit = MAX_MATCHES_PER_TICK + len(self._idle)
        due = self._store.due(now + TICK_MS, limit, self._share())
        for match_id, deadline in due:
            if deadline > now:
                following = min(following, deadline)
            elif self._idle.is_due(match_id, deadline, now) and not self._settle(match_id, now):
                # The deadline says more than the events do.
                again_in_ms = self._idle.record(match_id, deadline, now)
                log.warning("nothing is due", match=match_id, deadline=deadline, again_in_ms=again_in_ms)
        return now if len(due) == limit and due[-1][1] <= now else following

    def _settle(self, match_id: str, now: int) -> bool:
        beats.beat()
        try:
            if not is_match(match_id):
                return self._settle_contest(match_id)
            before, after = self._timekeeper.settle(match_id, now)
        except StoreUnavailableError:
            raise
        except Exception as error:
            # A match that cannot be read must not stop the clocks of the others.
            log.error("a match cannot be settled", match=match_id, error=str(error))
            return False
        return after != before

    def _restart_crediting(self) -> None:
        self._crediting = None

    def _credit_outages(self, now: int) -> bool:
        """Tell some matches of the outages; return whether there are more. Crash-safe: idempotent."""
        if self._crediting is None:
            outages = self._heartbeat.uncredited()
            if not outages:
                return False
            self._crediting = Crediting(outages, only_matches(self._store.all_live_streams()))
        match_ids = list(islice(self._crediting.streams, MAX_MATCHES_PER_TICK))
        for match_id, projected in zip(match_ids, self._readmodels.projected(match_ids), strict=True):
            if projected is None or projected.summary.status not in (Status.FINISHED, Status.ABORTED):
                self._settle(match_id, now)
        if len(match_ids) == MAX_MATCHES_PER_TICK:
            return True
        for outage in self._crediting.outages:
            self._heartbeat.mark_credited(outage)
            log.info("an outage is credited", since=outage.since, until=outage.until)
        self._crediting = None
        return False
