"""The tasks: thin shells around plain functions.

A task carries the id of a match and nothing else. It works on the match as it finds it, however often it comes, how
late, and in which order. One that fails is not repeated by Celery: the sweeper asks again for what it was to do.
"""

from functools import cached_property

import structlog
from celery import Celery

from events.clock import now_ms
from events.matches import Matches
from events.readmodels import Keys
from events.settings import Settings, store_from
from workers.opponents import answer
from workers.ratings import Ratings

ANSWER = "rookery.answer"
RATE = "rookery.rate"

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
    def ratings(self) -> Ratings:
        """The ratings of the installation."""
        store = store_from(self._settings)
        return Ratings(store.client, Keys(self._settings.prefix, store.shards))


def register(app: Celery, settings: Settings) -> None:
    """Define the tasks of ``app`` for the installation that ``settings`` name."""
    workplace = Workplace(settings)

    def answer_match(match: str) -> None:
        written = answer(workplace.matches, match)
        if written is not None:
            log.info("answered", match=match, version=written.version, repeated=written.repeated)

    def rate_match(match: str) -> None:
        if workplace.ratings.rate(workplace.matches, match):
            log.info("rated", match=match)

    app.task(answer_match, name=ANSWER)
    app.task(rate_match, name=RATE)
