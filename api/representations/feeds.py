"""Feeds in the Atom Syndication Format (RFC 4287), and deadlines as a calendar (iCalendar, RFC 5545 and RFC 7986)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import NAMESPACE_OID, uuid5
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from icalendar import Alarm, Calendar, Event

from events.runtime.wall_clock import rfc3339

MEDIA_TYPE = "application/atom+xml"
NAMESPACE = "http://www.w3.org/2005/Atom"
AUTHOR = "Rookery"

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML cannot have, not even escaped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """An entry of a feed: an id that no other has, a sentence, when it was (milliseconds since 1970 UTC), a URL."""

    id: str
    title: str
    updated: int
    link: str
    content: str = ""
    category: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Feed:
    """A feed: the URL of its subject, its own URL, and its entries, the latest first.

    ``updated`` is when it last changed, milliseconds since 1970 UTC.
    """

    id: str
    title: str
    subtitle: str
    updated: int
    link: str
    self_link: str
    entries: Sequence[Entry]


def atom_id(*names: str) -> str:
    """Return the id of the subject with these ``names``: always the same, wherever the feed is read."""
    return f"urn:uuid:{uuid5(NAMESPACE_OID, '/'.join(('rookery', *names)))}"


def write_feed(feed: Feed) -> bytes:
    """Return ``feed`` as a document."""
    root = Element("feed", xmlns=NAMESPACE)
    _add(root, "id", feed.id)
    _add(root, "title", feed.title)
    _add(root, "subtitle", feed.subtitle)
    _add(root, "updated", rfc3339(feed.updated))
    _add(SubElement(root, "author"), "name", AUTHOR)
    SubElement(root, "link", rel="self", type=MEDIA_TYPE, href=feed.self_link)
    SubElement(root, "link", rel="alternate", type="text/html", href=feed.link)
    for entry in feed.entries:
        _add_entry(SubElement(root, "entry"), entry)
    content: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return content


def _add_entry(element: Element, entry: Entry) -> None:
    _add(element, "id", entry.id)
    _add(element, "title", entry.title)
    _add(element, "updated", rfc3339(entry.updated))
    SubElement(element, "link", rel="alternate", type="text/html", href=entry.link)
    if entry.category:
        SubElement(element, "category", term=entry.category)
    if entry.content:
        _add(element, "content", entry.content)


def _add(parent: Element, name: str, text: str) -> None:
    SubElement(parent, name).text = _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)


CALENDAR_TYPE = "text/calendar"
PRODUCT = "-//Rookery//Deadlines//EN"
NAME = "Rookery: deadlines"
MAX_DEADLINES = 50
DESCRIPTION = f"By when you have to move or to answer: the {MAX_DEADLINES} nearest deadlines of your matches."
REFRESH = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Deadline:
    """A deadline of a match, or a date of a tournament: ``title`` names the act, ``description`` its consequences.

    ``subject`` is always the same, ``version`` is that of the match or tournament, ``changed_at`` when it came to it.
    Instants are milliseconds since 1970 UTC.
    """

    subject: str
    version: int
    at: int
    changed_at: int
    title: str
    description: str
    url: str


def write_calendar(
    deadlines: Sequence[Deadline], remind_before_h: int, name: str = NAME, description: str = DESCRIPTION
) -> bytes:
    """Return a calendar of the nearest MAX_DEADLINES of ``deadlines``; ``remind_before_h`` 0 means no alarms."""
    calendar = Calendar()
    calendar.add("version", "2.0")
    calendar.add("prodid", PRODUCT)
    calendar.add("method", "PUBLISH")
    calendar.add("name", name)
    calendar.add("x-wr-calname", name)
    calendar.add("description", description)
    calendar.add("x-wr-caldesc", description)
    calendar.add("refresh-interval", REFRESH)
    calendar.add("x-published-ttl", "PT1H")
    for deadline in deadlines:
        calendar.add_component(_event(deadline, remind_before_h))
    content: bytes = calendar.to_ical()
    return content


def _event(deadline: Deadline, remind_before_h: int) -> Event:
    """Return a deadline as an event without length; that of a subject always has the same UID."""
    event = Event()
    event.add("uid", str(uuid5(NAMESPACE_OID, f"rookery/deadline/{deadline.subject}")))
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
