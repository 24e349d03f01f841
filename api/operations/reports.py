"""Reported chat messages, as arbiters see them."""

from collections.abc import Sequence
from itertools import groupby
from typing import Annotated

from msgspec import Meta

from api.http.answers import Answer, Instant, NextAfter
from api.representations.players import Player, represent_player
from api.services import services
from events.people.reports import AbuseReport
from events.runtime.wall_clock import rfc3339


class ReportReason(Answer):
    reporter: Player
    reason: str


class ReportedMessage(Answer):
    match: str
    message: Annotated[int, Meta(description="Its number in the chat of the match")]
    at: Instant | None
    author: Player | None
    text: Annotated[str, Meta(description="Empty when its author has been erased")]
    reports: Sequence[ReportReason]


class ReportPage(Answer):
    items: Sequence[ReportedMessage]
    next: NextAfter


def report_page(after: int, limit: int) -> ReportPage:
    """Return the reported messages of up to ``limit`` matches, leaving out the first ``after`` matches."""
    waiting = services().reports.waiting(after, limit + 1)
    items = [message for match_id in waiting[:limit] for message in _reported_in(match_id)]
    return ReportPage(items=items, next=after + limit if len(waiting) > limit else None)


def _reported_in(match_id: str) -> list[ReportedMessage]:
    by_message = groupby(services().reports.of(match_id), lambda report: report.number)
    return [_represent(match_id, number, list(reports)) for number, reports in by_message]


def _represent(match_id: str, number: int, reports: list[AbuseReport]) -> ReportedMessage:
    message = next(iter(services().chats.read(match_id, number - 1, 1)), None)
    authors = [] if message is None else [message.author]
    persons = services().people.persons([*authors, *(report.reporter for report in reports)])
    return ReportedMessage(
        match=match_id,
        message=number,
        at=None if message is None else rfc3339(message.at),
        author=None if message is None else represent_player(message.author, persons),
        text="" if message is None else message.text,
        reports=[
            ReportReason(reporter=represent_player(report.reporter, persons), reason=report.reason)
            for report in reports
        ],
    )
