"""Positions that a match could come to: a line of moves from any of its plies, without playing anything."""

from typing import Any, NamedTuple

from flask import Response
from marshmallow import fields, validate

from api.http.openapi import PREFIX, Blueprint, json_response
from api.http.problems import Problem
from api.http.schemas import LARGEST_NUMBER, Shown, Strict, Text, Whole
from api.resources.games import MAX_OUTCOME_STEPS, ScoresShown, outcome_as_known
from api.resources.matches import CompositionShown, HintShown, hints_shown, readable
from domain.game import Game, Outcome, RulesError, StepBudget
from domain.match.exploration import DEEPEST
from domain.match.guards import rules_of
from domain.match.moves import LONGEST_MOVE
from domain.match.state import MatchState

blueprint = Blueprint("positions", __name__, url_prefix=PREFIX, description="Positions that a match could come to")


class Imagined(Strict):
    ply = Whole(
        validate=validate.Range(0, LARGEST_NUMBER),
        metadata={"description": "After how many plies of the match the line begins; left out: where it stands"},
    )
    line = fields.List(
        Text(validate=validate.Length(1, LONGEST_MOVE)),
        required=True,
        validate=validate.Length(0, DEEPEST),
        metadata={"description": "Moves, in canonical form or an alias"},
    )


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


class Line(NamedTuple):
    """A line played out: its moves in canonical form and as they are spelled, and where it ends."""

    game: Game[Any, Any]
    moves: list[str]
    spelled: list[str]
    before: Any
    position: Any
    outcome: Outcome | None
    outcome_known: bool


@blueprint.route("/matches/<match>/positions", methods=["POST"])
@blueprint.documents(200, ImaginedShown, problems=[404, 409, 415, 422])
@blueprint.arguments(Imagined)
def imagine(arguments: dict[str, Any], match: str) -> Response:
    """The position after a line of moves from any ply, and what is legal there; nothing is played"""
    state = readable(match)
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
            "compositions": [] if outcome else [each._asdict() for each in game.compositions(position)],
        }
    )


def played_out(state: MatchState, ply: int, line: list[str]) -> Line:
    """Return ``line`` played from the position after ``ply`` plies of the match.

    Raises the problem invalid-fields for a ply that the match has not come to, and illegal-move, at the place of the
    move, for one that is not legal where it stands.
    """
    if ply > len(state.moves):
        raise Problem("invalid-fields", f"{len(state.moves)} plies have been played.", {"ply": ["is yet to come"]})
    game = rules_of(state)
    before, position, history = None, state.position_after(ply), state.history[:ply]
    # One for the whole line: a move that is legal shows that the game was not over, whatever it takes to prove.
    budget = StepBudget(MAX_OUTCOME_STEPS)
    outcome, known = outcome_as_known(game, position, history, budget)
    moves, spelled = [], []
    for number, text in enumerate(line):
        if outcome is not None:
            raise Problem("illegal-move", "The game is over there.", {f"line.{number}": ["the game is over there"]})
        try:
            move = game.read_move(position, text, state.setup)
        except RulesError as error:
            raise Problem("illegal-move", f"{error}.", {f"line.{number}": [str(error)]}) from error
        moves.append(game.format_move(position, move))
        spelled.append(game.display_move(position, move))
        history = history.then(position)
        before, position = position, game.play(position, move)
        outcome, known = outcome_as_known(game, position, history, budget)
    return Line(game, moves, spelled, before, position, outcome, known)
