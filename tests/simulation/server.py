"""The server of a simulated year: the real matches, timekeeper and ticker on a virtual clock, and what of it is up.

There is one queue of things to happen, in the order of virtual time; what happens at one instant happens in the order
in which it was put in. Nothing else decides what comes next: no thread, no wall clock.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from itertools import count
from typing import NamedTuple

from domain.match.commands import Command
from domain.match.enums import Status
from domain.match.events import Event, MatchStarted
from domain.match.lines import Orders
from domain.match.state import MatchState
from domain.match.terms import HOUR, MINUTE
from domain.match.timekeeping import deadline_of
from events.installation import Installation
from events.private.availability import AvailabilityStore, Change, MemoryAvailabilityStore
from events.readmodels.summary import Projected
from events.service.matches import Loaded, Matches
from events.service.outages import Heartbeat
from events.service.timekeeper import Timekeeper
from events.store.codec import event_of
from events.store.contract import EventStore, Pointer, Request
from events.store.memory import MemoryStore
from tests.support.memory_heartbeat import MemoryHeartbeat
from workers.ticker import Ticker

BEAT = 2 * MINUTE
"""The ticker says each second that time is kept; no outage is noticed if it says so this often."""

LOOKS = 6 * HOUR
"""So often the ticker looks without being woken by a deadline; it finds then what an outage has left behind."""

Act = Callable[[], None]


class Kept(NamedTuple):
    """Where a year is kept: in memory, or on a server."""

    store: EventStore
    availability: AvailabilityStore
    heartbeat: Heartbeat


def in_memory() -> Kept:
    """Return a place for a year that lives as long as it is used."""
    return Kept(MemoryStore(shards=4), MemoryAvailabilityStore(), MemoryHeartbeat())


class NobodyHome(Exception):
    """The server is away; it is back at ``until``."""

    def __init__(self, until: int) -> None:
        super().__init__(until)
        self.until = until


class House:
    """The server and its virtual clock, which begins at ``now``. ``changed`` is called with each match that changed."""

    def __init__(self, kept: Kept, now: int, changed: Callable[[str], None]) -> None:
        self.now = now
        self.store = kept.store
        self.availability = kept.availability
        self.heartbeat = kept.heartbeat
        self._seeds = count(2**40)
        self.active: dict[str, dict[str, None]] = defaultdict(dict)
        self.parts = SimulatedInstallation(
            kept, lambda: self.now, lambda: str(next(self._seeds)), lambda player: list(self.active[player])
        )
        self.matches, self.timekeeper = self.parts.matches, self.parts.timekeeper
        self._ticker = self._another_ticker()
        self._changed = changed
        self._queue: list[tuple[int, int, Act]] = []
        self._numbers = count()
        self._requests = count()
        self._beaten = now
        self._announced = [0] * self.store.shards
        self._relayed = [0] * self.store.shards
        self._ticks: dict[str, int] = {}
        self.away_until: int | None = None
        self.idle_until: int | None = None

    def at(self, instant: int, act: Act) -> None:
        """Let ``act`` happen at ``instant``, or now if that is past."""
        heappush(self._queue, (max(instant, self.now), next(self._numbers), act))

    def run(self) -> None:
        """Let everything happen, until nothing is left to happen."""
        self.heartbeat.beat(self.now, self.now)
        self.at(self.now + LOOKS, self._look)
        while self._queue:
            instant, _, act = heappop(self._queue)
            self._pass_time(instant)
            act()
            self._announce()

    def state(self, match: str) -> MatchState:
        """Return ``match`` as it stands, as a page reads it."""
        return self.matches.load(match).state

    def execute(self, match: str, command: Command, actor: str) -> Sequence[Event]:
        """Carry ``command`` out as the API does; return what happened. Raises Refused, and NobodyHome."""
        self._answer_the_door()
        request = Request(f"{actor}:{next(self._requests)}", "")
        executed = self.parts.match_service.execute(match, command, actor, request)
        return [event_of(envelope) for envelope in executed.events]

    def lay_down(self, match: str, player: str, orders: Callable[[MatchState, Orders], Orders]) -> Loaded:
        """Keep what ``player`` lays down, as the API does. Raises Refused, and NobodyHome."""
        self._answer_the_door()
        return self.parts.match_service.lay_down(match, player, orders)

    def change_availability(self, player: str, change: Change, killed: bool = False) -> None:
        """Change availability as the API does; if ``killed``, matches do not follow. Raises Refused and NobodyHome."""
        self._answer_the_door()
        if killed:
            self.availability.change(player, change)
            self.at(self.now + 1000, self.tick)
        else:
            self.timekeeper.change(player, change, self.now)

    def go_away(self, until: int, whole: bool) -> None:
        """Let the workers be away until an instant, and if ``whole`` the API too."""
        self.idle_until = until
        self.away_until = until if whole else self.away_until
        self.at(until, self._come_back)

    def tick(self) -> None:
        """Let another tick of the ticker pass, and as many more as it asks for at once."""
        while self.idle_until is None and self._ticker.tick() <= self.now:
            pass

    def _come_back(self) -> None:
        if self.idle_until == self.now:
            self.idle_until = self.away_until = None
            self._ticker = self._another_ticker()
            self.heartbeat.beat(self.now, self.now)
            for outage in self.heartbeat.provisional():
                self.heartbeat.confirm(outage)
            self.tick()
            self._relay()

    def _another_ticker(self) -> Ticker:
        return Ticker(self.parts)

    def _look(self) -> None:
        self.tick()
        if self._queue:
            self.at(self.now + LOOKS, self._look)

    def _answer_the_door(self) -> None:
        if self.away_until is not None:
            raise NobodyHome(self.away_until)

    def _pass_time(self, instant: int) -> None:
        if self.idle_until is None:
            for beat in range(self._beaten + BEAT, instant, BEAT):
                self.heartbeat.beat(beat, beat)
                self._beaten = beat
            self.heartbeat.beat(instant, instant)
            self._beaten = instant
        self.now = instant

    def _announce(self) -> None:
        """Tell of all matches that have changed, and let the relay bring in what concerns their time."""
        while news := self._news(self._announced):
            for match in news:
                state = self.state(match)
                self._note(state)
                deadline = deadline_of(state)
                if deadline is not None and self._ticks.get(match) != deadline:
                    self._ticks[match] = deadline
                    self.at(deadline, self.tick)
                self._changed(match)
            if self.idle_until is None:
                self._relay()

    def _relay(self) -> None:
        """Bring the matches that have changed up to the availability, as the relay does; what follows is news again."""
        for match, pointers in self._news(self._relayed).items():
            state = self.state(match)
            if state.status == Status.PLAYING:
                first = pointers[0].version
                events = [] if state.moves else self.store.read(match, first - 1)
                begins = any(isinstance(event_of(event), MatchStarted) for event in events)
                (self.timekeeper.start if begins else self.timekeeper.sync)(match, self.now)

    def _news(self, cursors: list[int]) -> dict[str, list[Pointer]]:
        """Return the entries of the feed from ``cursors`` on by match, and move these on."""
        news: dict[str, list[Pointer]] = {}
        for shard in range(self.store.shards):
            while pointers := self.store.feed(shard, cursors[shard]):
                cursors[shard] = pointers[-1].sequence
                for pointer in pointers:
                    news.setdefault(pointer.stream, []).append(pointer)
        return news

    def _note(self, state: MatchState) -> None:
        for seat in state.seats:
            if seat.player is not None and state.ended:
                self.active[seat.player].pop(state.match, None)
            elif seat.player is not None:
                self.active[seat.player][state.match] = None


class SimulatedInstallation(Installation):
    """An installation with the parts that keep time, on ``kept``; ``active`` returns the matches of a player."""

    def __init__(
        self,
        kept: Kept,
        now: Callable[[], int],
        fresh_seed: Callable[[], str],
        active: Callable[[str], list[str]],
    ) -> None:
        self.now = now
        self.store = kept.store  # type: ignore[assignment]
        self.availability = kept.availability
        self.heartbeat = kept.heartbeat
        self.matches = Matches(kept.store, now, fresh_seed)
        self.timekeeper = Timekeeper(self.matches, kept.availability, kept.heartbeat, active)
        self.readmodels = _NothingProjected()  # type: ignore[assignment]


class _NothingProjected:
    """Read models that have seen nothing yet: who asks them has to look at the matches themselves."""

    def projected(self, matches: Sequence[str]) -> list[Projected | None]:
        """Return nothing for every match."""
        return [None for _ in matches]
