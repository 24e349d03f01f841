"""When the time of a seat runs: the stretches between its pauses and free days."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from domain.match.calendar import Calendar, is_free, next_change

if TYPE_CHECKING:
    from domain.match.clock import Clock


def runs_throughout(clock: "Clock", seat: int) -> bool:
    """Tell whether nothing is known that ever stops the time of ``seat``."""
    return not clock.pauses and not clock.former and clock.calendars[seat] is None


def instant_of(clock: "Clock", seat: int, since: int, budget: int) -> int | None:
    """Return the first instant at which the time of ``seat`` runs and has run for ``budget`` since ``since``."""
    if runs_throughout(clock, seat):
        return since + budget
    for begin, end in running(clock, seat, since):
        # Half-open: at ``end`` the time runs no more.
        if end is None or end - begin > budget:
            return begin + budget
        budget -= end - begin
    return None


def running(clock: "Clock", seat: int, since: int) -> Iterator[tuple[int, int | None]]:
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


def free_until(clock: "Clock", seat: int, at: int) -> int:
    """Return ``at`` if it is on no free day, else an instant up to which there is nothing but that free day."""
    calendar, valid_until = _calendar_at(clock, seat, at)
    if calendar is None or not is_free(calendar, at):
        return at
    change = next_change(calendar, at)
    return change if valid_until is None else min(change, valid_until)


def next_stop(clock: "Clock", seat: int, at: int, pause: int | None) -> int | None:
    """Return the first instant after ``at`` at which a pause or a free day may begin (None: there is none).

    ``pause`` is that at which the next pause begins.
    """
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


def _calendar_at(clock: "Clock", seat: int, at: int) -> tuple[Calendar | None, int | None]:
    """Return the calendar that counts for ``seat`` at ``at`` and until when (None: no other is known)."""
    if not clock.terms.weekends:
        return None, None
    calendar, valid_until = clock.calendars[seat], None
    for former in clock.former:
        if former.seat == seat and at < former.until:
            calendar, valid_until = former.calendar, former.until
            break
    return (calendar if calendar is not None and calendar.free_days else None), valid_until
