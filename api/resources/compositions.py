"""Moves that are put together part by part: how far they have come, without playing anything."""

from typing import Any

from flask import Response
from marshmallow import fields, validate

from api.http.openapi import PREFIX, Blueprint, json_response
from api.http.problems import Problem
from api.http.schemas import Shown, Strict, Text, version_tag
from api.resources.matches import HintShown, hints_shown, loaded
from domain.game import Composed, MalformedNotation
from domain.match.guards import rules_of
from domain.match.state import PLAYING, MatchState

LONGEST_PART = 40
MOST_PARTS = 64

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
    state, head, *_ = loaded(match)
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


def compose(state: MatchState, kind: str, parts: list[str]) -> Composed:
    """Return how far ``parts`` have come in the match as it stands.

    Raises the problems match-not-started and match-over, and malformed-move for a kind or a part that the game does
    not know.
    """
    if state.ended:
        raise Problem("match-over", "The match is over: no move is put together any more.")
    if state.status != PLAYING:
        raise Problem("match-not-started", "The match has not started: somebody has yet to join.")
    game = rules_of(state)
    try:
        return game.compose(state.position, kind, parts)
    except KeyError as error:
        reason = "is no kind of move that this game puts together"
        raise Problem("malformed-move", f"{kind!r} {reason}.", {"kind": [reason]}) from error
    except MalformedNotation as error:
        raise Problem("malformed-move", f"{error}.", {"parts": [str(error)]}) from error
