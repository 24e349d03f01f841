"""Conditional moves and forced moves: what a seat lays down beforehand. Only its player ever sees them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any

from flask import Blueprint
from marshmallow import fields, validate
from msgspec import Meta

from api.access.auth import require_person
from api.access.matches import own_match
from api.addresses import PREFIX
from api.endpoints import endpoint
from api.http.answers import Answer, one_of
from api.http.conditions import IF_MATCH_PARAMETER, VersionTagText, expected_version
from api.http.schemas import EnumField, StrictBoolean, StrictSchema, StrictString, TreeField
from api.operations.notebooks import max_notebook_bytes
from api.services import services
from domain.match import lines as conditional
from domain.match.decisions.moves import MAX_MOVE_CHARACTERS
from domain.match.enums import LineAction, LineStatus
from domain.match.guards import seat_of
from domain.match.lines import ANY, MAX_LINE_DEPTH, ConditionalMoves
from events.private.conditional_moves import lines_read, lines_shown
from events.service.matches import Loaded

blueprint = Blueprint("lines", __name__, url_prefix=PREFIX)


class LineRequest(StrictSchema):
    move = StrictString(
        required=True,
        validate=validate.Length(1, MAX_MOVE_CHARACTERS),
        metadata={"description": f'A move, or, of another seat, "{ANY}": whatever else it plays'},
    )
    then = EnumField(
        LineAction,
        allow_none=True,
        metadata={"description": "What to do after this move of another seat, instead of or before what is next"},
    )
    next = TreeField(fields.Nested(lambda: LineRequest()))


class LinesRequest(StrictSchema):
    lines = TreeField(
        fields.Nested(LineRequest),
        max_depth=MAX_LINE_DEPTH,
        metadata={"description": "A tree from the position as it stands; empty: none; unchanged if left out"},
    )
    forced = StrictBoolean(metadata={"description": "Play my only legal move for me; unchanged if left out"})


class Line(Answer):
    move: str
    then: Annotated[str, one_of(LineAction)] | None
    next: Sequence["Line"]


class Lines(Answer):
    version: Annotated[int, Meta(description="The version of the match for which this holds")]
    version_tag: VersionTagText
    lines: Sequence[Line]
    ply: Annotated[int | None, Meta(description="They begin after this many plies")]
    status: Annotated[
        Annotated[str, one_of(LineStatus)] | None,
        Meta(description="null: nothing is laid down. waiting: for an own move, to be made by hand"),
    ]
    words: Annotated[str, Meta(description="The status as a sentence; empty when nothing is laid down")]
    following: Annotated[Sequence[Line], Meta(description="What is left of the lines, from the position as it stands")]
    forced: bool


@blueprint.get("/matches/<match_id>/lines")
@endpoint(answer=Lines, signed_in=True, problems=[404])
def show_lines(match_id: str) -> Lines:
    """The conditional lines of the caller"""
    return _represent(own_match(match_id))


@blueprint.put("/matches/<match_id>/lines")
@endpoint(answer=Lines, body=LinesRequest, signed_in=True, problems=[404, 409, 412], parameters=[IF_MATCH_PARAMETER])
def set_lines(sent: Mapping[str, Any], match_id: str) -> Lines:
    """Replace the conditional lines there are, and say whether forced moves are to be played"""
    first = lines_read(sent["lines"]) if "lines" in sent else None
    forced, now = sent.get("forced"), services().now()
    person, before = require_person(), own_match(match_id)
    notebooks = services().notebooks
    if first is not None:
        notebooks.count_conditional_moves(person.id, match_id, _bytes(first), max_notebook_bytes(person))
    try:
        after = services().match_service.lay_down(
            match_id,
            person.id,
            lambda state, orders: conditional.laid_down(state, person.id, orders, first, forced, now),
            expected_version(),
        )
    except Exception:
        stored = before.orders.get(seat_of(before.state, person.id), ConditionalMoves()).lines
        notebooks.count_conditional_moves(person.id, match_id, _bytes(stored.first if stored else ()))
        raise
    return _represent(after)


@blueprint.delete("/matches/<match_id>/lines")
@endpoint(204, signed_in=True, problems=[404])
def delete_lines(match_id: str) -> None:
    """Take all conditional lines of the caller away; forced moves stay as they are"""
    own_match(match_id)
    player = require_person().id
    services().matches.lay_down(match_id, player, lambda _, orders: replace(orders, lines=None))
    services().notebooks.count_conditional_moves(player, match_id, 0)


def _bytes(lines: tuple[conditional.Line, ...]) -> int:
    """Return how many bytes ``lines`` count for."""
    return len(json.dumps(lines_shown(lines))) if lines else 0


def _represent(loaded: Loaded) -> Lines:
    seat = seat_of(loaded.state, require_person().id)
    orders = loaded.orders.get(seat, ConditionalMoves())
    lines = orders.lines
    place = None if lines is None else conditional.reached(loaded.state, lines)
    status, words = (None, "") if lines is None else conditional.standing(loaded.state, seat, lines)
    return Lines(
        version=loaded.head.version,
        version_tag=str(loaded.head.tag),
        lines=_represent_lines(() if lines is None else lines.first),
        ply=None if lines is None else lines.ply,
        status=status,
        words=words,
        following=_represent_lines(() if place is None else place.following),
        forced=orders.forced,
    )


def _represent_lines(lines: Sequence[conditional.Line]) -> list[Line]:
    return [Line(move=line.move, then=line.then, next=_represent_lines(line.next)) for line in lines]
