"""What the resources work with: one set of services per app, made by the factory."""

from collections.abc import Callable
from functools import cached_property

from flask import current_app, request

from api.access.sign_in_delays import SignInDelays
from events.people.accounts import People
from events.people.administration import Administration
from events.people.blocks import Blocks
from events.people.tickets import Tickets
from events.private.availability import RedisDiaries
from events.private.chats import Chats
from events.private.notebooks import Notebooks
from events.private.reports import Reports
from events.private.statements import Statements
from events.proof.checkpoint_log import CheckpointLog
from events.proof.keys import KeyRing
from events.readmodels import ReadModels
from events.runtime.liveness import RedisLiveness
from events.runtime.settings import Settings, store_from
from events.runtime.wall_clock import now_ms
from events.service.incidents import Incidents
from events.service.jobs import Jobs
from events.service.matches import Matches
from events.service.outages import RedisHeartbeat
from events.service.personal_data import Holdings
from events.service.timekeeper import Timekeeper
from events.store.redis import RedisStore
from events.store.rewriting import Rewriting

EXTENSION = "rookery"


class Services:
    """The services of an app. Making them does not connect: an app may start before its store.

    ``virtual`` is a clock (milliseconds since 1970 UTC) in place of the wall clock, which the store judges.
    """

    def __init__(
        self, settings: Settings, virtual: Callable[[], int] | None = None, store: RedisStore | None = None
    ) -> None:
        self.settings = settings
        self.now = now = virtual or now_ms
        self.store = store or store_from(settings, None if virtual else now_ms)
        self.matches = Matches(self.store, now)
        self.notebooks = Notebooks(self.store.client, settings.prefix)
        self.chats = Chats(self.store.client, settings.prefix, now)
        self.people = People(self.store.client, settings.prefix, now)
        self.tickets = Tickets(self.store.client, settings.prefix)
        self.blocks = Blocks(self.store.client, settings.prefix)
        self.reports = Reports(self.store.client, settings.prefix, now)
        self.sign_in_delays = SignInDelays(self.store.client, settings.prefix)
        self.administration = Administration(self.store.client, settings.prefix, now)
        self.incidents = Incidents(self.store.client, settings.prefix)
        self.statements = Statements(self.store.client, settings.prefix, now)
        self.rewriting = Rewriting(self.store.client, settings.prefix, now)
        self.keys = KeyRing(self.store.client, settings.prefix, now, settings.key_file)
        self.checkpoints = CheckpointLog(self.store, self.keys)
        self.jobs = Jobs(self.store.client, settings.prefix, now)
        self.diaries = RedisDiaries(self.store.client, settings.prefix)
        self.heartbeat = RedisHeartbeat(self.store.client, settings.prefix, self.store.clock)
        self.liveness = RedisLiveness(self.store.client, settings.prefix)
        self.timekeeper = Timekeeper(
            self.matches, self.diaries, self.heartbeat, lambda player: self.readmodels.active(player)
        )

    @cached_property
    def readmodels(self) -> ReadModels:
        """The read models. Raises StoreUnavailable until the store has once said how many shards it has."""
        return ReadModels(self.store.client, self.settings.prefix, self.store.shards)

    @cached_property
    def holdings(self) -> Holdings:
        """Where things about people are kept. Raises like ``readmodels``."""
        return Holdings(
            self.people,
            self.administration,
            self.statements,
            self.diaries,
            self.notebooks,
            self.chats,
            self.blocks,
            self.reports,
            self.matches,
            self.store,
            self.readmodels,
            self.rewriting,
            self.jobs,
        )


def refuse_wrong_clock() -> None:
    """Raise ClockDiffers for a request that may write while this process's clock is wrong: its dates would be, too."""
    clock = services().store.clock
    if clock is not None and request.method not in ("GET", "HEAD", "OPTIONS"):
        clock.check()


def services() -> Services:
    """Return the services of the current app."""
    found: Services = current_app.extensions[EXTENSION]
    return found
