"""A player's working week: on which days of the week, in the player's own time, no clock runs.

Time zones change by law, and the database of a library changes with them. A calendar therefore carries the offsets
themselves, as they were known when it was set: a replay years later computes the same instants.
"""

from typing import NamedTuple

from domain.match.refusals import CommandError
from domain.match.terms import DAY, MINUTE

MAX_FREE_DAYS = 3
_EPOCH_WEEKDAY = 3
"""1970-01-01 was a Thursday; Monday is 0."""


class Offset(NamedTuple):
    """From ``since`` (milliseconds since 1970 UTC) on, local time is UTC and ``minutes`` more."""

    since: int
    minutes: int


class Calendar(NamedTuple):
    """``offsets`` in the order of time, the first also valid before it; ``free_days`` of the week, Monday is 0."""

    offsets: tuple[Offset, ...]
    free_days: tuple[int, ...]


def check(calendar: Calendar) -> None:
    """Raise CommandError unless ``calendar`` leaves days to play on and its offsets are in order."""
    if len(calendar.free_days) > MAX_FREE_DAYS:
        raise CommandError("invalid-calendar", f"at most {MAX_FREE_DAYS} days of the week can be free", "free_days")
    if any(not 0 <= day <= 6 for day in calendar.free_days) or len(set(calendar.free_days)) != len(calendar.free_days):
        raise CommandError(
            "invalid-calendar", "the free days are different numbers from 0 (Monday) to 6 (Sunday)", "free_days"
        )
    instants = [offset.since for offset in calendar.offsets]
    if not instants or instants != sorted(set(instants)):
        raise CommandError("invalid-calendar", "the offsets of the time zone are not in order", "time_zone")
    if any(abs(offset.minutes) > 16 * 60 for offset in calendar.offsets):
        raise CommandError("invalid-calendar", "no time zone is so far from UTC", "time_zone")


def is_free(calendar: Calendar, at: int) -> bool:
    """Tell whether it is one of the free days, in local time, at the instant ``at``."""
    local = at + _offset(calendar, at)[0] * MINUTE
    return (local // DAY + _EPOCH_WEEKDAY) % 7 in calendar.free_days


def next_change(calendar: Calendar, at: int) -> int:
    """Return the first instant after ``at`` at which another local day, or another offset, begins."""
    minutes, valid_until = _offset(calendar, at)
    local = at + minutes * MINUTE
    midnight = (local // DAY + 1) * DAY - minutes * MINUTE
    return midnight if valid_until is None else min(midnight, valid_until)


def _offset(calendar: Calendar, at: int) -> tuple[int, int | None]:
    """Return the minutes that are valid at ``at`` and the instant at which others will be (None: never)."""
    valid = calendar.offsets[0].minutes
    for offset in calendar.offsets:
        if offset.since > at:
            # The first offset is valid before its instant too: nothing changes there.
            if offset is calendar.offsets[0]:
                continue
            return valid, offset.since
        valid = offset.minutes
    return valid, None
