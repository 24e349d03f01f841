"""Moves that are put together part by part: how far they have come, without playing anything."""

from typing import Any

from flask import Response
from marshmallow import fields, validate

from api.access.matches import visible_match
from api.http.openapi import PREFIX, Blueprint, json_response
from api.http.schemas import Shown, Strict, Text, version_tag
from api.operations.exploration import MOST_PARTS, compose
from api.resources.matches import HintShown, hints_shown

LONGEST_PART = 40

blueprint = Blueprint("compositions", __name__, url_prefix=PREFIX, description="Moves put together part by part")


class Wanted(Strict):
    kind = Text(
        required=True,
        validate=validate.Length(1, LONGEST_PART),
        metadata={"description": "A kind that the legal moves name under compositions"},
    )
    parts = fields.List(
        Text(validate=validate.Length(1, LONGEST_PART)),
        required=True,
        validate=validate.Length(0, MOST_PARTS),
        metadata={"description": "The parts so far, in order"},
    )


class ComposedShown(Shown):
    version = fields.Integer()
    version_tag = version_tag()
    kind = fields.String()
    parts = fields.List(fields.String())
    move = fields.String(
        allow_none=True, metadata={"description": "The move in canonical form; null until it is legal"}
    )
    failing = fields.Integer(
        allow_none=True, metadata={"description": "The index of the part that is not possible; null when all are"}
    )
    reason = fields.String(metadata={"description": "Why there is no legal move yet; empty when there is"})
    following = fields.Dict(
        keys=fields.String(),
        values=fields.List(fields.Nested(HintShown)),
        metadata={"description": "What can be added to the possible parts: by first square; each part is a move there"},
    )


@blueprint.route("/matches/<match>/compositions", methods=["POST"])
@blueprint.documents(200, ComposedShown, problems=[404, 409, 415, 422])
@blueprint.arguments(Wanted)
def check_composition(arguments: dict[str, Any], match: str) -> Response:
    """Check a move that is being put together, for whoever may see the match; nothing is played"""
    state, head, *_ = visible_match(match)
    composed = compose(state, arguments["kind"], arguments["parts"])
    return json_response(
        {
            "version": head.version,
            "version_tag": str(head.tag),
            **arguments,
            "move": composed.move,
            "failing": composed.failing,
            "reason": composed.reason,
            "following": hints_shown(composed.following),
        }
    )
