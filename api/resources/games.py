"""The games: their facts, and positions looked at without a match."""

from typing import Any

from flask import Response
from marshmallow import fields, validate

from api.http.messages import LARGEST_NUMBER
from api.http.openapi import PREFIX, Blueprint, json_response
from api.http.problems import Problem
from api.http.schemas import QueryNumber, Shown, Strict, Text
from api.operations.exploration import MAX_OUTCOME_STEPS, outcome_as_known
from domain.game import AnyGame, MalformedNotation, StepBudget
from domain.games import GAMES, UnknownRulesetError, find_ruleset
from domain.search.levels import LEVELS

LONGEST_POSITION = 2000


blueprint = Blueprint("games", __name__, url_prefix=PREFIX, description="The games and their rules")


class SetupShown(Shown):
    name = fields.String()
    title = fields.String()
    seats = fields.List(fields.String())


class RulesetShown(Shown):
    ruleset = fields.Integer()
    distinction = fields.String(
        metadata={"description": "Where it parts from the other rulesets of the game; empty when there is no other"}
    )


class GameShown(Shown):
    id = fields.String()
    title = fields.String()
    ruleset = fields.Integer(metadata={"description": "What a match gets that asks for none"})
    rulesets = fields.List(fields.Nested(RulesetShown))
    blurb = fields.String(metadata={"description": "What the game is, in two sentences"})
    goal = fields.String(metadata={"description": "How to win, in one or two sentences"})
    ending = fields.String(metadata={"description": "The rule that makes every game end"})
    setups = fields.List(fields.Nested(SetupShown))
    levels = fields.List(fields.Integer(), metadata={"description": "The levels of the opponents"})


class GamesShown(Shown):
    items = fields.List(fields.Nested(GameShown))


class ScoresShown(Shown):
    scores = fields.List(fields.Float())
    reason = fields.String()


class PositionShown(Shown):
    position = fields.String()
    diagram = fields.String()
    to_move = fields.Integer(metadata={"description": "The seat whose turn it is or, when it is over, would be"})
    outcome = fields.Nested(ScoresShown, allow_none=True)
    outcome_known = fields.Boolean(
        metadata={
            "description": "false: whether the game is over here takes too long to tell; in a match it is always known"
        }
    )
    moves = fields.List(fields.String())


class PositionQuery(Strict):
    position = Text(required=True, validate=validate.Length(1, LONGEST_POSITION))
    ruleset = QueryNumber(validate=validate.Range(0, LARGEST_NUMBER))


@blueprint.route("/games")
@blueprint.documents(200, GamesShown)
def list_games() -> Response:
    """All games"""
    return json_response({"items": [_facts(game) for game in GAMES.values()]})


@blueprint.route("/games/<game>")
@blueprint.documents(200, GameShown, problems=[404])
def show_game(game: str) -> Response:
    """One game: its rulesets, its setups with their seats in turn order, and the opponents' levels"""
    return json_response(_facts(_game(game)))


@blueprint.route("/games/<game>/positions")
@blueprint.documents(200, PositionShown, problems=[404, 422])
@blueprint.arguments(PositionQuery, location="query")
def show_position(query: dict[str, Any], game: str) -> Response:
    """A position: its diagram, whose turn it is, how it has ended, and the legal moves"""
    rules = _game(game)
    if "ruleset" in query:
        rules = _ruleset(rules, query["ruleset"])
    try:
        position = rules.parse_position(query["position"])
    except MalformedNotation as error:
        raise Problem("malformed-position", f"{error}.", {"position": [str(error)]}) from error
    outcome, known = outcome_as_known(rules, position, (), StepBudget(MAX_OUTCOME_STEPS))
    return json_response(
        {
            "position": rules.format_position(position),
            "diagram": rules.diagram(position),
            "to_move": rules.to_move(position),
            "outcome": None if outcome is None else {"scores": list(outcome.scores), "reason": outcome.reason},
            "outcome_known": known,
            "moves": [rules.format_move(position, move) for move in rules.legal_moves(position)],
        }
    )


def _game(id: str) -> AnyGame:
    if id not in GAMES:
        raise Problem("no-such-game", f"The games are {', '.join(GAMES)}.")
    return GAMES[id]


def _ruleset(game: AnyGame, ruleset: int) -> AnyGame:
    try:
        return find_ruleset(game.id, ruleset)
    except UnknownRulesetError as error:
        known = ", ".join(str(other.ruleset) for other in GAMES.rulesets[game.id])
        reason = f"{game.title} has no ruleset {ruleset}, only {known}"
        raise Problem("unknown-ruleset", f"{reason}.", {"ruleset": [reason]}) from error


def _facts(game: AnyGame) -> dict[str, Any]:
    return {
        "id": game.id,
        "title": game.title,
        "ruleset": game.ruleset,
        "rulesets": [{"ruleset": other.ruleset, "distinction": other.distinction} for other in GAMES.rulesets[game.id]],
        "blurb": game.blurb,
        "goal": game.goal,
        "ending": game.ending,
        "setups": [
            {"name": setup.name, "title": setup.title, "seats": list(setup.seat_names)}
            for setup in game.setups.values()
        ],
        "levels": list(LEVELS),
    }
