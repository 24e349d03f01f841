"""The clocks of a match: a fold over its events that says at which instant whose flag falls, and why.

Time is counted in whole milliseconds. A seat's time runs while it is to move, but not during a pause (each has a
reason, and several may overlap) and not on its free days. Pauses are intervals: one that is recorded late still counts
from its beginning, also for a turn that has ended meanwhile. Changing a calendar counts from then on only.
"""

from collections.abc import Iterator
from typing import NamedTuple

from domain.match.calendar import Calendar, is_free, next_change
from domain.match.terms import AUTOMATIC, DAY, DAYS_PER_MOVE, UNCLAIMED_FOR, Terms, duration

VACATION = "vacation"
OUTAGE = "outage"
ARBITER = "arbiter"
DISPUTE = "dispute"
REASONS = (VACATION, OUTAGE, ARBITER, DISPUTE)
WEEKEND = "weekend"
"""Beside REASONS, which are recorded: a calendar's free days, which are computed."""

FORGIVEN = 3 * DAY
"""What a forgiven seat has at least to go on with (never more than the cap)."""

FIRST_MOVE = "first-move"
CEILING = "ceiling"
TIME = "time"


class Pause(NamedTuple):
    """From ``since`` to ``until`` (None: no end is known) the time of ``seat`` (None: all seats) does not run."""

    reason: str
    seat: int | None
    since: int
    until: int | None


class Span(NamedTuple):
    """A seat's time ran from ``since`` to ``until``, but for its pauses."""

    since: int
    until: int


class Clock(NamedTuple):
    """The clocks after the last event.

    ``remaining`` is each seat's time, for ``seat``, whose turn it is (None: nobody's), as it was at ``since``; of this
    turn ``used`` had been spent before ``since``. ``last_spans`` is the last ended stretch of each seat, to which a
    pause that is recorded late may still reach back. ``begun`` tells which seats have made their first move.
    """

    terms: Terms
    remaining: tuple[int, ...]
    begun: tuple[bool, ...]
    last_spans: tuple[Span | None, ...]
    calendars: tuple[Calendar | None, ...]
    pauses: tuple[Pause, ...] = ()
    seat: int | None = None
    since: int = 0
    used: int = 0


class Forecast(NamedTuple):
    """Unless ``seat`` moves, its time is up at the instant ``at`` (None: never, while a pause without end lasts).

    ``limit`` says which time that is: "time" (bank or days per move), "ceiling", or "first-move", after which the match
    is called off instead of lost.
    """

    seat: int
    at: int | None
    limit: str


def new_clock(terms: Terms, seats: int) -> Clock:
    """Return the clocks of a match that has not started."""
    return Clock(terms, (terms.bank,) * seats, (False,) * seats, (None,) * seats, (None,) * seats)


def forecast(clock: Clock) -> Forecast | None:
    """Return whose time is up when if nothing happens; None when no clock runs."""
    if clock.seat is None:
        return None
    budget, limit = clock.remaining[clock.seat], TIME
    if clock.terms.ceiling is not None and clock.terms.ceiling - clock.used < budget:
        budget, limit = clock.terms.ceiling - clock.used, CEILING
    if not clock.begun[clock.seat]:
        budget, limit = min(budget, clock.terms.first_move - clock.used), FIRST_MOVE
    return Forecast(clock.seat, _instant(clock, clock.seat, clock.since, max(budget, 0)), limit)


def falls_at(clock: Clock) -> int | None:
    """Return the instant at which time being up takes effect without anybody's claim; None when it does not."""
    expected = forecast(clock)
    if expected is None or expected.at is None:
        return None
    by_itself = clock.terms.flag == AUTOMATIC or expected.limit == FIRST_MOVE
    return expected.at if by_itself else expected.at + UNCLAIMED_FOR


def left(clock: Clock, seat: int, now: int) -> int:
    """Return the milliseconds that ``seat`` has at ``now``, not regarding ceiling and first move; never negative."""
    remaining = clock.remaining[seat]
    return max(0, remaining - spent(clock, seat, clock.since, now)) if seat == clock.seat else remaining


