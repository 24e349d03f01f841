"""The tasks: thin shells around plain functions.

A task carries the id of a match, or of a person, at most. It works on what it finds, however often it comes, how late,
and in which order. That of the opponents only says that a match waits in a lane, and answers the one whose turn it is.
One that fails is not repeated by Celery: the sweeper asks again for what it was to do.
"""

from functools import cached_property

import structlog
from celery import Celery

from events.proof.checkpoint_log import CheckpointLog
from events.proof.keys import KeyRing
from events.readmodels import Keys, ReadModels
from events.readmodels.ratings import Ratings
from events.runtime.settings import Settings, store_from
from events.runtime.wall_clock import now_ms
from events.service.matches import Matches
from events.service.personal_data import Holdings, holdings_on
from events.store.redis import RedisStore
from workers.fair_queue import FairQueue
from workers.jobs import do_job
from workers.opponents import answer

ANSWER = "rookery.answer-next"
RATE = "rookery.rate"
CHECKPOINT = "rookery.checkpoint"
JOB = "rookery.job"

log = structlog.get_logger("worker")


class Workplace:
    """What the tasks of one process work with; connects at the first task, after the worker has forked."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    @cached_property
    def matches(self) -> Matches:
        """The matches of the installation."""
        return Matches(store_from(self._settings), now_ms)

    @cached_property
    def waiting(self) -> FairQueue:
        """The matches that wait for an opponent."""
        return FairQueue(self.store.client, self._settings.prefix)

    @cached_property
    def ratings(self) -> Ratings:
        """The ratings of the installation."""
        store = store_from(self._settings)
        return Ratings(store.client, Keys(self._settings.prefix, store.shards))

    @cached_property
    def checkpoints(self) -> CheckpointLog:
        """The log of checkpoints of the installation."""
        store = store_from(self._settings)
        return CheckpointLog(store, self.keys)

    @cached_property
    def store(self) -> RedisStore:
        """The event store of the installation."""
        return store_from(self._settings)

    @cached_property
    def keys(self) -> KeyRing:
        """The signing keys of the installation."""
        return KeyRing(self.store.client, self._settings.prefix, now_ms, self._settings.key_file)

    @cached_property
    def holdings(self) -> Holdings:
        """What is kept about people, and the jobs, of the installation."""
        readmodels = ReadModels(self.store.client, self._settings.prefix, self.store.shards)
        return holdings_on(self.store, readmodels, self.matches, now_ms)


def register(app: Celery, settings: Settings) -> None:
    """Define the tasks of ``app`` for the installation that ``settings`` name."""
    workplace = Workplace(settings)

    def answer_next(lane: str) -> None:
        match = workplace.waiting.take(lane)
        if match is None:
            return
        # Crash-safe: the match is not put back when this is killed; it still owes an answer, and the sweeper asks.
        written = answer(workplace.matches, match, lane)
        if written is not None:
            log.info("answered", match=match, version=written.version, repeated=written.repeated)

    def rate_match(match: str) -> None:
        if workplace.ratings.rate(workplace.matches, match):
            log.info("rated", match=match)

    def do_job_of(of: str) -> None:
        place = workplace
        kind = do_job(place.holdings, place.keys, place.checkpoints, of, now_ms())
        if kind is not None:
            log.info("job done", of=of, kind=kind)

    def sign_checkpoint() -> None:
        checkpoint = workplace.checkpoints.sign(now_ms())
        log.info("checkpoint", day=checkpoint.day, size=checkpoint.size, root=checkpoint.root)

    app.task(answer_next, name=ANSWER)
    app.task(rate_match, name=RATE)
    app.task(do_job_of, name=JOB)
    app.task(sign_checkpoint, name=CHECKPOINT)
