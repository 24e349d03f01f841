"""The clocks of a match: a fold over its events that says at which instant whose flag falls, and why.

Time is counted in whole milliseconds. A seat's time runs while it is to move, but not during a pause (each has a
reason, and several may overlap) and not on its free days. Pauses are intervals: one that is recorded late still counts
from its beginning, in the present turn and in the last one of every seat just as if it had been recorded in time.
Changing a calendar counts from then on only. A flag falls at an instant at which the time runs: whose time is up when
a pause begins has until the pause ends.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from domain.match.calendar import Calendar, is_free, next_change
from domain.match.enums import Control, FlagRule, Limit, PauseReason, TurnEnding
from domain.match.terms import DAY, MAX_UNCLAIMED_MS, Terms
from domain.vector import with_value

FORGIVEN = 3 * DAY
"""The least time with which a forgiven seat goes on (never more than the cap)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    """From ``since`` to ``until`` (None: no end is known) the time of ``seat`` (None: all seats) does not run."""

    reason: PauseReason
    seat: int | None
    since: int
    until: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A turn that has ended: its seat ``had`` so much time at ``since``; ``ending`` is the event at ``until``."""

    since: int
    until: int
    had: int
    ending: TurnEnding


@dataclass(frozen=True, slots=True, kw_only=True)
class Former:
    """Until the instant ``until`` the calendar of ``seat`` was another one."""

    seat: int
    until: int
    calendar: Calendar | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """The clocks after the last event.

    ``remaining`` is each seat's time, for ``seat``, whose turn it is (None: nobody's), as it was when that turn began,
    at ``since``. ``begun`` tells which seats have made their first move. ``last_turns`` is the last ended turn of each
    seat, to which a pause that is recorded late may still reach back, and ``former`` are the calendars that were valid
    since then, in the order of time.
    """

    terms: Terms
    remaining: tuple[int, ...]
    begun: tuple[bool, ...]
    last_turns: tuple[Turn | None, ...]
    calendars: tuple[Calendar | None, ...]
    pauses: tuple[Pause, ...] = ()
    former: tuple[Former, ...] = ()
    seat: int | None = None
    since: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """Unless ``seat`` moves, its time is up at the instant ``at`` (None: never, while a pause without end lasts).

    ``limit`` says which time that is: "time" (bank or days per move), "ceiling", or "first-move", after which the match
    is cancelled instead of lost.
    """

    seat: int
    at: int | None
    limit: Limit


def new_clock(terms: Terms, seats: int) -> Clock:
    """Return the clocks of a match that has not started."""
    return Clock(
        terms=terms,
        remaining=(terms.bank,) * seats,
        begun=(False,) * seats,
        last_turns=(None,) * seats,
        calendars=(None,) * seats,
    )


def forecast(clock: Clock) -> Forecast | None:
    """Return the seat whose time will be up, and the instant, if nothing happens; None when no clock runs."""
    if clock.seat is None:
        return None
    budget, limit = clock.remaining[clock.seat], Limit.TIME
    if clock.terms.ceiling is not None and clock.terms.ceiling < budget:
        budget, limit = clock.terms.ceiling, Limit.CEILING
    if not clock.begun[clock.seat]:
        budget, limit = min(budget, clock.terms.first_move), Limit.FIRST_MOVE
    return Forecast(seat=clock.seat, at=instant_of(clock, clock.seat, clock.since, budget), limit=limit)


def falls_at(clock: Clock) -> int | None:
    """Return the instant at which time being up takes effect without anybody's claim; None when it does not."""
    expected = forecast(clock)
    if expected is None or expected.at is None:
        return None
    by_itself = clock.terms.flag == FlagRule.AUTOMATIC or expected.limit == Limit.FIRST_MOVE
    return expected.at if by_itself else expected.at + MAX_UNCLAIMED_MS


def left(clock: Clock, seat: int, now: int) -> int:
    """Return the milliseconds that ``seat`` has at ``now``, not regarding ceiling and first move; never negative."""
    remaining = clock.remaining[seat]
    return max(0, remaining - spent(clock, seat, clock.since, now)) if seat == clock.seat else remaining


