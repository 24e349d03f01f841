"""Conditional moves and forced moves: what a seat lays down beforehand. Only its player ever sees them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any

from flask import Blueprint
from marshmallow import ValidationError, fields, validate, validates_schema
from msgspec import Meta

from api.access.auth import require_person
from api.access.matches import own_match
from api.addresses import PREFIX
from api.endpoints import endpoint
from api.http.answers import Answer, one_of
from api.http.conditions import IF_MATCH_PARAMETER, VersionTagText, expected_version
from api.http.schemas import EnumField, StrictBoolean, StrictSchema, StrictString, TreeField
from api.operations.notebooks import max_notebook_bytes
from api.operations.signed_acts import SigningKey, begin_signed_lines, signature_field
from api.services import services
from domain.match import lines as conditional
from domain.match.decisions.moves import MAX_MOVE_CHARACTERS
from domain.match.enums import LineAction, LineStatus
from domain.match.guards import seat_of
from domain.match.lines import ANY, MAX_LINE_DEPTH, ConditionalMoves
from domain.match.state import MatchState
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
    signature = signature_field("Under this own move, or under what then says, and the moves that lead to it")


class LinesRequest(StrictSchema):
    lines = TreeField(
        fields.Nested(LineRequest),
        max_depth=MAX_LINE_DEPTH,
        metadata={"description": "A tree from the position as it stands; empty: none; unchanged if left out"},
    )
    forced = StrictBoolean(metadata={"description": "Play my only legal move for me; unchanged if left out"})
    signed = fields.Nested(SigningKey, metadata={"description": "By which key answers are signed, if any are"})

    @validates_schema(skip_on_field_errors=True)
    def refuse_nameless_signatures(self, sent: Mapping[str, Any], **_: Any) -> None:
        """Raise ValidationError for signatures without a key."""
        if "signed" not in sent and any(line.signature for line in _flat(lines_read(sent.get("lines", [])))):
            raise ValidationError("must be sent with signatures", "signed")


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
    """Show the caller's conditional moves

    And whether forced moves are played. Nobody else can see them.
    """
    return _represent(own_match(match_id))


@blueprint.put("/matches/<match_id>/lines")
@endpoint(answer=Lines, body=LinesRequest, signed_in=True, problems=[404, 409, 412], parameters=[IF_MATCH_PARAMETER])
def set_lines(sent: Mapping[str, Any], match_id: str) -> Lines:
    """Replace the caller's conditional moves

    Each line is played out by the rules first. `forced` says whether the only legal move is played at once.
    """
    first = lines_read(sent["lines"]) if "lines" in sent else None
    forced, now = sent.get("forced"), services().now()
    person, before = require_person(), own_match(match_id)
    notebooks = services().notebooks
    signing, version = begin_signed_lines(sent["signed"], match_id) if "signed" in sent else (None, None)

    def lay_down(state: MatchState, orders: ConditionalMoves) -> ConditionalMoves:
        key, head = (None, None) if signing is None else (signing.key, signing.loaded.head.version)
        changed = conditional.laid_down(state, person.id, orders, first, forced, now, key, head)
        if signing is not None and first and changed.lines is not None:
            signing.check(changed.lines.first)
        return changed

    if first is not None:
        notebooks.count_conditional_moves(person.id, match_id, _bytes(first), max_notebook_bytes(person))
    try:
        after = services().match_service.lay_down(match_id, person.id, lay_down, expected_version() or version)
    except Exception:
        stored = before.orders.get(seat_of(before.state, person.id), ConditionalMoves()).lines
        notebooks.count_conditional_moves(person.id, match_id, _bytes(stored.first if stored else ()))
        raise
    return _represent(after)


@blueprint.delete("/matches/<match_id>/lines")
@endpoint(204, signed_in=True, problems=[404])
def delete_lines(match_id: str) -> None:
    """Delete the caller's conditional moves

    Whether forced moves are played stays as it is.
    """
    own_match(match_id)
    player = require_person().id
    services().matches.lay_down(match_id, player, lambda _, orders: replace(orders, lines=None))
    services().notebooks.count_conditional_moves(player, match_id, 0)


def _flat(lines: Sequence[conditional.Line]) -> Iterator[conditional.Line]:
    for line in lines:
        yield line
        yield from _flat(line.next)


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
