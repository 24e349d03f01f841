"""Moves that are put together part by part: how far they have come, without playing anything."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from flask import Blueprint
from marshmallow import fields, validate
from msgspec import Meta

from api.access.matches import visible_match
from api.addresses import PREFIX
from api.endpoints import endpoint
from api.http.answers import Answer
from api.http.conditions import VersionTagText
from api.http.schemas import StrictSchema, StrictString
from api.operations.exploration import MAX_PARTS, compose
from api.representations.boards import Hint, represent_hints

blueprint = Blueprint("compositions", __name__, url_prefix=PREFIX)

MAX_PART_CHARACTERS = 40


class CompositionRequest(StrictSchema):
    kind = StrictString(
        required=True,
        validate=validate.Length(1, MAX_PART_CHARACTERS),
        metadata={"description": "A kind that the legal moves name under compositions"},
    )
    parts = fields.List(
        StrictString(validate=validate.Length(1, MAX_PART_CHARACTERS)),
        required=True,
        validate=validate.Length(0, MAX_PARTS),
        metadata={"description": "The parts so far, in order"},
    )


class ComposedMove(Answer):
    version: int
    version_tag: VersionTagText
    kind: str
    parts: Sequence[str]
    move: Annotated[str | None, Meta(description="The move in canonical form; null until it is legal")]
    failing: Annotated[int | None, Meta(description="The index of the part that is not possible; null when all are")]
    reason: Annotated[str, Meta(description="Why there is no legal move yet; empty when there is")]
    following: Annotated[
        Mapping[str, Sequence[Hint]],
        Meta(description="What can be added to the possible parts: by first square; each part is a move there"),
    ]


@blueprint.post("/matches/<match_id>/compositions")
@endpoint(answer=ComposedMove, body=CompositionRequest, costly=True, problems=[404, 409])
def check_composition(sent: Mapping[str, Any], match_id: str) -> ComposedMove:
    """Check a move that is being put together

    For kinds of moves too many to list. Nothing is played: the answer says which parts can follow, the move that
    the parts make, or why they do not make one yet.
    """
    state, head, *_ = visible_match(match_id)
    composed = compose(state, sent["kind"], sent["parts"])
    return ComposedMove(
        version=head.version,
        version_tag=str(head.tag),
        kind=sent["kind"],
        parts=sent["parts"],
        move=composed.move,
        failing=composed.failing,
        reason=composed.reason,
        following=represent_hints(composed.following),
    )
