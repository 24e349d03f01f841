"""Calendars in real time zones, with their real changes of daylight saving; clocks that follow them."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from domain.match.calendar import Calendar, Offset
from domain.match.clock import Clock, Former
from domain.vector import with_value

ZONES = (
    "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Sao_Paulo", "Pacific/Apia", "Asia/Kathmandu",
    "UTC",
)  # fmt: skip
"""Lord Howe changes by half an hour, Sao Paulo did at midnight, and Apia once left a day out."""


def instant(year: int, month: int, day: int, hour: int = 0, minute: int = 0) -> int:
    """Return an instant given in UTC, in milliseconds since 1970 UTC."""
    return int(datetime(year, month, day, hour, minute, tzinfo=UTC).timestamp()) * 1000


def local(zone: str, at: int) -> datetime:
    """Return the local time in ``zone`` at an instant."""
    return datetime.fromtimestamp(at / 1000, ZoneInfo(zone))


def offset_minutes(zone: str, at: int) -> int:
    """Return by how many minutes local time in ``zone`` is ahead of UTC at an instant."""
    ahead = local(zone, at).utcoffset()
    assert ahead is not None
    return int(ahead / timedelta(minutes=1))


def calendar_of(zone: str, free_days: tuple[int, ...], since: int, until: int) -> Calendar:
    """Return the calendar of somebody in ``zone``, its changes found to a quarter of an hour."""
    offsets = [Offset(since, offset_minutes(zone, since))]
    day = 86_400_000
    for at in range(since - since % day, until, day):
        if offset_minutes(zone, at + day) != offsets[-1].minutes:
            quarters = range(at, at + day + 1, day // 96)
            changed = next(each for each in quarters if offset_minutes(zone, each) != offsets[-1].minutes)
            if changed < until:
                offsets.append(Offset(changed, offset_minutes(zone, changed)))
    return Calendar(tuple(offsets), free_days)


def set_calendar(clock: Clock, seat: int, calendar: Calendar | None, at: int) -> Clock:
    """Return the clocks when ``calendar`` is that of ``seat`` from ``at`` on."""
    former = (*clock.former, Former(seat=seat, until=at, calendar=clock.calendars[seat]))
    return replace(clock, calendars=with_value(clock.calendars, seat, calendar), former=former)
