"""Deadlines as a calendar that programs subscribe to (iCalendar, RFC 5545 and RFC 7986)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import NAMESPACE_OID, uuid5

from icalendar import Alarm, Calendar, Event

MEDIA_TYPE = "text/calendar"
PRODUCT = "-//Rookery//Deadlines//EN"
NAME = "Rookery: deadlines"
MAX_DEADLINES = 50
DESCRIPTION = f"By when you have to move or to answer: the {MAX_DEADLINES} nearest deadlines of your matches."
REFRESH = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Deadline:
    """By when something is to be done in a match: ``title`` says what, ``description`` what happens otherwise.

    ``version`` is that of the match, ``changed_at`` when it came to it. Instants are milliseconds since 1970 UTC.
    """

    match: str
    version: int
    at: int
    changed_at: int
    title: str
    description: str
    url: str


def write_calendar(deadlines: Sequence[Deadline], remind_before_h: int) -> bytes:
    """Return a calendar with ``deadlines``: at most MAX_DEADLINES, the nearest first.

    Each has an alarm ``remind_before_h`` hours before (0: none).
    """
    calendar = Calendar()
    calendar.add("version", "2.0")
    calendar.add("prodid", PRODUCT)
    calendar.add("method", "PUBLISH")
    calendar.add("name", NAME)
    calendar.add("x-wr-calname", NAME)
    calendar.add("description", DESCRIPTION)
    calendar.add("x-wr-caldesc", DESCRIPTION)
    calendar.add("refresh-interval", REFRESH)
    calendar.add("x-published-ttl", "PT1H")
    for deadline in deadlines:
        calendar.add_component(_event(deadline, remind_before_h))
    content: bytes = calendar.to_ical()
    return content


def _event(deadline: Deadline, remind_before_h: int) -> Event:
    """Return a deadline as an event without length; that of a match always has the same UID."""
    event = Event()
    event.add("uid", str(uuid5(NAMESPACE_OID, f"rookery/deadline/{deadline.match}")))
    event.add("dtstamp", _instant(deadline.changed_at))
    event.add("last-modified", _instant(deadline.changed_at))
    event.add("sequence", deadline.version)
    event.add("dtstart", _instant(deadline.at))
    event.add("summary", deadline.title)
    event.add("description", deadline.description)
    event.add("url", deadline.url)
    event.add("transp", "TRANSPARENT")
    if remind_before_h:
        event.add_component(_alarm(deadline.title, remind_before_h))
    return event


def _alarm(title: str, hours: int) -> Alarm:
    alarm = Alarm()
    alarm.add("action", "DISPLAY")
    alarm.add("description", title)
    alarm.add("trigger", timedelta(hours=-hours))
    return alarm


def _instant(at: int) -> datetime:
    return datetime.fromtimestamp(at // 1000, UTC)
