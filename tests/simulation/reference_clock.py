"""Whose flag falls when, computed a second time: from the whole stream of a match, as plain lists of intervals.

It shares no code with domain.match.clock and takes another way. The clock folds event after event and remembers only
what it needs; this writes a ledger of all turns, gifts and pauses, and adds it up. Where the two differ, one is wrong.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any, NamedTuple

from domain.game import AnyGame
from domain.games import find_ruleset
from domain.match import events as e
from domain.match.calendar import Calendar
from domain.match.terms import Terms

DAY_MS = 86_400_000
FOREVER = 10**18


_TIMELESS = (
    e.PlayerJoined,
    e.DrawOffered,
    e.DrawAccepted,
    e.DrawDeclined,
    e.TakebackRequested,
    e.TakebackAccepted,
    e.TakebackDeclined,
    e.FlagFell,
    e.SeedDrawn,
    e.StatementFiled,
)


class Reckoned(NamedTuple):
    """The time of ``seat`` is up at the instant ``at`` (None: never, while a pause without end lasts)."""

    seat: int
    at: int | None
    limit: str


@dataclass
class _Turn:
    """A turn that has ended. Pauses recorded by the event number ``sealed`` or later do not count for it any more."""

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


class _Forgiven(NamedTuple):
    """A flag that did not count."""


class _Adjusted(NamedTuple):
    """What an arbiter has given, whatever there was before."""

    time: int


@dataclass
class _Ledger:
    """What bears on the time of one seat, in order: turns, gifts (milliseconds) and flags that were forgiven."""

    entries: list[_Turn | int | _Forgiven | _Adjusted] = field(default_factory=list)
    calendars: list[tuple[int, Calendar | None]] = field(default_factory=list)
    has_moved: bool = False

    def seal(self, number: int) -> None:
        """Note that from the event ``number`` on nothing reaches back to the turns so far."""
        for entry in self.entries:
            if isinstance(entry, _Turn):
                entry.sealed = min(entry.sealed, number)


class Reckoning:
    """The stream of one match, event by event; ``flag`` adds it all up."""

    def __init__(self, created: e.MatchCreated) -> None:
        if created.terms is None:
            raise ValueError("no clock runs in a match without terms")
        self._terms: Terms = created.terms
        self._game: AnyGame = find_ruleset(created.game, created.ruleset)
        self._positions: list[Any] = [self._game.initial(created.setup)]
        self._ledgers = [_Ledger() for _ in created.seats]
        self._pauses: list[_Pause] = []
        self._running: tuple[int, int] | None = None
        self._number = 0
        self._interrupted = False
        self._ruling = ""
        self.frozen = False

    @property
    def position(self) -> Any:
        """The position as it stands."""
        return self._positions[-1]

    def record(self, event: e.Event) -> None:
        """Take in the next event of the stream; raises ValueError for a change of the ruleset."""
        self._number += 1
        at, position = event.at, self._positions[-1]
        if isinstance(event, e.MatchStarted):
            self._running = (self._game.to_move(position), at)
        elif isinstance(event, e.MatchFinished | e.MatchAborted):
            self._end(at, "stopped")
        elif isinstance(event, e.MoveSubmitted):
            self._positions.append(self._game.play(position, self._game.parse_move(position, event.move)))
            if not (self._terms.whole_turns and "@" in event.move):  # a piece of an army that is being set up
                self._ledgers[event.seat].has_moved = True
                self._pass(at, "moved")
        elif isinstance(event, e.MovesTakenBack):
            del self._positions[event.ply + 1 :]
            self._pass(at, "passed")
            if self._ruling == "take-back":
                self._revive()
        elif isinstance(event, e.PlayerResigned) or (isinstance(event, e.FlagFell) and event.limit != "first-move"):
            self._leave(event.seat, at)
        elif isinstance(event, e.FlagForgiven):
            seat = self._game.to_move(position)
            self._ledgers[seat].seal(self._number)
            self._ledgers[seat].entries.append(_Forgiven())
            self._running = (seat, at)
        elif isinstance(event, e.TimeGiven):
            self._ledgers[event.to].entries.append(event.time)
        elif isinstance(event, e.CalendarSet):
            self._ledgers[event.seat].calendars.append((at, event.calendar))
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

    def flag(self) -> Reckoned | None:
        """Return whose time is up when if nothing happens any more; None when no clock runs."""
        if self._running is None:
            return None
        seat, since = self._running
        budget, limit = self._time(seat), "time"
        if self._terms.ceiling is not None and self._terms.ceiling < budget:
            budget, limit = self._terms.ceiling, "ceiling"
        if not self._ledgers[seat].has_moved:
            budget, limit = min(budget, self._terms.first_move), "first-move"
        return Reckoned(seat, self._instant(seat, since, budget), limit)

    def stands_still(self, seat: int, at: int) -> bool:
        """Tell whether anything stops the time of ``seat`` at the instant ``at``."""
        return any(begin <= at < end for begin, end in self._stops(seat, FOREVER, at, at + 1))

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
            for ledger, time in zip(self._ledgers, event.remaining, strict=True):
                ledger.seal(self._number)
                ledger.entries.append(_Adjusted(time))
            self._running = None if self._running is None else (self._running[0], at)
        elif isinstance(event, e.MatchAnnulled):
            self._interrupted = self._running is not None
            self._end(at, "stopped")
        elif isinstance(event, e.MatchRestored):
            if self._interrupted:
                self._running = (self._game.to_move(self._positions[-1]), at)
        else:
            raise ValueError(f"it is not known what this does to the clocks: {type(event).__name__}")

    def _freeze(self, at: int) -> None:
        self.frozen = True
        self._pauses.append(_Pause("dispute", None, at, FOREVER, self._number))

    def _revive(self) -> None:
        """Forgive every seat that has less time than an arbiter lets it go on with."""
        for seat, ledger in enumerate(self._ledgers):
            time = self._time(seat)
            if not time or (self._terms.control == "days-per-move" and time < self._terms.bank):
                ledger.seal(self._number)
                ledger.entries.append(_Forgiven())

    def _pass(self, at: int, ending: str) -> None:
        self._end(at, ending)
        self._running = (self._game.to_move(self._positions[-1]), at)

    def _leave(self, seat: int, at: int) -> None:
        going_on = self._game.elimination.without_seat(self._positions[-1], seat)
        if going_on is not None:
            self._positions[-1] = going_on
            if self._running is None or self._running[0] != self._game.to_move(going_on):
                self._pass(at, "passed")

    def _end(self, at: int, ending: str) -> None:
        if self._running is not None:
            seat, since = self._running
            self._ledgers[seat].seal(self._number)
            self._ledgers[seat].entries.append(_Turn(since, at, ending))
        self._running = None

    def _time(self, seat: int) -> int:
        """Return the time that ``seat`` has when all of its ledger is added up."""
        terms, time = self._terms, self._terms.bank
        per_move = terms.control == "days-per-move"
        for entry in self._ledgers[seat].entries:
            if isinstance(entry, int):
                time += entry
            elif isinstance(entry, _Adjusted):
                time = entry.time
            elif isinstance(entry, _Forgiven):
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
        for begin, end in [*self._stops(seat, turn.sealed, turn.since, turn.until), (turn.until, turn.until)]:
            spent += max(0, min(begin, turn.until) - at)
            at = max(at, end)
        return spent

    def _instant(self, seat: int, since: int, budget: int) -> int | None:
        paused = sum(pause.until - pause.since for pause in self._pauses if pause.until < FOREVER)
        at, horizon = since, since + 2 * (budget + paused) + 30 * DAY_MS
        for begin, end in self._stops(seat, FOREVER, since, horizon):
            if begin - at > budget:
                break
            budget -= max(0, begin - at)
            at = max(at, end)
        return at + budget if at < FOREVER else None

    def _stops(self, seat: int, sealed: int, since: int, until: int) -> list[tuple[int, int]]:
        """Return all that stops the time of ``seat`` between two instants, in the order of beginnings."""
        stops = [
            (pause.since, pause.until)
            for pause in self._pauses
            if pause.seat in (None, seat) and pause.recorded < sealed and pause.until > pause.since
        ]
        if self._terms.weekends:
            settings = self._ledgers[seat].calendars
            ends = [*(at for at, _ in settings[1:]), FOREVER]
            for (begin, calendar), end in zip(settings, ends, strict=False):
                if calendar is not None:
                    stops += _free_time(calendar, max(begin, since), min(end, until))
        return sorted(stop for stop in stops if stop[1] > since and stop[0] < until)


def reckoned(events: Sequence[e.Event]) -> Reckoned | None:
    """Return whose time is up when after ``events``, a match from its creation on; None when no clock runs."""
    created, *later = events
    if not isinstance(created, e.MatchCreated) or created.terms is None:
        return None
    reckoning = Reckoning(created)
    for event in later:
        reckoning.record(event)
    return reckoning.flag()


def _free_time(calendar: Calendar, since: int, until: int) -> Iterator[tuple[int, int]]:
    """Yield the free days of ``calendar`` as intervals of time that overlap that from ``since`` to ``until``."""
    begins = [-FOREVER] + [offset.since for offset in calendar.offsets[1:]]
    ends = [*begins[1:], FOREVER]
    for offset, begin, end in zip(calendar.offsets, begins, ends, strict=True):
        ahead = offset.minutes * 60_000
        first, last = max(begin, since), min(end, until)
        for day in range((first + ahead) // DAY_MS, (last + ahead) // DAY_MS + 1) if first < last else ():
            if (date(1970, 1, 1) + timedelta(days=day)).weekday() in calendar.free_days:
                yield max(day * DAY_MS - ahead, first), min((day + 1) * DAY_MS - ahead, last)