def pauses_at(clock: Clock, seat: int, now: int) -> tuple[Pause, ...]:
    """Return what stops the time of ``seat`` at ``now``, weekends with the end of the local day."""
    found = [pause for pause in clock.pauses if _holds(pause, seat, now)]
    calendar = _weekends(clock, seat)
    if calendar is not None and is_free(calendar, now):
        until = now
        while is_free(calendar, until):
            until = next_change(calendar, until)
        found.append(Pause(WEEKEND, seat, now, until))
    return tuple(found)


def spent(clock: Clock, seat: int, since: int, until: int) -> int:
    """Return how many milliseconds of the time of ``seat`` run between two instants."""
    total = 0
    for begin, end in _running(clock, seat, since):
        if begin >= until:
            break
        total += (until if end is None else min(end, until)) - begin
    return total


def in_words(clock: Clock, now: int, name: str) -> tuple[str, ...]:
    """Return why the forecast is what it is, as sentences; ``name`` is that of the seat whose time runs."""
    expected = forecast(clock)
    if expected is None:
        return ()
    sentences = []
    has = duration(left(clock, expected.seat, now))
    if expected.limit == FIRST_MOVE:
        allowed = duration(clock.terms.first_move)
        sentences.append(f"{name} has not moved yet: the first move must come within {allowed}.")
    elif expected.limit == CEILING:
        ceiling = duration(clock.terms.ceiling or 0)
        sentences.append(f"{name} has {has}, but a single move may take no longer than {ceiling}.")
    elif clock.terms.control == DAYS_PER_MOVE:
        sentences.append(f"{name} has {has} left for this move.")
    else:
        sentences.append(f"{name} has {has} left and gets {duration(clock.terms.increment)} more after moving.")
    for pause in pauses_at(clock, expected.seat, now):
        ending = "until it is lifted" if pause.until is None else f"for {duration(pause.until - now)} more"
        sentences.append(f"The clock stands still {ending}: {_PAUSED[pause.reason]}.")
    return tuple(sentences)


_PAUSED = {
    VACATION: "vacation",
    WEEKEND: "a free day of the week",
    OUTAGE: "the server was away, and that time is nobody's",
    ARBITER: "an arbiter has stopped it",
    DISPUTE: "a dispute is being settled",
}


def started(clock: Clock, seat: int, at: int) -> Clock:
    """Return the clocks when the match starts and ``seat`` is to move."""
    return clock._replace(seat=seat, since=at, used=0)


def moved(clock: Clock, seat: int, following: int | None, at: int) -> Clock:
    """Return the clocks after a move of ``seat``: time spent, increment added, the time of ``following`` runs."""
    clock = _settled(clock, at)
    terms = clock.terms
    if terms.control == DAYS_PER_MOVE:
        remaining = terms.bank
    else:
        # Time that was given by an opponent may stand above the cap; it is kept, but nothing is added to it.
        remaining = max(clock.remaining[seat], min(terms.cap, clock.remaining[seat] + terms.increment))
    clock = _with_remaining(clock, seat, remaining)
    begun = (*clock.begun[:seat], True, *clock.begun[seat + 1 :])
    return clock._replace(begun=begun, seat=following, since=at, used=0)


def passed(clock: Clock, following: int | None, at: int) -> Clock:
    """Return the clocks when the turn passes to ``following`` without a move: a seat left, moves were taken back."""
    clock = _settled(clock, at)
    if clock.terms.control == DAYS_PER_MOVE:
        clock = clock._replace(remaining=tuple(max(each, clock.terms.bank) for each in clock.remaining))
    return clock._replace(seat=following, since=at, used=0)


def stopped(clock: Clock, at: int) -> Clock:
    """Return the clocks when the match ends."""
    return _settled(clock, at)._replace(seat=None, since=at, used=0)


def forgiven(clock: Clock, seat: int, following: int, at: int) -> Clock:
    """Return the clocks when the flag of ``seat`` is forgiven and the match goes on."""
    time = min(clock.terms.cap, FORGIVEN)
    remaining = clock.terms.bank if clock.terms.control == DAYS_PER_MOVE else max(time, clock.remaining[seat])
    return _with_remaining(clock, seat, remaining)._replace(seat=following, since=at, used=0)


def given(clock: Clock, seat: int, time: int) -> Clock:
    """Return the clocks when ``seat`` gets ``time`` milliseconds more."""
    return _with_remaining(clock, seat, clock.remaining[seat] + time)


