"""The sweeper: finds work that was lost on the way and sets it going again.

What is missing (answers of opponents, ratings, read models behind their streams) is read off the truth, not the queue,
and requested again, less and less often; to request it twice does no harm.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice

import structlog

from domain.match.enums import Status
from domain.match.state import opponent_id
from domain.search import LEVELS
from events.installation import Installation
from events.matches.readmodels import rated_result
from events.proof.checkpoint_log import NoCheckpointError
from events.proof.checkpoints import day_of, hour_of
from events.proof.documents import DocumentError
from events.proof.notes import parse_note
from events.runtime import beats
from events.runtime.errors import StoreUnavailableError
from events.store.archive.framing import ArchiveUnavailableError
from workers import retries
from workers.shares import FIRST_SHARD, Share, has_shard
from workers.task_queue import TaskQueue
from workers.threads import TRANSIENT

RECENT_MS = 3_600_000
HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
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
        installation: Installation,
        tasks: TaskQueue,
        share: Share = lambda: None,
        rounds: Sequence[Callable[[], object]] = (),
    ) -> None:
        self._parts = installation
        self._store = installation.store
        self._tasks = tasks
        self._share = share
        self._rounds = rounds
        self._now = installation.now
        self._looked_hour = ""
        self._retries = retries.Retries()
        self._streams = Pass(self._own_streams)
        self._clocks = Pass(self._own_streams)

    def sweep(self) -> int:
        """Look for lost work in this relay's share; return how many matches were set going again.

        Raises ClockMismatchError, and what enqueueing raises; the next sweep begins where this one ended.
        """
        self._store.check_clock()
        found = self.remind_opponents() + self.remind_ratings() + self.check_streams() + self.check_clocks()
        if not has_shard(self._share, FIRST_SHARD):
            return found
        found += self.remind_unsettled()
        self.request_checkpoint()
        for do_round in (self.request_cosignatures, *self._rounds):
            try:
                do_round()
            except ArchiveUnavailableError as error:
                # It concerns this round alone, which needs an archived match.
                log.error("a round cannot read the archive now", error=str(error))
            except StoreUnavailableError:
                raise
            except Exception:
                log.exception("a round failed")
        return found

    def remind_opponents(self) -> int:
        """Request again every answer that an opponent has owed for longer than the first delay; return how many."""
        names = [f"awaiting:{opponent_id(level)}" for level in LEVELS]
        return sum(
            self._remind("answer", match_id, since, self._tasks.request_answer)
            for match_id, since in self._parts.readmodels.listed_between(names, 0, self._settled_at(), self._share())
        )

    def remind_ratings(self) -> int:
        """Request the rating of matches that ended recently and are not in the ratings; return how many."""
        since = self._now() - RECENT_MS
        listed = self._parts.readmodels.listed_between(["rated"], since, self._settled_at(), self._share())
        ended = dict(listed)
        included = self._parts.ratings.included(list(ended))
        return sum(
            self._remind("rating", match_id, at, self._tasks.request_rating)
            for match_id, at in ended.items()
            if not included[match_id]
        )

    def remind_unsettled(self) -> int:
        """Request that ratings are settled which follow from changed results and wait for that; return 1 if they do."""
        if not self._parts.ratings.is_unsettled():
            return 0
        return self._remind("settlement", "ratings", 0, lambda _: self._tasks.request_settlement())

    def check_streams(self) -> int:
        """Compare the next STREAMS_PER_SWEEP matches with their read models; return how many differed."""
        match_ids = self._streams.take(STREAMS_PER_SWEEP, self._now())
        if not match_ids:
            return 0
        included, settled_at = self._parts.ratings.included(match_ids), self._settled_at()
        found = 0
        heads, summaries = self._store.heads(match_ids), self._parts.readmodels.projected(match_ids)
        for match_id, head, projected in zip(match_ids, heads, summaries, strict=True):
            beats.beat()
            if projected is None or (projected.summary.version, projected.digest) != head.tag:
                found += 1
                if projected is not None and (left := self._store.head(match_id).version) < projected.summary.version:
                    log.error("the end of a match is lost", match=match_id, left=left, was=projected.summary.version)
                for error in self._parts.projector.project([match_id]).values():
                    log.error("a match cannot be replayed", match=match_id, error=str(error))
                continue
            since = projected.summary.updated_at
            if since < settled_at and rated_result(projected.summary) != included[match_id]:
                found += self._remind("rating", match_id, since, self._tasks.request_rating)
        return found

    def request_checkpoint(self) -> bool:
        """Request the checkpoint of the day or hour while there is none; return whether it was requested."""
        now = self._now()
        day, hour = day_of(now), hour_of(now)
        if self._looked_hour != hour:
            try:
                latest = self._parts.checkpoints.latest()
            except (DocumentError, NoCheckpointError) as error:
                log.error("the last checkpoint cannot be read", error=str(error))
                latest = None
            if latest is None or latest.day < day:
                begun = now // DAY_MS * DAY_MS
                return bool(self._remind("checkpoint", day, begun, lambda _: self._tasks.request_checkpoint()))
            if self._parts.checkpoints.is_look_due(latest, now):
                begun = now // HOUR_MS * HOUR_MS
                return bool(self._remind("checkpoint", hour, begun, lambda _: self._tasks.request_checkpoint()))
            self._looked_hour = hour
        return False

    def request_cosignatures(self) -> bool:
        """Request that witnesses and the timestamp service be asked who have not vouched for the last checkpoint."""
        now, parts = self._now(), self._parts
        if parts.settings.timestamp_url is None or parts.timestamps.waiting(now) is None:
            note = parts.checkpoints.note()
            if note is None or not parts.witnesses.waiting(parse_note(note), now):
                return False
        begun = now // HOUR_MS * HOUR_MS
        return bool(self._remind("cosignatures", hour_of(now), begun, lambda _: self._tasks.request_cosignatures()))

    def check_clocks(self) -> int:
        """Settle the next CLOCKS_PER_SWEEP matches; return in how many ticker and feed had missed something."""
        match_ids = self._clocks.take(CLOCKS_PER_SWEEP, self._now())
        found = 0
        for match_id, projected in zip(match_ids, self._parts.readmodels.projected(match_ids), strict=True):
            beats.beat()
            if projected is not None and projected.summary.status in (Status.FINISHED, Status.ABORTED):
                continue
            try:
                before, after = self._parts.timekeeper.settle(match_id, self._now())
                found += after != before
            except StoreUnavailableError:
                raise
            except Exception as error:
                log.error("a match cannot be settled", match=match_id, error=str(error))
        return found

    def _own_streams(self) -> Iterator[str]:
        """Yield the live streams of the shards that belong to the share when their turn comes."""
        for shard in range(self._store.shards):
            if has_shard(self._share, shard):
                yield from self._store.live_streams(shard)

    def _settled_at(self) -> int:
        """Return the instant since when something must be missing to be requested again."""
        return self._now() - int(retries.DELAYS_MS.first)

    def _remind(self, kind: str, subject: str, since: int, request: Callable[[str], None]) -> int:
        """Request what has been missing ``since`` an instant, unless that was done recently; return 1 if it was."""
        now = self._now()
        if not self._retries.is_due((kind, subject), since, now):
            return 0
        beats.beat()
        try:
            request(subject)
        except TRANSIENT:
            raise
        except Exception as error:
            # A match that cannot be read must not keep what the others are owed from being requested.
            log.error("cannot be requested", kind=kind, of=subject, error=str(error))
        self._retries.record((kind, subject), since, now)
        log.warning("requested again", kind=kind, of=subject, missing_ms=now - since)
        return 1