def pauses_at(clock: Clock, seat: int, now: int) -> tuple[Pause, ...]:
    """Return the stops of the time of ``seat`` at ``now``, free days together with the end of the last of them."""
    pauses = [pause for pause in clock.pauses if _holds(pause, seat, now)]
    until = now
    while (change := free_until(clock, seat, until)) > until:
        until = change
    if until > now and not any(pause.reason == PauseReason.WEEKEND and pause.until == until for pause in pauses):
        pauses.append(Pause(reason=PauseReason.WEEKEND, seat=seat, since=now, until=until))
    return tuple(pauses)


def free_stretches(clock: Clock, seat: int, since: int, until: int) -> Iterator[tuple[int, int]]:
    """Yield beginning and end of each stretch of free days of ``seat`` after ``since`` that begins before ``until``."""
    at: int | None = since
    while at is not None and at < until:
        end = at
        while (change := free_until(clock, seat, end)) > end:
            end = change
        if end > at:
            yield at, end
        at = next_stop(clock, seat, end, None)


def spent(clock: Clock, seat: int, since: int, until: int) -> int:
    """Return how many milliseconds of the time of ``seat`` run between two instants."""
    if runs_throughout(clock, seat):
        return max(0, until - since)
    total = 0
    for begin, end in running(clock, seat, since):
        if begin >= until:
            break
        total += (until if end is None else min(end, until)) - begin
    return total


def has_all_of(pause: Pause, other: Pause) -> bool:
    """Tell whether ``pause`` is of the same kind as ``other`` and covers it."""
    return (
        (pause.reason, pause.seat) == (other.reason, other.seat)
        and pause.since <= other.since
        and (pause.until is None or (other.until is not None and other.until <= pause.until))
    )


def counts_from(clock: Clock) -> int:
    """Return the instant from which on time still counts: a pause that ended before it makes no difference any more."""
    return min([clock.since, *(turn.since for turn in clock.last_turns if turn is not None)])


def changes_at(clock: Clock, seat: int, now: int) -> int | None:
    """Return the first instant after ``now`` at which a pause of the time of ``seat`` begins or ends; None: never."""
    for begin, end in running(clock, seat, now):
        return begin if begin > now else end
    return None


def start(clock: Clock, seat: int | None, at: int) -> Clock:
    """Return the clocks when the match starts and ``seat`` is to move."""
    return replace(clock, seat=seat, since=at)


def move(clock: Clock, seat: int, following: int | None, at: int) -> Clock:
    """Return the clocks after a move of ``seat``: time spent, increment added, the time of ``following`` runs."""
    return _turned(clock, TurnEnding.MOVED, following, at, with_value(clock.begun, seat, True))


def pass_turn(clock: Clock, following: int | None, at: int) -> Clock:
    """Return the clocks when the turn passes to ``following`` without a move: a seat left, moves were taken back."""
    return _turned(clock, TurnEnding.PASSED, following, at, clock.begun)


def stop(clock: Clock, at: int) -> Clock:
    """Return the clocks when the match ends."""
    return _turned(clock, TurnEnding.STOPPED, None, at, clock.begun)


def forgive(clock: Clock, seat: int, following: int | None, at: int) -> Clock:
    """Return the clocks when the flag of ``seat`` is forgiven and the match goes on; earlier turns are settled."""
    time = min(clock.terms.cap, FORGIVEN)
    remaining = clock.terms.bank if clock.terms.control == Control.DAYS_PER_MOVE else max(time, clock.remaining[seat])
    last_turns = with_value(clock.last_turns, seat, None)
    return replace(_with_remaining(clock, seat, remaining), last_turns=last_turns, seat=following, since=at)


def revive(clock: Clock, following: int | None, at: int) -> Clock:
    """Return the clocks when an arbiter takes moves back: no seat goes on with its time up, as if it were forgiven."""
    clock = pass_turn(clock, following, at)
    for seat, time in enumerate(clock.remaining):
        if not time or (clock.terms.control == Control.DAYS_PER_MOVE and time < clock.terms.bank):
            clock = forgive(clock, seat, following, at)
    return clock


