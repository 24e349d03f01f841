"""Messages that readers report, and what arbiters do about them."""

from collections.abc import Mapping

from flask import Blueprint
from marshmallow import validate

from api.access.auth import require_person, require_role
from api.access.chats import refuse_chat_reader
from api.access.limits import spend
from api.access.matches import visible_match
from api.addresses import PREFIX
from api.endpoints import endpoint
from api.http.problems import Problem
from api.http.schemas import EmptyBody, QueryInteger, StrictSchema, page_limit, prose
from api.operations.reports import ReportPage, report_page
from api.services import services
from domain.match.decisions.cases import refuse_party
from events.people.administration import ARBITER
from events.private.chats import MAX_MESSAGES_PER_CHAT
from events.private.reports import Report

blueprint = Blueprint("reports", __name__, url_prefix=PREFIX)

MAX_REASON_CHARACTERS = 500
MAX_SKIPPED_MATCHES = 1000
"""Matches with reports that a page can leave out."""


class ReportRequest(StrictSchema):
    reason = prose(MAX_REASON_CHARACTERS)


class ReportsQuery(StrictSchema):
    after = QueryInteger(load_default=0, validate=validate.Range(0, MAX_SKIPPED_MATCHES))
    limit = page_limit(20, 50)


@blueprint.post("/matches/<match_id>/chat/<int:number>/reports")
@endpoint(204, body=ReportRequest, signed_in=True, problems=[404])
def report_message(sent: Mapping[str, str], match_id: str, number: int) -> None:
    """Report a message

    Arbiters decide on it. Until then the caller does not see it any more.
    """
    state, person = visible_match(match_id).state, require_person()
    refuse_chat_reader(state, person)
    _require_message(match_id, number)
    spend("reports", person.id)
    services().reports.add(Report(match_id, number, person.id, sent["reason"]))


@blueprint.post("/matches/<match_id>/chat/<int:number>/hiding")
@endpoint(204, body=EmptyBody, signed_in=True, problems=[404])
def hide_message(_: object, match_id: str, number: int) -> None:
    """Hide a message

    For arbiters: from everybody.
    """
    _settle(match_id, number, hide=True)


@blueprint.post("/matches/<match_id>/chat/<int:number>/showing")
@endpoint(204, body=EmptyBody, signed_in=True, problems=[404])
def show_message(_: object, match_id: str, number: int) -> None:
    """Let a message stand

    For arbiters: its reports are closed, and it is shown to everybody.
    """
    _settle(match_id, number, hide=False)


@blueprint.get("/reports")
@endpoint(answer=ReportPage, query=ReportsQuery, signed_in=True)
def list_reports(query: Mapping[str, int]) -> ReportPage:
    """List reported messages

    For arbiters, the match with the longest wait first. `limit` counts matches.
    """
    require_role(ARBITER)
    return report_page(query["after"], query["limit"])


def _settle(match_id: str, number: int, *, hide: bool) -> None:
    arbiter = require_role(ARBITER)
    # Not visible_match: arbiters read reported messages of private matches, too.
    state = services().matches.load(match_id).state
    refuse_party(state, arbiter.id)
    _require_message(match_id, number)
    # Crash-safe: a crash between the two steps leaves the message hidden and not logged; an arbiter who got no answer
    # and repeats the request does and logs the same.
    services().reports.settle(match_id, number, hide)
    act = "message-hidden" if hide else "message-shown"
    services().administration.record(act, arbiter.id, {"match": match_id, "message": number})


def _require_message(match_id: str, number: int) -> None:
    """Raise the problem no-such-message unless the chat of the match has a message of this number."""
    found = services().chats.read(match_id, number - 1, 1) if 0 < number <= MAX_MESSAGES_PER_CHAT else []
    if not found or found[0].number != number:
        raise Problem("no-such-message", "The chat of this match has no message of this number.")
