"""Lists of matches: public ones, the caller's own, and what awaits the caller."""

from typing import Any

from flask import Response
from marshmallow import fields, validate

from api.access.auth import require_person, signed_in
from api.http import representations as show
from api.http.openapi import PREFIX, Blueprint, json_response
from api.http.schemas import Paging, Shown, Text
from api.live.awaiting import Awaited, owed
from api.operations.lists import awaited_page, bad_cursor, identify, matches_page
from api.resources.matches import MatchSummaryShown
from events.people.person import Person
from events.readmodels import Summary

blueprint = Blueprint("lists", __name__, url_prefix=PREFIX, description="Lists of matches")


class MatchesShown(Shown):
    items = fields.List(fields.Nested(MatchSummaryShown))
    next = fields.String(allow_none=True, metadata={"description": "The cursor of the next page"})


class PendingShown(Shown):
    owed = fields.String(validate=validate.OneOf(["move", "draw-answer", "takeback-answer", "invitation"]))
    match = fields.Nested(MatchSummaryShown)


class PendingListShown(Shown):
    items = fields.List(fields.Nested(PendingShown))
    next = fields.String(allow_none=True)


class MatchesQuery(Paging):
    view = Text(load_default="recent", validate=validate.OneOf(["open", "recent"]))
    game = Text(validate=validate.Length(1, 60))
    player = Text(validate=validate.Length(1, 60))


class MineQuery(Paging):
    view = Text(load_default="active", validate=validate.OneOf(["active", "finished", "invited"]))


@blueprint.route("/matches")
@blueprint.documents(200, MatchesShown, problems=[404, 422])
@blueprint.arguments(MatchesQuery, location="query")
def list_matches(query: dict[str, Any]) -> Response:
    """Public matches: open ones to join, or the latest, of one game or player if wanted"""
    player = identify(query["player"]) if "player" in query else None
    return matches_page(query["view"], query, player, query.get("game"), public=True)


@blueprint.route("/me/matches")
@blueprint.documents(200, MatchesShown, signed_in=True, problems=[422])
@signed_in
@blueprint.arguments(MineQuery, location="query")
def my_matches(query: dict[str, Any]) -> Response:
    """The matches of the caller, private ones too"""
    return matches_page(query["view"], query, require_person().id)


@blueprint.route("/me/pending")
@blueprint.documents(200, PendingListShown, signed_in=True, problems=[422])
@signed_in
@blueprint.arguments(Paging, location="query")
def pending(query: dict[str, Any]) -> Response:
    """What awaits the caller: first the matches to move in, then draws and invitations to answer; oldest first"""
    person, limit = require_person(), query["limit"]
    awaited = Awaited(person.id)
    phase, _, cursor = query.get("cursor", "moves:").partition(":")
    if phase not in ("moves", "rest"):
        raise bad_cursor()
    found: list[Summary] = []
    following: str | None = f"{phase}:{cursor}"
    while following is not None and len(found) < limit and not awaited.exhausted:
        page = awaited_page(awaited, "awaiting", cursor or None, limit - len(found))
        found += [summary for summary in page.items if (owed(summary, person.id) == "move") == (phase == "moves")]
        if page.next is not None:
            cursor, following = page.next, f"{phase}:{page.next}"
        elif phase == "moves":
            phase, cursor, following = "rest", "", "rest:"
        else:
            following = None
    return _pending_page(found, person, following)


@blueprint.route("/me/queue")
@blueprint.documents(200, PendingListShown, signed_in=True, problems=[422])
@signed_in
@blueprint.arguments(Paging, location="query")
def queue(query: dict[str, Any]) -> Response:
    """What awaits the caller, the first deadline first: the next match to turn to is always the first one"""
    person = require_person()
    page = awaited_page(Awaited(person.id), "queue", query.get("cursor"), query["limit"])
    return _pending_page(page.items, person, page.next)


def _pending_page(found: list[Summary], person: Person, following: str | None) -> Response:
    found = show.foreseen_deadlines(found)
    persons = show.people_in(found)
    items = [{"owed": owed(each, person.id), "match": show.match_summary(each, persons)} for each in found]
    return json_response({"items": items, "next": following})
