"""Feeds in the Atom Syndication Format (RFC 4287)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import NAMESPACE_OID, uuid5
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

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
    """A feed: the URL of what it is about, its own URL, and its entries, the latest first.

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
    """Return the id of what has these ``names``: always the same, wherever the feed is read."""
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