def give(clock: Clock, seat: int, time: int) -> Clock:
    """Return the clocks when ``seat`` gets ``time`` milliseconds more."""
    return _with_remaining(clock, seat, clock.remaining[seat] + time)


def adjust(clock: Clock, remaining: tuple[int, ...], at: int) -> Clock:
    """Return the clocks when an arbiter gives the seats these times, with the present turn counted from now."""
    return replace(clock, remaining=remaining, last_turns=(None,) * len(remaining), since=at)


def pause(clock: Clock, pause: Pause) -> Clock:
    """Return the clocks with ``pause``. Time that it takes out of an ended turn is given back."""
    kept = clock.pauses
    if pause.reason == PauseReason.WEEKEND:
        # A calendar may change often within a turn: the new stretch replaces those that it contains.
        kept = tuple(earlier for earlier in kept if not has_all_of(pause, earlier))
    with_pause = replace(clock, pauses=(*kept, pause))
    for seat, turn in enumerate(clock.last_turns):
        if turn is not None and pause.seat in (None, seat):
            back = _left_by(with_pause, seat, turn) - _left_by(clock, seat, turn)
            with_pause = _with_remaining(with_pause, seat, with_pause.remaining[seat] + back)
    return _pruned(with_pause)


def resume(clock: Clock, reason: PauseReason, seat: int | None, at: int) -> Clock:
    """Return the clocks when the pauses of ``seat`` for ``reason`` end at ``at``, or do not begin after it."""
    kept = []
    for pause in clock.pauses:
        if (pause.reason, pause.seat) == (reason, seat) and (pause.until is None or pause.until > at):
            pause = replace(pause, until=at)
        if pause.until is None or pause.until > pause.since:
            kept.append(pause)
    return replace(clock, pauses=tuple(kept))


def correct(clock: Clock, at: int) -> Clock:
    """Return the clocks when it is ``at``, whatever later instants were recorded, for a clock was wrong.

    Outages have ended by now, other pauses and the present turn have begun, and turns that are said to have ended later
    are settled: nothing reaches back to them. Vacations may well begin later.
    """
    pauses = []
    for pause in clock.pauses:
        if pause.reason == PauseReason.OUTAGE:
            pause = replace(pause, until=at if pause.until is None else min(pause.until, at))
        elif pause.reason != PauseReason.VACATION:
            pause = replace(pause, since=min(pause.since, at))
        if pause.until is None or pause.since < pause.until:
            pauses.append(pause)
    return _pruned(
        replace(
            clock,
            since=min(clock.since, at),
            last_turns=tuple(None if turn is not None and turn.until > at else turn for turn in clock.last_turns),
            pauses=tuple(pauses),
            former=tuple(replace(former, until=min(former.until, at)) for former in clock.former),
        )
    )


def _turned(clock: Clock, ending: TurnEnding, following: int | None, at: int, begun: tuple[bool, ...]) -> Clock:
    """Return the clocks when the turn of the running seat ends and that of ``following`` begins."""
    last_turns, remaining = clock.last_turns, clock.remaining
    if clock.seat is not None:
        turn = Turn(since=clock.since, until=at, had=remaining[clock.seat], ending=ending)
        last_turns = with_value(last_turns, clock.seat, turn)
        remaining = with_value(remaining, clock.seat, _left_by(clock, clock.seat, turn))
    turned = Clock(
        terms=clock.terms,
        remaining=remaining,
        begun=begun,
        last_turns=last_turns,
        calendars=clock.calendars,
        pauses=clock.pauses,
        former=clock.former,
        seat=following,
        since=at,
    )
    return _pruned(turned)


