"""A reference implementation of the clocks: whose flag falls when, from the whole stream of a match.

It shares no code with domain.match.clock, which folds the events into the little that it needs. This one records a
history of all turns, gifts and pauses as intervals and adds it up. Where the two differ, one is wrong.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from domain.game import AnyGame
from domain.games import find_ruleset
from domain.match import events as e
from domain.match.terms import Terms

DAY_MS = 86_400_000
FOREVER = 10**18


_TIMELESS = (
    e.PlayerJoined, e.DrawOffered, e.DrawAccepted, e.DrawDeclined, e.TakebackRequested, e.TakebackAccepted,
    e.TakebackDeclined, e.FlagFell, e.SeedDrawn, e.StatementFiled,
)  # fmt: skip


class ExpectedFlag(NamedTuple):
    """The flag of ``seat`` falls at the instant ``at``; None: not before the end of a pause whose end is unknown."""

    seat: int
    at: int | None
    limit: str


@dataclass
class _Turn:
    """A turn that has ended. Pauses recorded by event number ``sealed`` or later no longer count for it."""

    since: int
    until: int
    ending: str
    sealed: int = FOREVER


@dataclass
class _Pause:
    reason: str
    seat: int | None
    since: int
    until: int
    recorded: int


class _Revoked(NamedTuple):
    """A flag that was revoked."""


class _Adjusted(NamedTuple):
    time: int


@dataclass
class _SeatHistory:
    """What affects the time of one seat, in order: turns, gifts (milliseconds), revoked flags, adjustments."""

    entries: list[_Turn | int | _Revoked | _Adjusted] = field(default_factory=list)
    has_moved: bool = False

    def seal(self, number: int) -> None:
        """Let events from ``number`` on have no effect on the turns so far."""
        for entry in self.entries:
            if isinstance(entry, _Turn):
                entry.sealed = min(entry.sealed, number)


class ReferenceClock:
    """The clocks of one match: ``record`` takes its events, ``flag`` adds them up."""

    def __init__(self, created: e.MatchCreated) -> None:
        self._terms: Terms = created.terms
        self._game: AnyGame = find_ruleset(created.game, created.ruleset)
        self._positions: list[Any] = [self._game.initial(created.setup)]
        self._histories = [_SeatHistory() for _ in created.seats]
        self._pauses: list[_Pause] = []
        self._running: tuple[int, int] | None = None
        self._number = 0
        self._interrupted = False
        self._ruling = ""
        self.frozen = False

    @property
    def position(self) -> Any:
        return self._positions[-1]

    def record(self, event: e.Event) -> None:
        """Record the next event of the stream; raises ValueError for a change of the ruleset."""
        self._number += 1
        at, position = event.at, self._positions[-1]
        if isinstance(event, e.MatchStarted):
            self._running = (self._game.to_move(position), at)
        elif isinstance(event, e.MatchFinished | e.MatchAborted):
            self._end(at, "stopped")
        elif isinstance(event, e.MoveSubmitted):
            self._positions.append(self._game.play(position, self._game.parse_move(position, event.move)))
            if "@" not in event.move:  # a piece of an army that is being set up
                self._histories[event.seat].has_moved = True
                self._pass(at, "moved")
        elif isinstance(event, e.MovesTakenBack):
            del self._positions[event.ply + 1 :]
            self._pass(at, "passed")
            if self._ruling == "take-back":
                self._restore_time()
        elif isinstance(event, e.PlayerResigned) or (isinstance(event, e.FlagFell) and event.limit != "first-move"):
            self._leave(event.seat, at)
        elif isinstance(event, e.FlagForgiven):
            seat = self._game.to_move(position)
            self._histories[seat].seal(self._number)
            self._histories[seat].entries.append(_Revoked())
            self._running = (seat, at)
        elif isinstance(event, e.TimeGiven):
            self._histories[event.to].entries.append(event.time)
        elif isinstance(event, e.ClockPaused):
            until = FOREVER if event.until is None else event.until
            self._pauses.append(_Pause(event.reason, event.seat, event.since, until, self._number))
        elif isinstance(event, e.ClockResumed):
            for pause in self._pauses:
                if (pause.reason, pause.seat) == (event.reason, event.seat):
                    pause.until = min(pause.until, max(at, pause.since))
        elif not isinstance(event, _TIMELESS):
            self._record_of_case(event)
        self._ruling = event.ruling if isinstance(event, e.RulingMade) else ""

    def flag(self) -> ExpectedFlag | None:
        """Return whose flag falls when if nothing else happens; None when no clock runs."""
        if self._running is None:
            return None
        seat, since = self._running
        budget, limit = self._time(seat), "time"
        if self._terms.ceiling is not None and self._terms.ceiling < budget:
            budget, limit = self._terms.ceiling, "ceiling"
        if not self._histories[seat].has_moved:
            budget, limit = min(budget, self._terms.first_move), "first-move"
        return ExpectedFlag(seat, self._instant(seat, since, budget), limit)

    def is_paused(self, seat: int, at: int) -> bool:
        """Return whether the clock of ``seat`` is paused at the instant ``at``."""
        return any(begin <= at < end for begin, end in self._paused_intervals(seat, FOREVER, at, at + 1))

    def _record_of_case(self, event: e.Event) -> None:
        at = event.at
        if isinstance(event, e.DisputeRaised | e.RulingAppealed):
            if event.freezes:
                self._freeze(at)
        elif isinstance(event, e.MatchFrozen):
            self._freeze(at)
        elif isinstance(event, e.RulingMade | e.MatchUnfrozen):
            self.frozen = False
            for pause in self._pauses:
                if pause.reason == "dispute":
                    pause.until = min(pause.until, max(at, pause.since))
        elif isinstance(event, e.ClocksAdjusted):
            for history, time in zip(self._histories, event.remaining, strict=True):
                history.seal(self._number)
                history.entries.append(_Adjusted(time))
            self._running = None if self._running is None else (self._running[0], at)
        elif isinstance(event, e.MatchAnnulled):
            self._interrupted = self._running is not None
            self._end(at, "stopped")
        elif isinstance(event, e.MatchRestored):
            if self._interrupted:
                self._running = (self._game.to_move(self._positions[-1]), at)
        else:
            raise ValueError(f"the effect on the clocks is unknown: {type(event).__name__}")

    def _freeze(self, at: int) -> None:
        self.frozen = True
        self._pauses.append(_Pause("dispute", None, at, FOREVER, self._number))

    def _restore_time(self) -> None:
        """Give every seat the minimum time that it has after a ruling that takes moves back."""
        for seat, history in enumerate(self._histories):
            time = self._time(seat)
            if not time or (self._terms.control == "days-per-move" and time < self._terms.bank):
                history.seal(self._number)
                history.entries.append(_Revoked())

    def _pass(self, at: int, ending: str) -> None:
        self._end(at, ending)
        self._running = (self._game.to_move(self._positions[-1]), at)

    def _leave(self, seat: int, at: int) -> None:
        remaining = self._game.without_seat(self._positions[-1], seat)
        if remaining is not None:
            self._positions[-1] = remaining
            if self._running is None or self._running[0] != self._game.to_move(remaining):
                self._pass(at, "passed")

    def _end(self, at: int, ending: str) -> None:
        if self._running is not None:
            seat, since = self._running
            self._histories[seat].seal(self._number)
            self._histories[seat].entries.append(_Turn(since, at, ending))
        self._running = None

    def _time(self, seat: int) -> int:
        """Return the time left to ``seat``: its history added up."""
        terms, time = self._terms, self._terms.bank
        per_move = terms.control == "days-per-move"
        for entry in self._histories[seat].entries:
            if isinstance(entry, int):
                time += entry
            elif isinstance(entry, _Adjusted):
                time = entry.time
            elif isinstance(entry, _Revoked):
                time = terms.bank if per_move else max(time, min(terms.cap, 3 * DAY_MS))
            else:
                time = max(0, time - self._spent(seat, entry))
                if entry.ending == "moved":
                    gained = time if time > terms.cap else min(terms.cap, time + terms.increment)
                    time = terms.bank if per_move else gained
                elif entry.ending == "passed" and per_move:
                    time = max(time, terms.bank)
        return time

    def _spent(self, seat: int, turn: _Turn) -> int:
        at, spent = turn.since, 0
        for begin, end in [
            *self._paused_intervals(seat, turn.sealed, turn.since, turn.until),
            (turn.until, turn.until),
        ]:
            spent += max(0, min(begin, turn.until) - at)
            at = max(at, end)
        return spent

    def _instant(self, seat: int, since: int, budget: int) -> int | None:
        paused = sum(pause.until - pause.since for pause in self._pauses if pause.until < FOREVER)
        at, horizon = since, since + 2 * (budget + paused) + 30 * DAY_MS
        for begin, end in self._paused_intervals(seat, FOREVER, since, horizon):
            if begin - at > budget:
                break
            budget -= max(0, begin - at)
            at = max(at, end)
        return at + budget if at < FOREVER else None

    def _paused_intervals(self, seat: int, sealed: int, since: int, until: int) -> list[tuple[int, int]]:
        """Return the pauses and free days of ``seat`` between two instants as intervals, sorted by start."""
        intervals = [
            (pause.since, pause.until)
            for pause in self._pauses
            if pause.seat in (None, seat) and pause.recorded < sealed and pause.until > pause.since
        ]
        return sorted((begin, end) for begin, end in intervals if end > since and begin < until)


def expected_flag(events: Sequence[e.Event]) -> ExpectedFlag | None:
    """Return whose flag falls when after ``events``, a whole match; None when no clock runs."""
    created, *later = events
    if not isinstance(created, e.MatchCreated):
        return None
    clock = ReferenceClock(created)
    for event in later:
        clock.record(event)
    return clock.flag()
