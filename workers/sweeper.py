"""The sweeper: finds what was lost on the way and sets it going again.

A task queue on Redis loses messages: a worker that is killed between taking one and noting that it has, a broker that
restarts without its last second. Here that costs time, nothing else. What an opponent owes, and which results are not
in the ratings, is read off the read models; how far these are, off the streams, which alone are the truth. Whatever is
missing is asked for again, less and less often, until it is there; to ask twice does no harm (``workers.opponents``,
``events.readmodels.ratings``).
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import structlog
from kombu.exceptions import OperationalError
from redis import Redis

from domain.match.state import ABORTED, FINISHED, opponent_id
from domain.search import LEVELS
from events.proof.checkpoint_log import CheckpointLog, NoCheckpoint, day_of
from events.proof.documents import Fault
from events.readmodels import Keys, rated_result
from events.readmodels.projector import Projector
from events.readmodels.ratings import Ratings
from events.readmodels.reader import ReadModels
from events.runtime import beats
from events.runtime.errors import StoreUnavailable
from events.service.timekeeper import Timekeeper, unavailable
from events.store.contract import EventStore

LEASE_MS = 10_000
PATIENCE_MS = 10_000
LONGEST_PATIENCE_MS = 600_000
LATELY_MS = 3_600_000
DAY_MS = 86_400_000
CHECKED_AT_ONCE = 200
SETTLED_AT_ONCE = 20

UNREACHABLE = (StoreUnavailable, OperationalError, OSError)
"""What concerns no single match, so that the rest of a sweep would fail as well."""

log = structlog.get_logger("sweeper")


class Reminder(NamedTuple):
    """Since when something is missing, when it was last asked for, and how long to wait before the next time (ms)."""

    since: int
    at: int
    patience: int


class Sweeper:
    """Looks after all matches of an installation, one of its relays at a time.

    ``ask_answer`` and ``ask_rating`` enqueue the task for a match, ``ask_checkpoint`` that for the day's checkpoint.
    Each of ``rounds`` does what else is due now and then. ``now`` returns milliseconds since 1970 UTC.
    """

    def __init__(
        self,
        store: EventStore,
        readmodels: ReadModels,
        projector: Projector,
        ratings: Ratings,
        timekeeper: Timekeeper,
        ask_answer: Callable[[str], None],
        ask_rating: Callable[[str], None],
        checkpoints: CheckpointLog,
        ask_checkpoint: Callable[[], None],
        now: Callable[[], int],
        name: str,
        rounds: Sequence[Callable[[], object]] = (),
    ) -> None:
        self._store = store
        self._readmodels = readmodels
        self._keys: Keys = readmodels.keys
        self._client: Redis = readmodels.client
        self._projector = projector
        self._ratings = ratings
        self._timekeeper = timekeeper
        self._ask_answer = ask_answer
        self._ask_rating = ask_rating
        self._checkpoints = checkpoints
        self._ask_checkpoint = ask_checkpoint
        self._signed_day = ""
        self._now = now
        self._name = name
        self._rounds = rounds
        self._lease = f"{self._keys.prefix}sweeper"
        self._reminders: dict[tuple[str, str], Reminder] = {}
        self._round = self._store.all_streams()
        self._clock_round = self._store.all_streams()

    def sweep(self) -> int:
        """Look for what was lost, if no other sweeper is at work; return how many matches were set going again.

        Raises redis errors, StoreUnavailable, ClockDiffers (patience is measured by this process's clock), and what
        enqueueing raises; the next sweep begins where this one ended.
        """
        self._store.check_clock()
        if not self._holds_lease():
            return 0
        found = self.remind_opponents() + self.remind_ratings() + self.check_streams() + self.check_clocks()
        self.ask_for_checkpoint()
        for do_round in self._rounds:
            try:
                do_round()
            except Exception as error:
                if unavailable(error):
                    raise
                log.exception("a round failed")
        return found

    def remind_opponents(self) -> int:
        """Ask again for every answer that an opponent has owed for longer than PATIENCE_MS; return how many."""
        names = [f"awaiting:{opponent_id(level)}" for level in LEVELS]
        return sum(
            self._remind("answer", match, waiting, self._ask_answer)
            for match, waiting in self._listed(names, 0, self._now() - PATIENCE_MS)
        )

    def remind_ratings(self) -> int:
        """Ask again for the ratings of matches that ended lately and are not in them; return how many."""
        now = self._now()
        ended = dict(self._listed(["rated"], now - LATELY_MS, now - PATIENCE_MS))
        included = self._ratings.included(list(ended))
        return sum(
            self._remind("rating", match, at, self._ask_rating) for match, at in ended.items() if not included[match]
        )

    def check_streams(self) -> int:
        """Compare the next CHECKED_AT_ONCE matches with their read models, round and round; return how many differed.

        This finds what nothing else does: an end of a stream that a failover took away after it had been projected.
        """
        matches = list(islice(self._round, CHECKED_AT_ONCE))
        if len(matches) < CHECKED_AT_ONCE:
            self._round = self._store.all_streams()
        included = self._ratings.included(matches)
        settled = self._now() - PATIENCE_MS
        found = 0
        for match, projected in zip(matches, self._readmodels.projected(matches), strict=True):
            beats.beat()
            head = self._store.head(match)
            if projected is None or (projected.summary.version, projected.digest) != head.tag:
                found += 1
                for error in self._projector.project([match]).values():
                    log.error("a match cannot be replayed", match=match, error=str(error))
                continue
            since = projected.summary.updated_at
            if since < settled and rated_result(projected.summary) != included[match]:
                found += self._remind("rating", match, since, self._ask_rating)
        return found

    def ask_for_checkpoint(self) -> bool:
        """Ask for the checkpoint of the day as long as there is none, less and less often; tell whether it was asked.

        That is what begins it each day, and what finds it when it was lost. Asked for twice it is made once.
        """
        now = self._now()
        day = day_of(now)
        if self._signed_day != day:
            try:
                latest = self._checkpoints.latest()
            except (Fault, NoCheckpoint) as error:
                log.error("the last checkpoint cannot be read", error=str(error))
                latest = None
            if latest is None or latest.day < day:
                return bool(self._remind("checkpoint", day, now // DAY_MS * DAY_MS, lambda _: self._ask_checkpoint()))
            self._signed_day = day
        return False

    def check_clocks(self) -> int:
        """Settle the next SETTLED_AT_ONCE matches, round and round; return in how many something happened.

        Whatever the ticker and the feed have missed, a deadline or a change of a diary, is found here.
        """
        matches = list(islice(self._clock_round, SETTLED_AT_ONCE))
        if len(matches) < SETTLED_AT_ONCE:
            self._clock_round = self._store.all_streams()
        found = 0
        for match, projected in zip(matches, self._readmodels.projected(matches), strict=True):
            beats.beat()
            if projected is not None and projected.summary.status in (FINISHED, ABORTED):
                continue
            try:
                before, after = self._timekeeper.settle(match, self._now())
                found += after != before
            except Exception as error:
                if unavailable(error):
                    raise
                log.error("a match cannot be settled", match=match, error=str(error))
        return found

    def _remind(self, kind: str, of: str, since: int, ask: Callable[[str], None]) -> int:
        """Ask for what has been missing ``since`` an instant, unless that was done lately; return 1 if it was asked."""
        now = self._now()
        last = self._reminders.get((kind, of))
        patience = PATIENCE_MS
        if last is not None and last.since == since:
            if now < last.at + last.patience:
                return 0
            patience = min(2 * last.patience, LONGEST_PATIENCE_MS)
        beats.beat()
        try:
            ask(of)
        except UNREACHABLE:
            raise
        except Exception as error:
            # A match that cannot be read must not keep what the others are owed from being asked for.
            log.error("cannot be asked for", kind=kind, of=of, error=str(error))
        self._reminders[kind, of] = Reminder(since, now, patience)
        log.warning("asked for what is missing", kind=kind, of=of, missing_ms=now - since)
        return 1

    def _listed(self, names: list[str], since: int, until: int) -> Iterator[tuple[str, int]]:
        """Yield the matches that stand in one of the lists ``names`` with an instant from ``since`` to ``until``."""
        with self._client.pipeline(transaction=False) as pipeline:
            for name in names:
                for shard in range(self._keys.shards):
                    pipeline.zrangebyscore(self._keys.listed(shard, name), since, until, withscores=True)
            replies: list[Any] = pipeline.execute()
        for reply in replies:
            for match, score in reply:
                yield match.decode(), int(score)

    def _holds_lease(self) -> bool:
        """Tell whether this sweeper is the one at work. Two at once would ask for things twice, no more."""
        held = self._client.set(self._lease, self._name, nx=True, px=LEASE_MS)
        if not held and self._client.get(self._lease) == self._name.encode():
            held = self._client.pexpire(self._lease, LEASE_MS)
        # What has not been missing for long enough to be asked for again is there, or is not looked for any more.
        forgotten = self._now() - 2 * LONGEST_PATIENCE_MS
        self._reminders = {key: last for key, last in self._reminders.items() if last.at > forgotten}
        return bool(held)
