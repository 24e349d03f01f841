"""The server of a simulated year: the real matches, timekeeper and ticker on a virtual clock, with downtimes.

One queue holds all actions in the order of virtual time, and of their entry within one instant. Nothing else determines
what happens next: no thread, no wall clock.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from heapq import heappop, heappush
from itertools import count
from typing import NamedTuple, Protocol

from domain.match.commands import Command, CreateMatch
from domain.match.due import deadline_of
from domain.match.enums import Status
from domain.match.events import Event, MatchStarted
from domain.match.lines import ConditionalMoves
from domain.match.state import MatchState
from domain.match.terms import HOUR, MINUTE
from events.installation import Installation
from events.matches.matches import Loaded, Matches
from events.matches.outages import Heartbeat
from events.matches.readmodels.summary import Projected, Summary, summarise
from events.matches.timekeeper import Timekeeper
from events.people.availability import AvailabilityStore, Change
from events.runtime.connections import StoreClient
from events.runtime.settings import MailSettings, Settings
from events.store.codec import event_of
from events.store.contract import EventStore, Pointer, Request
from tests.support.memory_availability import MemoryAvailabilityStore
from tests.support.memory_heartbeat import MemoryHeartbeat
from tests.support.memory_store import MemoryStore
from workers.composition import make_ticker

BEAT_INTERVAL = 2 * MINUTE
"""The real ticker beats every second; this is often enough for no outage to be detected."""

MAIL = MailSettings("smtp://mail.example", "rookery.example")

TICK_INTERVAL = 6 * HOUR
"""The ticker also ticks this often without a deadline, to find what an outage has left behind."""

Action = Callable[[], None]


class Backend(NamedTuple):
    """Where a year is stored: in memory, or on a server.

    People are told of their matches where there is a ``client`` of a database, whose keys begin with ``prefix``.
    """

    store: EventStore
    availability: AvailabilityStore
    heartbeat: Heartbeat
    client: StoreClient | None = None
    prefix: str = ""


def in_memory() -> Backend:
    return Backend(MemoryStore(shards=4), MemoryAvailabilityStore(), MemoryHeartbeat())


class ServerDownError(Exception):
    """The server is down until ``until``."""

    def __init__(self, until: int) -> None:
        super().__init__(until)
        self.until = until


class Notices(Protocol):
    def look(self, match_id: str, versions: Collection[int]) -> None:
        """Look at new events of a match."""

    def visit(self, match_id: str, player: str) -> None:
        """Note that ``player`` acts in a match."""

    def next_round(self) -> int | None:
        """Return the instant at which there is something to be done; None when there never is."""

    def do_round(self) -> None:
        """Do what is due."""


class SimulatedServer:
    """The server and its virtual clock, which starts at ``now``; ``changed`` is called with each match that changed."""

    def __init__(self, backend: Backend, now: int, changed: Callable[[str], None]) -> None:
        self.now = now
        self.store = backend.store
        self.availability = backend.availability
        self.heartbeat = backend.heartbeat
        self._seeds = count(2**40)
        self.active: dict[str, dict[str, None]] = defaultdict(dict)
        self.parts = SimulatedInstallation(
            backend, lambda: self.now, lambda: str(next(self._seeds)), lambda player: list(self.active[player])
        )
        self.matches, self.timekeeper = self.parts.matches, self.parts.timekeeper
        self._ticker = make_ticker(self.parts)
        self._changed = changed
        self._queue: list[tuple[int, int, Action]] = []
        self._numbers = count()
        self._requests = count()
        self._beaten = now
        self._announced = [0] * self.store.shards
        self._relayed = [0] * self.store.shards
        self._ticks: dict[str, int] = {}
        self.api_down_until: int | None = None
        self.workers_down_until: int | None = None
        self.notices: Notices | None = None
        self._round_at: int | None = None

    def at(self, instant: int, act: Action) -> None:
        """Schedule ``act`` at ``instant``, or now if that is past."""
        heappush(self._queue, (max(instant, self.now), next(self._numbers), act))

    def run(self) -> None:
        self.heartbeat.beat(self.now, self.now)
        self.at(self.now + TICK_INTERVAL, self._tick_regularly)
        while self._queue:
            instant, _, act = heappop(self._queue)
            self._advance_clock(instant)
            act()
            self._publish_changes()

    def state(self, match_id: str) -> MatchState:
        return self.matches.load(match_id).state

    def execute(self, match_id: str, command: Command, actor: str) -> Sequence[Event]:
        """Execute ``command`` as the API does; return the events. Raises CommandError, ServerDownError."""
        self._require_up()
        request = Request(f"{actor}:{next(self._requests)}", "")
        if self.notices is not None and not isinstance(command, CreateMatch):
            self.notices.visit(match_id, actor)
        executed = self.parts.match_service.execute(match_id, command, actor, request)
        return [event_of(envelope) for envelope in executed.events]

    def lay_down(
        self, match_id: str, player: str, orders: Callable[[MatchState, ConditionalMoves], ConditionalMoves]
    ) -> Loaded:
        """Set conditional moves as the API does. Raises CommandError, ServerDownError."""
        self._require_up()
        return self.parts.match_service.lay_down(match_id, player, orders)

    def change_availability(self, player: str, change: Change, killed: bool = False) -> None:
        """Change availability as the API does; ``killed``: without a sync. Raises CommandError, ServerDownError."""
        self._require_up()
        if killed:
            self.availability.change(player, change)
            self.at(self.now + 1000, self.tick)
        else:
            self.timekeeper.change(player, change, self.now)

    def go_down(self, until: int, with_api: bool) -> None:
        """Take the workers down until an instant, and if ``with_api`` the API too."""
        self.workers_down_until = until
        self.api_down_until = until if with_api else self.api_down_until
        self.at(until, self._recover)

    def tick(self) -> None:
        """Tick, and again for as long as the ticker asks for an immediate tick."""
        while self.workers_down_until is None and self._ticker.tick() <= self.now:
            pass

    def _recover(self) -> None:
        if self.workers_down_until == self.now:
            self.workers_down_until = self.api_down_until = None
            self._ticker = make_ticker(self.parts)
            self.heartbeat.beat(self.now, self.now)
            for outage in self.heartbeat.provisional():
                self.heartbeat.confirm(outage)
            self.tick()
            self._relay()

    def _tick_regularly(self) -> None:
        self.tick()
        if self._queue:
            self.at(self.now + TICK_INTERVAL, self._tick_regularly)

    def _require_up(self) -> None:
        if self.api_down_until is not None:
            raise ServerDownError(self.api_down_until)

    def _advance_clock(self, instant: int) -> None:
        if self.workers_down_until is None:
            for beat in range(self._beaten + BEAT_INTERVAL, instant, BEAT_INTERVAL):
                self.heartbeat.beat(beat, beat)
                self._beaten = beat
            self.heartbeat.beat(instant, instant)
            self._beaten = instant
        self.now = instant

    def _publish_changes(self) -> None:
        """Report all changed matches, and let the relay sync their clocks."""
        while changes := self._read_feeds(self._announced):
            for match_id in changes:
                state = self.state(match_id)
                self._update_active(state)
                deadline = deadline_of(state)
                if deadline is not None and self._ticks.get(match_id) != deadline:
                    self._ticks[match_id] = deadline
                    self.at(deadline, self.tick)
                self._changed(match_id)
            if self.workers_down_until is None:
                self._relay()

    def _relay(self) -> None:
        """Sync the clocks of changed matches as the relay does, which may change them again."""
        for match_id, pointers in self._read_feeds(self._relayed).items():
            state = self.state(match_id)
            if state.status == Status.PLAYING:
                first = pointers[0].version
                events = [] if state.play.moves else self.store.read(match_id, first - 1)
                begins = any(isinstance(event_of(event), MatchStarted) for event in events)
                (self.timekeeper.start if begins else self.timekeeper.sync)(match_id, self.now)
            if self.notices is not None:
                self.notices.look(match_id, [pointer.version for pointer in pointers])
        self._plan_round()

    def _plan_round(self) -> None:
        """Let the notices do their next round when something is due."""
        following = None if self.notices is None else self.notices.next_round()
        if following is not None and (self._round_at is None or following < self._round_at):
            self._round_at = max(following, self.now)
            self.at(self._round_at, self._do_round)

    def _do_round(self) -> None:
        if self._round_at == self.now:
            self._round_at = None
        if self.notices is not None and self.workers_down_until is None:
            self.notices.do_round()
            self._plan_round()

    def _read_feeds(self, cursors: list[int]) -> dict[str, list[Pointer]]:
        """Return the entries of the feeds after ``cursors`` by match, and advance these."""
        entries: dict[str, list[Pointer]] = {}
        for shard in range(self.store.shards):
            while pointers := self.store.feed(shard, cursors[shard]):
                cursors[shard] = pointers[-1].sequence
                for pointer in pointers:
                    entries.setdefault(pointer.stream, []).append(pointer)
        return entries

    def _update_active(self, state: MatchState) -> None:
        for seat in state.seats:
            if seat.player is not None and state.ended:
                self.active[seat.player].pop(state.match_id, None)
            elif seat.player is not None:
                self.active[seat.player][state.match_id] = None


class SimulatedInstallation(Installation):
    """An installation with the parts that keep time, on ``backend``; ``active`` returns the matches of a player."""

    def __init__(
        self,
        backend: Backend,
        now: Callable[[], int],
        fresh_seed: Callable[[], str],
        active: Callable[[str], list[str]],
    ) -> None:
        self.now = self._own_clock = now
        self.store = backend.store  # type: ignore[assignment]
        self.availability = backend.availability
        self.heartbeat = backend.heartbeat
        self.turns = None  # opponents answer at once
        self.matches = Matches(backend.store, now, fresh_seed)
        self.timekeeper = Timekeeper(self.matches, backend.availability, backend.heartbeat, active)
        self.readmodels = _NothingProjected(self.matches)  # type: ignore[assignment]
        if backend.client is not None:
            self.client, self.prefix = backend.client, backend.prefix
            self.settings = Settings(
                redis_url="redis://store.example/0", broker_url="redis://store.example/1", prefix=backend.prefix,
                stream_url="https://live.rookery.example", secure_cookies=True, shards=backend.store.shards,
                page_url="https://rookery.example", mail=MAIL, contact="mailto:operator@rookery.example",
            )  # fmt: skip


class _NothingProjected:
    """Empty read models, so that the ticker reads the matches themselves."""

    def __init__(self, matches: Matches) -> None:
        self._matches = matches

    def summary(self, match_id: str) -> Summary:
        return summarise(self._matches.load(match_id).state)

    def have_met(self, player: str, other: str) -> bool:
        """Return True: the people of the simulated club know one another."""
        return player != other

    def projected(self, matches: Sequence[str]) -> list[Projected | None]:
        return [None for _ in matches]
