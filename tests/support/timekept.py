"""Matches whose time is kept in memory, with a clock that a test sets and availability that it writes."""

from collections.abc import Callable
from itertools import count

from domain.match import vacation
from domain.match.clock import Pause, falls_at
from domain.match.commands import Command, JoinMatch, SubmitMove
from domain.match.due import MAX_BEAT_GAP_MS, Availability
from domain.match.events import Event
from domain.match.state import MatchState
from domain.match.terms import Terms, days_per_move
from events.matches.match_service import MatchService
from events.matches.matches import Executed, Matches
from events.matches.timekeeper import Timekeeper
from events.people.availability import with_calendar
from events.store.codec import event_of
from events.store.contract import Request, VersionTag
from tests.support.matches import T0, creation
from tests.support.memory_availability import MemoryAvailabilityStore
from tests.support.memory_heartbeat import MemoryHeartbeat
from tests.support.memory_store import MemoryStore
from tests.support.timeless import execute

THREE_DAYS = days_per_move(3)
_REQUESTS = count(1)


class MemoryInstallation:
    """Matches, availability and a heartbeat in memory, with a clock that stands still."""

    def __init__(self) -> None:
        self.now = T0
        self.store = MemoryStore()
        self.matches = Matches(self.store, lambda: self.now)
        self.availability = MemoryAvailabilityStore()
        self.heartbeat = MemoryHeartbeat()
        self.names: list[str] = []
        self.timekeeper = self.another()
        self.service = MatchService(self.matches, self.timekeeper, lambda: self.now)

    def another(self) -> Timekeeper:
        """Return a timekeeper of the same store with a cache of its own, as another process has."""
        return Timekeeper(
            Matches(self.store, lambda: self.now), self.availability, self.heartbeat, lambda _: self.names
        )

    def start(self, terms: Terms = THREE_DAYS, moved: bool = True) -> str:
        """Start a match of alice and bob; return its name. If ``moved``, both have made their first moves."""
        match = f"m{len(self.names) + 1}"
        self.names.append(match)
        self.do(match, creation(match_id=match, terms=terms))
        self.do(match, JoinMatch(player="bob"))
        if moved:
            self.do(match, SubmitMove(player="alice", move="c3-d4"))
            self.do(match, SubmitMove(player="bob", move="b6-a5"))
        return match

    def do(self, match_id: str, command: Command) -> Executed:
        """Carry ``command`` out without the timekeeper."""
        return execute(self.matches, match_id, command, "somebody", Request(f"r{next(_REQUESTS)}", ""))

    def execute(self, match_id: str, command: Command, expected: VersionTag | None = None) -> Executed:
        """Carry ``command`` out as the API does."""
        request = Request(f"r{next(_REQUESTS)}", "")
        return self.service.execute(match_id, command, "somebody", request, expected)

    def settle(self, match_id: str) -> list[Event]:
        """Let happen what is due now; return what did."""
        settled = self.timekeeper.settle(match_id, self.now)
        return [event_of(envelope) for envelope in self.store.read(match_id, settled.before.version)]

    def state(self, match_id: str) -> MatchState:
        return self.matches.load(match_id).state

    def falls(self, match_id: str) -> int:
        clock = self.state(match_id).clock
        assert clock is not None
        instant = falls_at(clock)
        assert instant is not None
        return instant

    def foreseen(self, match_id: str) -> int:
        """Return the instant at which a flag falls by all that availability say of the time to come."""
        clock = self.timekeeper.with_availability(self.state(match_id)).clock
        assert clock is not None
        instant = falls_at(clock)
        assert instant is not None
        return instant

    def pauses(self, match_id: str) -> tuple[Pause, ...]:
        clock = self.state(match_id).clock
        assert clock is not None
        return clock.pauses

    def change(self, player: str, change: Callable[[Availability], Availability]) -> Availability:
        return self.timekeeper.change(player, change, self.now)

    def opt_out(self, *players: str) -> None:
        """Let ``players`` not want automatic vacations."""
        for player in players:
            self.availability.change(player, lambda own: own._replace(auto_vacation=False))

    def beats_until(self, instant: int) -> None:
        """Let the heart beat from the last beat to ``instant``."""
        last = self.heartbeat.last_beat()
        for at in range(instant if last is None else last, instant + 1, MAX_BEAT_GAP_MS):
            self.heartbeat.beat(at, 0)
        self.heartbeat.beat(instant, 0)
        self.now = instant


def booked(since: int, until: int) -> Callable[[Availability], Availability]:
    return lambda own: own._replace(book=vacation.booked(own.book, since, until, since))


def in_berlin(*free_days: int, now: int = T0) -> Callable[[Availability], Availability]:
    """Return what sets, at ``now``, the calendar of somebody in Berlin with these free days."""
    return lambda own: with_calendar(own, "Europe/Berlin", free_days, now)
