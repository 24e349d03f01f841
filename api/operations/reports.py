"""Reported chat messages, as arbiters see them."""

from itertools import groupby
from typing import Any

from api.http import representations as show
from api.services import services
from events.private.reports import Report
from events.runtime.wall_clock import rfc3339


def reported(after: int, limit: int) -> dict[str, Any]:
    """Return the reported messages of a page of matches, and where the next page begins (None: there is none)."""
    found = services().reports.waiting(after, limit + 1)
    items = [item for match in found[:limit] for item in _reported_in(match)]
    return {"items": items, "next": after + limit if len(found) > limit else None}


def _reported_in(match: str) -> list[dict[str, Any]]:
    by_message = groupby(services().reports.of(match), lambda report: report.number)
    return [_shown(match, number, list(reports)) for number, reports in by_message]


def _shown(match: str, number: int, reports: list[Report]) -> dict[str, Any]:
    message = next(iter(services().chats.read(match, number - 1, 1)), None)
    authors = [] if message is None else [message.author]
    persons = services().people.persons([*authors, *(report.reporter for report in reports)])
    return {
        "match": match,
        "message": number,
        "at": None if message is None else rfc3339(message.at),
        "author": None if message is None else show.player(message.author, persons),
        "text": "" if message is None else message.text,
        "reports": [{"reporter": show.player(report.reporter, persons), "reason": report.reason} for report in reports],
    }
