"""The sweeper: finds work that was lost on the way and sets it going again.

Missing work (answers of opponents, ratings, read models behind their streams) is read off the truth, not the queue,
and requested again, less and less often; to request it twice does no harm.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice

import structlog
from kombu.exceptions import OperationalError

from domain.match.enums import Status
from domain.match.state import opponent_id
from domain.search import LEVELS
from domain.search.budgets import thinks_long
from events.matches.readmodels import ReadModels, rated_result
from events.matches.readmodels.projector import Projector
from events.matches.readmodels.ratings import Ratings
from events.matches.timekeeper import Timekeeper
from events.runtime import beats
from events.runtime.errors import StoreUnavailableError
from events.store.archive.framing import ArchiveUnavailableError
from events.store.kinds import only_matches
from events.store.redis import RedisStore
from workers import retries
from workers.reminders import Reminders
from workers.shares import FIRST_SHARD, Share, has_shard

RECENT_MS = 3_600_000
LONG_ANSWER_MS = 3_600_000
"""An opponent that thinks for minutes has not been forgotten before."""

STREAMS_PER_SWEEP = 200
CLOCKS_PER_SWEEP = 20
MIN_PASS_MS = 60_000
"""A pass over the matches of the share begins at most this often; a longer pass is followed by the next at once."""

log = structlog.get_logger("sweeper")


class Pass:
    """Goes through ``streams`` again and again, beginning at most once in MIN_PASS_MS."""

    def __init__(self, streams: Callable[[], Iterator[str]]) -> None:
        self._streams = streams
        self._rest: Iterator[str] | None = None
        self._begun_at = -MIN_PASS_MS

    def take(self, count: int, now: int) -> list[str]:
        """Return the next ``count`` matches at the instant ``now``: fewer at the end, none while the pass rests."""
        if self._rest is None:
            if 0 <= now - self._begun_at < MIN_PASS_MS:
                return []
            self._rest, self._begun_at = self._streams(), now
        match_ids = list(islice(self._rest, count))
        if len(match_ids) < count:
            self._rest = None
        return match_ids


class Sweeper:
    """Looks after the matches of this relay's ``share``; with FIRST_SHARD also does ``rounds``."""

    def __init__(
        self,
        store: RedisStore,
        readmodels: ReadModels,
        projector: Projector,
        ratings: Ratings,
        timekeeper: Timekeeper,
        reminders: Reminders,
        share: Share = lambda: None,
        rounds: Sequence[Callable[[], object]] = (),
    ) -> None:
        self._store = store
        self._readmodels = readmodels
        self._projector = projector
        self._ratings = ratings
        self._timekeeper = timekeeper
        self._reminders = reminders
        self._share = share
        self._rounds = rounds
        self._now = reminders.now
        self._streams = Pass(self._own_streams)
        self._clocks = Pass(self._own_streams)

    def sweep(self) -> int:
        """Look for lost work in this relay's share; return how many matches were set going again.

        Raises ClockMismatchError, and as enqueueing does; the next sweep begins where this one ended.
        """
        self._store.check_clock()
        reminded = self.remind_opponents() + self.remind_ratings() + self.check_streams() + self.check_clocks()
        if not has_shard(self._share, FIRST_SHARD):
            return reminded
        reminded += self.remind_unsettled()
        for do_round in self._rounds:
            try:
                do_round()
            except ArchiveUnavailableError as error:
                # It concerns this round alone, which needs an archived match.
                log.error("a round cannot read the archive now", error=str(error))
            except (StoreUnavailableError, OperationalError):
                raise
            except Exception:
                log.exception("a round failed")
        return reminded

    def remind_opponents(self) -> int:
        """Request again every answer that an opponent has owed for longer than the first delay; return how many.

        Searches of minutes wait for one another: those answers are requested again after LONG_ANSWER_MS.
        """
        return sum(
            self._reminders.remind("answer", match_id, since, self._reminders.tasks.request_answer)
            for are_long, until in ((False, self._settled_at()), (True, self._now() - LONG_ANSWER_MS))
            for match_id, since in self._owed_by_opponents(are_long, until)
        )

    def _owed_by_opponents(self, are_long: bool, until: int) -> Iterator[tuple[str, int]]:
        names = [f"awaiting:{opponent_id(level)}" for level in LEVELS if thinks_long(level) == are_long]
        yield from self._readmodels.listed_between(names, 0, until, self._share())

    def remind_ratings(self) -> int:
        """Request the rating of matches that ended recently and are not in the ratings; return how many."""
        since = self._now() - RECENT_MS
        listed = self._readmodels.listed_between(["rated"], since, self._settled_at(), self._share())
        ended = dict(listed)
        included = self._ratings.included(list(ended))
        return sum(
            self._reminders.remind("rating", match_id, at, self._reminders.tasks.request_rating)
            for match_id, at in ended.items()
            if not included[match_id]
        )

    def remind_unsettled(self) -> int:
        """Request that ratings are settled which follow from changed results and wait for that; return 1 if they do."""
        if not self._ratings.is_unsettled():
            return 0
        return self._reminders.remind("settlement", "ratings", 0, lambda _: self._reminders.tasks.request_settlement())

    def check_streams(self) -> int:
        """Compare the next STREAMS_PER_SWEEP matches with their read models; return how many differed."""
        match_ids = self._streams.take(STREAMS_PER_SWEEP, self._now())
        if not match_ids:
            return 0
        included, settled_at = self._ratings.included(match_ids), self._settled_at()
        reminded = 0
        heads, summaries = self._store.heads(match_ids), self._readmodels.projected(match_ids)
        for match_id, head, projected in zip(match_ids, heads, summaries, strict=True):
            beats.beat()
            if projected is None or (projected.summary.version, projected.digest) != head.tag:
                reminded += 1
                if projected is not None and (left := self._store.head(match_id).version) < projected.summary.version:
                    log.error("the end of a match is lost", match=match_id, left=left, was=projected.summary.version)
                for error in self._projector.project([match_id]).values():
                    log.error("a match cannot be replayed", match=match_id, error=str(error))
                continue
            since = projected.summary.updated_at
            if since < settled_at and rated_result(projected.summary) != included[match_id]:
                reminded += self._reminders.remind("rating", match_id, since, self._reminders.tasks.request_rating)
        return reminded

    def check_clocks(self) -> int:
        """Settle the next CLOCKS_PER_SWEEP matches; return in how many ticker and feed had missed something."""
        match_ids = self._clocks.take(CLOCKS_PER_SWEEP, self._now())
        corrected = 0
        for match_id, projected in zip(match_ids, self._readmodels.projected(match_ids), strict=True):
            beats.beat()
            if projected is not None and projected.summary.status in (Status.FINISHED, Status.ABORTED):
                continue
            try:
                before, after = self._timekeeper.settle(match_id, self._now())
                corrected += after != before
            except StoreUnavailableError:
                raise
            except Exception as error:
                log.error("a match cannot be settled", match=match_id, error=str(error))
        return corrected

    def _own_streams(self) -> Iterator[str]:
        """Yield the live matches of the shards that belong to the share when their turn comes."""
        for shard in range(self._store.shards):
            if has_shard(self._share, shard):
                yield from only_matches(self._store.live_streams(shard))

    def _settled_at(self) -> int:
        """Return the instant since when something must be missing to be requested again."""
        return self._now() - int(retries.DELAYS_MS.first)
