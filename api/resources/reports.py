"""Messages that readers report, and what arbiters do about them."""

from typing import Any

from flask import Response
from marshmallow import fields, validate

from api.access.auth import require_person, require_role, signed_in
from api.access.limits import spend
from api.access.matches import visible_match
from api.http.openapi import PREFIX, Blueprint, json_response
from api.http.schemas import Empty, PlayerShown, QueryNumber, Shown, Strict, next_page, page_limit, words
from api.operations.chat import message_of, refuse_deaf
from api.operations.reports import reported
from api.services import services
from domain.match.disputes import refuse_party
from events.people.administration import ARBITER
from events.private.reports import Report

blueprint = Blueprint("reports", __name__, url_prefix=PREFIX, description="Messages that readers have reported")

MAX_REASON_LENGTH = 500
MAX_MATCHES_BEFORE = 1000
"""That a page of reports can come after."""


class NewReport(Strict):
    reason = words(MAX_REASON_LENGTH)


class ReasonShown(Shown):
    reporter = fields.Nested(PlayerShown)
    reason = fields.String()


class ReportedShown(Shown):
    match = fields.String()
    message = fields.Integer(metadata={"description": "Its number in the chat of the match"})
    at = fields.DateTime(allow_none=True)
    author = fields.Nested(PlayerShown, allow_none=True)
    text = fields.String(metadata={"description": "Empty when its author has been erased"})
    reports = fields.List(fields.Nested(ReasonShown))


class ReportsShown(Shown):
    items = fields.List(fields.Nested(ReportedShown))
    next = next_page()


class ReportsQuery(Strict):
    after = QueryNumber(load_default=0, validate=validate.Range(0, MAX_MATCHES_BEFORE))
    limit = page_limit(20, 50)


@blueprint.route("/matches/<match>/chat/<int:number>/reports", methods=["POST"])
@blueprint.documents(204, signed_in=True, problems=[404, 415, 422])
@signed_in
@blueprint.arguments(NewReport)
def report(arguments: dict[str, str], match: str, number: int) -> Response:
    """Report a message to the arbiters; until they have looked at it, you do not see it any more"""
    state, person = visible_match(match).state, require_person()
    refuse_deaf(state, person)
    message_of(match, number)
    spend("reports", person.id)
    services().reports.add(Report(match, number, person.id, arguments["reason"]))
    return Response(status=204)


@blueprint.route("/matches/<match>/chat/<int:number>/hiding", methods=["POST"])
@blueprint.documents(204, signed_in=True, problems=[403, 404, 415, 422])
@signed_in
@blueprint.arguments(Empty)
def hide(_: dict[str, Any], match: str, number: int) -> Response:
    """Hide a message from everybody, as an arbiter"""
    return _settle(match, number, hide=True)


@blueprint.route("/matches/<match>/chat/<int:number>/showing", methods=["POST"])
@blueprint.documents(204, signed_in=True, problems=[403, 404, 415, 422])
@signed_in
@blueprint.arguments(Empty)
def let_stand(_: dict[str, Any], match: str, number: int) -> Response:
    """Let a message stand, as an arbiter: its reports are dealt with, and it is shown to everybody (again)"""
    return _settle(match, number, hide=False)


@blueprint.route("/reports")
@blueprint.documents(200, ReportsShown, signed_in=True, problems=[403, 422])
@signed_in
@blueprint.arguments(ReportsQuery, location="query")
def list_reports(query: dict[str, int]) -> Response:
    """Messages that were reported, for arbiters, the match with the longest wait first; ``limit`` counts matches"""
    require_role(ARBITER)
    return json_response(reported(query["after"], query["limit"]))


def _settle(match: str, number: int, hide: bool) -> Response:
    arbiter = require_role(ARBITER)
    state = services().matches.load(match).state
    refuse_party(state, arbiter.id)
    message_of(match, number)
    # Crash-safe: killed in between, the message is hidden and not logged; an arbiter who got no answer and asks again
    # does and logs the same.
    services().reports.settle(match, number, hide)
    act = "message-hidden" if hide else "message-shown"
    services().administration.record(act, arbiter.id, {"match": match, "message": number})
    return Response(status=204)
