"""A player's vacations in all matches whose terms allow them: booked, or automatic before a flag would fall."""

from typing import NamedTuple

from domain.match.refusals import CommandError
from domain.match.terms import DAY, duration

ALLOWANCE = 30 * DAY
"""Milliseconds of vacation that may begin in one calendar year (UTC)."""

MIN_VACATION_MS = DAY
MAX_BOOKED_AHEAD_MS = 400 * DAY


class Vacation(NamedTuple):
    """From ``since`` to ``until``, in milliseconds since 1970 UTC; ``automatic`` if taken before a flag would fall."""

    since: int
    until: int
    automatic: bool = False


Vacations = tuple[Vacation, ...]
"""All vacations of a player in the order of time; they do not overlap."""


def booked(book: Vacations, since: int, until: int, now: int) -> Vacations:
    """Return ``book`` with a new vacation. Raises CommandError, with the field, when it cannot be taken."""
    if since < now:
        raise CommandError("vacation-in-the-past", "a vacation cannot begin in the past", "since")
    if since > now + MAX_BOOKED_AHEAD_MS:
        raise CommandError(
            "vacation-too-far", f"a vacation begins within {duration(MAX_BOOKED_AHEAD_MS)} from now", "since"
        )
    if until - since < MIN_VACATION_MS:
        raise CommandError("vacation-too-short", f"a vacation lasts at least {duration(MIN_VACATION_MS)}", "until")
    for other in book:
        if since < other.until and other.since < until:
            raise CommandError("vacation-overlaps", "you have a vacation in that time already", "since")
    year = year_of(since)
    rest = left(book, year)
    if until - since > rest:
        has = f"{duration(rest)} of vacation are left in {year}" if rest else f"no vacation is left in {year}"
        raise CommandError("vacation-exhausted", has, "until")
    return tuple(sorted((*book, Vacation(since, until))))


def ended(book: Vacations, now: int) -> Vacations:
    """Return ``book`` with the present vacation ended at ``now``, the rest unused; raises CommandError without one."""
    if current(book, now) is None:
        raise CommandError("no-vacation", "you are not on vacation")
    shortened = (
        vacation._replace(until=now) if vacation.since <= now < vacation.until else vacation for vacation in book
    )
    return tuple(vacation for vacation in shortened if vacation.until > vacation.since)


def cancelled(book: Vacations, since: int, now: int) -> Vacations:
    """Return ``book`` without the vacation that begins at ``since``, which must lie ahead; raises CommandError."""
    if not any(vacation.since == since > now for vacation in book):
        raise CommandError("no-vacation", "no vacation of yours that lies ahead begins then", "since")
    return tuple(vacation for vacation in book if vacation.since != since)


def current(book: Vacations, now: int) -> Vacation | None:
    """Return the vacation that is being taken at ``now``, or None."""
    return next((vacation for vacation in book if vacation.since <= now < vacation.until), None)


def left(book: Vacations, year: int) -> int:
    """Return the milliseconds of vacation that are left for those that begin in ``year``."""
    taken = sum(vacation.until - vacation.since for vacation in book if year_of(vacation.since) == year)
    return max(0, ALLOWANCE - taken)


def automatic(book: Vacations, at: int) -> Vacations | None:
    """Return ``book`` with a day (up to the next vacation) of automatic vacation from ``at``; None if none is left."""
    following = min((vacation.since for vacation in book if vacation.since > at), default=at + MIN_VACATION_MS)
    until = min(at + MIN_VACATION_MS, following)
    if until - at > left(book, year_of(at)) or current(book, at) is not None:
        return None
    return tuple(sorted((*book, Vacation(at, until, True))))


def year_of(at: int) -> int:
    """Return the calendar year (UTC, proleptic Gregorian) of ``at``, milliseconds since 1970 UTC."""
    # Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", civil_from_days: years begin in March there.
    days = at // DAY + 719_468
    era, day_of_era = divmod(days, 146_097)
    year_of_era = (day_of_era - day_of_era // 1_460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    return year_of_era + era * 400 + (1 if day_of_year >= 306 else 0)
