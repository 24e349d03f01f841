"""Conditional lines and forced moves: what a seat lays down beforehand. Nobody but its player ever sees them."""

import json
from dataclasses import replace
from typing import Any

from flask import Response
from marshmallow import fields, validate

from api.access.auth import require_person, signed_in
from api.access.matches import own_match
from api.http.conditions import EXPECTED_HEADER, expected_version
from api.http.openapi import PREFIX, Blueprint, json_response
from api.http.schemas import Flag, Shown, Strict, Text, Tree, version_tag
from api.operations.notebooks import notebook_bytes
from api.services import services
from domain.match.enums import LineAction, LineStatus
from domain.match.guards import seat_of
from domain.match.lines import (
    ANY,
    DEEPEST,
    Line,
    Orders,
    laid_down,
    reached,
    standing,
)
from domain.match.moves import LONGEST_MOVE
from events.private.conditional_moves import lines_read, lines_shown
from events.service.matches import Loaded

blueprint = Blueprint("lines", __name__, url_prefix=PREFIX, description="What a player lays down beforehand")


class LineWanted(Strict):
    move = Text(
        required=True,
        validate=validate.Length(1, LONGEST_MOVE),
        metadata={"description": f'A move, or, of another seat, "{ANY}": whatever else it plays'},
    )
    then = Text(
        validate=validate.OneOf(list(LineAction)),
        allow_none=True,
        metadata={"description": "What to do after this move of another seat, instead of or before what is next"},
    )
    next = Tree(fields.Nested(lambda: LineWanted()))


class LinesWanted(Strict):
    lines = Tree(
        fields.Nested(LineWanted),
        deepest=DEEPEST,
        metadata={"description": "A tree from the position as it stands; empty: none. Not sent: they stay as they are"},
    )
    forced = Flag(metadata={"description": "Play my only legal move for me. Not sent: it stays as it is"})


class LineShown(Shown):
    move = fields.String()
    then = fields.String(allow_none=True, validate=validate.OneOf([*LineAction, None]))
    next = fields.List(fields.Nested(lambda: LineShown()))


class LinesShown(Shown):
    version = fields.Integer(metadata={"description": "The version of the match for which this holds"})
    version_tag = version_tag()
    lines = fields.List(fields.Nested(LineShown))
    ply = fields.Integer(allow_none=True, metadata={"description": "They begin after so many plies"})
    status = fields.String(
        allow_none=True,
        validate=validate.OneOf([LineStatus.ARMED, LineStatus.WAITING, LineStatus.DONE, LineStatus.DEAD, None]),
        metadata={"description": "null: nothing is laid down. waiting: for an own move, to be made by hand"},
    )
    words = fields.String(metadata={"description": "The status as a sentence; empty when nothing is laid down"})
    following = fields.List(
        fields.Nested(LineShown), metadata={"description": "What is left of the lines, from the position as it stands"}
    )
    forced = fields.Boolean()


@blueprint.route("/matches/<match>/lines")
@blueprint.documents(200, LinesShown, signed_in=True, problems=[404])
@signed_in
def show_lines(match: str) -> Response:
    """The conditional lines of the caller"""
    return _shown(own_match(match))


@blueprint.route("/matches/<match>/lines", methods=["PUT"])
@blueprint.documents(200, LinesShown, signed_in=True, problems=[404, 409, 412, 415, 422], parameters=[EXPECTED_HEADER])
@signed_in
@blueprint.arguments(LinesWanted)
def lay_down_lines(arguments: dict[str, Any], match: str) -> Response:
    """Lay down conditional lines in place of those there are, and say whether forced moves are to be played"""
    first = lines_read(arguments["lines"]) if "lines" in arguments else None
    forced, now = arguments.get("forced"), services().now()
    person, kept = require_person(), own_match(match)
    if first is not None:
        services().notebooks.count_lines(person.id, match, _size(first), notebook_bytes(person))
    try:
        laid = services().match_service.lay_down(
            match,
            person.id,
            lambda state, orders: laid_down(state, person.id, orders, first, forced, now),
            expected_version(),
        )
    except Exception:
        before = kept.orders.get(seat_of(kept.state, person.id), Orders()).lines
        services().notebooks.count_lines(person.id, match, _size(before.first if before else ()))
        raise
    return _shown(laid)


@blueprint.route("/matches/<match>/lines", methods=["DELETE"])
@blueprint.documents(204, signed_in=True, problems=[404])
@signed_in
def drop_lines(match: str) -> Response:
    """Take all conditional lines of the caller away; forced moves stay as they are"""
    own_match(match)
    services().matches.lay_down(match, require_person().id, lambda _, orders: replace(orders, lines=None))
    services().notebooks.count_lines(require_person().id, match, 0)
    return Response(status=204)


def _size(lines: tuple[Line, ...]) -> int:
    """Return how many bytes ``lines`` count for."""
    return len(json.dumps(lines_shown(lines))) if lines else 0


def _shown(loaded: Loaded) -> Response:
    seat = seat_of(loaded.state, require_person().id)
    orders = loaded.orders.get(seat, Orders())
    lines, forced = orders.lines, orders.forced
    place = None if lines is None else reached(loaded.state, lines)
    status, words = (None, "") if lines is None else standing(loaded.state, seat, lines)
    return json_response(
        {
            "version": loaded.head.version,
            "version_tag": str(loaded.head.tag),
            "lines": lines_shown(() if lines is None else lines.first),
            "ply": None if lines is None else lines.ply,
            "status": status,
            "words": words,
            "following": lines_shown(() if place is None else place.following),
            "forced": forced,
        }
    )