def _left_by(clock: Clock, seat: int, turn: Turn) -> int:
    """Return the time that ``seat`` had after its ``turn``."""
    terms = clock.terms
    rest = max(0, turn.had - spent(clock, seat, turn.since, turn.until))
    if terms.control == Control.DAYS_PER_MOVE:
        return {TurnEnding.MOVED: terms.bank, TurnEnding.PASSED: max(rest, terms.bank)}.get(turn.ending, rest)
    # Time that was given by an opponent may stand above the cap; it is kept, but nothing is added to it.
    return max(rest, min(terms.cap, rest + terms.increment)) if turn.ending == TurnEnding.MOVED else rest


def _pruned(clock: Clock) -> Clock:
    """Return the clocks without pauses that ended before the earliest remembered turn: they cannot count any more."""
    if not clock.pauses and not clock.former:
        return clock
    earliest = counts_from(clock)
    return replace(
        clock,
        pauses=tuple(pause for pause in clock.pauses if pause.until is None or pause.until > earliest),
        former=tuple(former for former in clock.former if former.until > earliest),
    )


def _with_remaining(clock: Clock, seat: int, time: int) -> Clock:
    return replace(clock, remaining=with_value(clock.remaining, seat, time))


def _holds(pause: Pause, seat: int, at: int) -> bool:
    return pause.seat in (None, seat) and pause.since <= at and (pause.until is None or at < pause.until)


def runs_throughout(clock: Clock, seat: int) -> bool:
    """Tell whether no known pause or free day ever stops the time of ``seat``."""
    return not clock.pauses and not clock.former and clock.calendars[seat] is None


def instant_of(clock: Clock, seat: int, since: int, budget: int) -> int | None:
    """Return the first instant at which the time of ``seat`` runs and has run for ``budget`` since ``since``."""
    if runs_throughout(clock, seat):
        return since + budget
    for begin, end in running(clock, seat, since):
        # Half-open: at ``end`` the time runs no more.
        if end is None or end - begin > budget:
            return begin + budget
        budget -= end - begin
    return None


def running(clock: Clock, seat: int, since: int) -> Iterator[tuple[int, int | None]]:
    """Yield the stretches, in order, in which the time of ``seat`` runs from ``since`` on; the last has no end."""
    pauses = sorted((pause for pause in clock.pauses if pause.seat in (None, seat)), key=lambda pause: pause.since)
    at, held, begun = since, since, 0
    while True:
        while begun < len(pauses) and pauses[begun].since <= at:
            until = pauses[begun].until
            if until is None:
                return
            held, begun = max(held, until), begun + 1
        until = max(held, free_until(clock, seat, at))
        if until <= at:
            end = next_stop(clock, seat, at, pauses[begun].since if begun < len(pauses) else None)
            yield at, end
            if end is None:
                return
            until = end
        at = until


def free_until(clock: Clock, seat: int, at: int) -> int:
    """Return ``at`` if it is on no free day, else an instant up to which there is nothing but that free day."""
    calendar, valid_until = _calendar_at(clock, seat, at)
    if calendar is None or not is_free(calendar, at):
        return at
    change = next_change(calendar, at)
    return change if valid_until is None else min(change, valid_until)


def next_stop(clock: Clock, seat: int, at: int, pause: int | None) -> int | None:
    """Return when after ``at`` a pause (the next one is at ``pause``) or a free day may begin; None without one."""
    stops = [] if pause is None else [pause]
    calendar, valid_until = _calendar_at(clock, seat, at)
    if valid_until is not None:
        stops.append(valid_until)
    if calendar is not None:
        change = next_change(calendar, at)
        while not is_free(calendar, change) and all(change < stop for stop in stops):
            change = next_change(calendar, change)
        stops.append(change)
    return min(stops, default=None)


def _calendar_at(clock: Clock, seat: int, at: int) -> tuple[Calendar | None, int | None]:
    """Return the calendar that counts for ``seat`` at ``at`` and until when (None: no other is known)."""
    if not clock.terms.weekends:
        return None, None
    calendar, valid_until = clock.calendars[seat], None
    for former in clock.former:
        if former.seat == seat and at < former.until:
            calendar, valid_until = former.calendar, former.until
            break
    return (calendar if calendar is not None and calendar.free_days else None), valid_until