def paused(clock: Clock, pause: Pause) -> Clock:
    """Return the clocks with ``pause``. What it takes out of a stretch that has ended already is given back."""
    with_pause = clock._replace(pauses=(*_needed(clock), pause))
    for seat, span in enumerate(clock.last_spans):
        if span is not None and pause.seat in (None, seat):
            back = spent(clock, seat, *span) - spent(with_pause, seat, *span)
            before = with_pause.remaining[seat]
            with_pause = _with_remaining(with_pause, seat, max(before, min(clock.terms.cap, before + back)))
    return with_pause


def resumed(clock: Clock, reason: str, seat: int | None, at: int) -> Clock:
    """Return the clocks when the pauses of ``seat`` for ``reason`` end at ``at``, or do not begin after it."""
    kept = []
    for pause in clock.pauses:
        if (pause.reason, pause.seat) == (reason, seat) and (pause.until is None or pause.until > at):
            pause = pause._replace(until=at)
        if pause.until is None or pause.until > pause.since:
            kept.append(pause)
    return clock._replace(pauses=tuple(kept))


def with_calendar(clock: Clock, seat: int, calendar: Calendar | None, at: int) -> Clock:
    """Return the clocks when ``calendar`` is that of ``seat`` from ``at`` on."""
    if seat == clock.seat:
        clock = _settled(clock, at)
    return clock._replace(calendars=(*clock.calendars[:seat], calendar, *clock.calendars[seat + 1 :]))


def _settled(clock: Clock, at: int) -> Clock:
    """Return the clocks with what the running seat has spent until ``at`` taken from its time."""
    if clock.seat is None:
        return clock
    seat, used = clock.seat, spent(clock, clock.seat, clock.since, at)
    spans = (*clock.last_spans[:seat], Span(clock.since, at), *clock.last_spans[seat + 1 :])
    clock = _with_remaining(clock, seat, max(0, clock.remaining[seat] - used))
    return clock._replace(last_spans=spans, since=at, used=clock.used + used, pauses=_needed(clock))


def _needed(clock: Clock) -> tuple[Pause, ...]:
    """Return the pauses that can still count: those that end after the earliest stretch that is remembered began."""
    earliest = min([clock.since, *(span.since for span in clock.last_spans if span is not None)])
    return tuple(pause for pause in clock.pauses if pause.until is None or pause.until > earliest)


def _with_remaining(clock: Clock, seat: int, time: int) -> Clock:
    return clock._replace(remaining=(*clock.remaining[:seat], time, *clock.remaining[seat + 1 :]))


def _weekends(clock: Clock, seat: int) -> Calendar | None:
    calendar = clock.calendars[seat] if clock.terms.weekends else None
    return calendar if calendar is not None and calendar.free_days else None


def _holds(pause: Pause, seat: int, at: int) -> bool:
    return pause.seat in (None, seat) and pause.since <= at and (pause.until is None or at < pause.until)


def _instant(clock: Clock, seat: int, since: int, budget: int) -> int | None:
    """Return the instant at which ``budget`` milliseconds of the time of ``seat`` have run since ``since``."""
    for begin, end in _running(clock, seat, since):
        if end is None or end - begin >= budget:
            return begin + budget
        budget -= end - begin
    return None


def _running(clock: Clock, seat: int, since: int) -> Iterator[tuple[int, int | None]]:
    """Yield the stretches, in order, in which the time of ``seat`` runs from ``since`` on; the last has no end."""
    calendar = _weekends(clock, seat)
    at = since
    while True:
        held = [pause.until for pause in clock.pauses if _holds(pause, seat, at)]
        if None in held:
            return
        until = max((end for end in held if end is not None), default=at)
        if until == at and calendar is not None and is_free(calendar, at):
            until = next_change(calendar, at)
        if until > at:
            at = until
            continue
        begins = [pause.since for pause in clock.pauses if pause.seat in (None, seat) and pause.since > at]
        if calendar is not None:
            change = next_change(calendar, at)
            while not is_free(calendar, change) and all(change < begin for begin in begins):
                change = next_change(calendar, change)
            begins.append(change)
        if not begins:
            yield at, None
            return
        yield at, min(begins)
        at = min(begins)
