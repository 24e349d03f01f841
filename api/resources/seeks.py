"""Seeks: posted, listed, taken, filled with opponents, withdrawn."""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response
from marshmallow import fields, validate

from api.access.auth import require_person
from api.addresses import PREFIX
from api.endpoints import endpoint
from api.http.answers import json_response
from api.http.conditions import KEY_PARAMETER, request_key
from api.http.schemas import (
    EmptyBody,
    EnumField,
    Paging,
    StrictBoolean,
    StrictInteger,
    StrictSchema,
    StrictString,
    page_limit,
)
from api.operations.lists import invalid_cursor
from api.operations.seeks import execute, list_seeks, load_seek, own_seeks, post_seek, represented, show_seek, take_seek
from api.representations.seeks import Seek, SeekList, ShownSeek
from domain.contest.seek import commands as c
from domain.contest.seek.state import Seek as SeekState
from domain.contest.wishes import MAX_DAYS, MAX_MATCHES, MAX_RATING, MIN_DAYS, Interval, SeekTerms, games_of
from domain.match.enums import Aids
from domain.match.refusals import CommandError
from domain.search.budgets import MAX_SHORT_LEVEL
from domain.search.choose import MAX_GUEST_LEVEL
from events.store.kinds import StreamKind, stream_id

blueprint = Blueprint("seeks", __name__, url_prefix=PREFIX)

SEEK_GAMES = (*games_of(2), *games_of(4))
REFUSALS = (403, 404, 409)


def _game(**options: Any) -> StrictString:
    reason = "must be a game and a setup of this server, such as towers/two-player"
    return StrictString(validate=validate.OneOf(SEEK_GAMES, error=reason), **options)


def _rating(about: str) -> StrictInteger:
    return StrictInteger(0, MAX_RATING, load_default=None, allow_none=True, about=about)


class SeekRequest(StrictSchema):
    games = fields.List(
        _game(),
        required=True,
        validate=validate.Length(1, len(SEEK_GAMES), error="must name one game or more"),
        metadata={"description": "Any of these, all with the same number of seats"},
    )
    seats = StrictInteger(2, 4, required=True)
    least_days = StrictInteger(MIN_DAYS, MAX_DAYS, load_default=2, about="The shortest time for every move")
    most_days = StrictInteger(
        MIN_DAYS, MAX_DAYS, load_default=5, about="The longest; the longest that all accept is played"
    )
    rated = StrictBoolean(load_default=False)
    least_rating = _rating("Of the others; null: any. Who has none counts as 1500")
    most_rating = _rating("Of the others; null: any")
    aids = EnumField(
        Aids, load_default=None, allow_none=True, about="What players may use to choose moves; null: nothing is agreed"
    )
    count = StrictInteger(1, MAX_MATCHES, load_default=1, about="Matches, each against other people")


class TakingRequest(StrictSchema):
    game = _game(load_default=None, allow_none=True, about="One of those sought; null: the first that fits your rating")


class OpponentsRequest(StrictSchema):
    level = StrictInteger(1, MAX_SHORT_LEVEL, required=True)
    game = _game(required=True)


class SeekQuery(Paging):
    limit = page_limit(20, 50)


@blueprint.get("/seeks")
@endpoint(answer=SeekList, query=SeekQuery)
def list_open(query: Mapping[str, Any]) -> SeekList:
    """List the open seeks

    Those that the caller can take or has posted, the latest first; the others are counted, by what is in the way. A
    page may have few entries, or none.
    """
    try:
        return list_seeks(query.get("cursor"), query["limit"])
    except ValueError as error:
        raise invalid_cursor() from error


@blueprint.post("/seeks")
@endpoint(
    201,
    answer=Seek,
    body=SeekRequest,
    signed_in=True,
    problems=[409],
    headers={"Location": "The seek"},
    parameters=[KEY_PARAMETER],
)
def post(wanted: Mapping[str, Any]) -> Response:
    """Find an opponent

    The wish waits for 14 days, and is matched by itself with another that agrees with it. At most 5 are open at a time.
    """
    id = stream_id(StreamKind.SEEK, require_person().id, request_key())
    rating = Interval(
        wanted["least_rating"] or 0, MAX_RATING if wanted["most_rating"] is None else wanted["most_rating"]
    )
    terms = SeekTerms(
        games=tuple(wanted["games"]),
        seats=wanted["seats"],
        days=Interval(wanted["least_days"], wanted["most_days"]),
        rated=wanted["rated"],
        rating=rating,
        count=wanted["count"],
        aids=wanted["aids"],
    )
    return json_response(_shown(post_seek(id, terms)), 201, {"Location": f"{PREFIX}/seeks/{id}"})


@blueprint.get("/me/seeks")
@endpoint(answer=SeekList, signed_in=True)
def list_own() -> SeekList:
    """List the caller's own seeks

    Those that are not over.
    """
    return SeekList(items=own_seeks(require_person()), hidden={}, usual_days={}, next=None)


@blueprint.get("/seeks/<seek>")
@endpoint(answer=ShownSeek, problems=[404])
def show(seek: str) -> ShownSeek:
    """Show a seek

    With what to know before taking it. One that is over says what became of it.
    """
    return show_seek(load_seek(seek)[0])


@blueprint.post("/seeks/<seek>/taking")
@endpoint(answer=Seek, body=TakingRequest, signed_in=True, problems=REFUSALS, parameters=[KEY_PARAMETER])
def take(wanted: Mapping[str, Any], seek: str) -> Seek:
    """Take a seat

    The match begins at once when it was the last one.
    """
    return _shown(take_seek(seek, wanted["game"]))


@blueprint.post("/seeks/<seek>/leaving")
@endpoint(answer=Seek, body=EmptyBody, signed_in=True, problems=REFUSALS, parameters=[KEY_PARAMETER])
def leave(_: object, seek: str) -> Seek:
    """Give a seat back

    Before all are taken.
    """
    return _shown(execute(seek, c.LeaveTable(require_person().id)).state)


@blueprint.post("/seeks/<seek>/opponents")
@endpoint(answer=Seek, body=OpponentsRequest, signed_in=True, problems=REFUSALS, parameters=[KEY_PARAMETER])
def seat_opponents(wanted: Mapping[str, Any], seek: str) -> Seek:
    """Begin with opponents

    The author of a seek of 7 days lets them take the empty seats.
    """
    person = require_person()
    if person.kind == "guest" and wanted["level"] > MAX_GUEST_LEVEL:
        words = f"guests play opponents up to level {MAX_GUEST_LEVEL}: sign up to play stronger ones"
        raise CommandError("guests-play-weaker-opponents", words, "level")
    return _shown(execute(seek, c.SeatOpponents(person.id, wanted["level"], wanted["game"])).state)


@blueprint.post("/seeks/<seek>/withdrawal")
@endpoint(answer=Seek, body=EmptyBody, signed_in=True, problems=REFUSALS, parameters=[KEY_PARAMETER])
def close(_: object, seek: str) -> Seek:
    """Withdraw a seek

    Matches that have come of it go on.
    """
    return _shown(execute(seek, c.CloseSeek(require_person().id)).state)


def _shown(seek: SeekState) -> Seek:
    return represented([seek])[0]
