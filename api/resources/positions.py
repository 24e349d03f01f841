"""Positions that a match could come to: a line of moves from any of its plies, without playing anything."""

from typing import Any

from flask import Response
from marshmallow import fields

from api.access.matches import visible_match
from api.http.openapi import PREFIX, Blueprint, json_response
from api.http.schemas import Shown
from api.operations.exploration import Imagined, played_out
from api.resources.games import ScoresShown
from api.resources.matches import CompositionShown, HintShown, hints_shown

blueprint = Blueprint("positions", __name__, url_prefix=PREFIX, description="Positions that a match could come to")


class ImaginedShown(Shown):
    ply = fields.Integer()
    line = fields.List(fields.String(), metadata={"description": "The moves in canonical form"})
    spelled = fields.List(fields.String(), metadata={"description": "The moves as players like to read them"})
    position = fields.String()
    diagram = fields.String()
    to_move = fields.Integer()
    result = fields.Nested(ScoresShown, allow_none=True)
    result_known = fields.Boolean(
        metadata={
            "description": "false: whether the game is over there takes too long to tell; of a played move it is "
            "always known"
        }
    )
    moves = fields.List(fields.String(), metadata={"description": "What is legal now"})
    hints = fields.Dict(keys=fields.String(), values=fields.List(fields.Nested(HintShown)))
    compositions = fields.List(fields.Nested(CompositionShown))


@blueprint.route("/matches/<match>/positions", methods=["POST"])
@blueprint.documents(200, ImaginedShown, problems=[404, 409, 415, 422])
@blueprint.arguments(Imagined)
def imagine(arguments: dict[str, Any], match: str) -> Response:
    """The position after a line of moves from any ply, and what is legal there; nothing is played"""
    state = visible_match(match).state
    ply = arguments.get("ply", len(state.moves))
    game, moves, spelled, _, position, outcome, known = played_out(state, ply, arguments["line"])
    return json_response(
        {
            "ply": ply,
            "line": moves,
            "spelled": spelled,
            "position": game.format_position(position),
            "diagram": game.diagram(position),
            "to_move": game.to_move(position),
            "result": None if outcome is None else {"scores": list(outcome.scores), "reason": outcome.reason},
            "result_known": known,
            "moves": [] if outcome else [game.format_move(position, move) for move in game.legal_moves(position)],
            "hints": {} if outcome else hints_shown(game.hints(position)),
            "compositions": [] if outcome else [each._asdict() for each in game.unlisted.compositions(position)],
        }
    )
