"""The games: their facts, positions looked at without a match, and terms to choose from."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from flask import Blueprint
from msgspec import Meta

from api.addresses import PREFIX
from api.endpoints import endpoint
from api.http.answers import Answer
from api.http.problems import Problem
from api.http.schemas import MAX_NUMBER, QueryInteger, StrictSchema, StrictString
from api.operations.exploration import MAX_OUTCOME_STEPS, bounded_outcome
from api.representations.boards import Outcome, represent_outcome
from api.representations.clocks import Terms, represent_terms
from domain.errors import MalformedNotation, StepBudget
from domain.game import AnyGame
from domain.games import GAMES, UnknownRulesetError, find_ruleset
from domain.match.terms import PRESETS
from domain.search.budgets import offered_levels
from domain.search.choose import node_budget

blueprint = Blueprint("games", __name__, url_prefix=PREFIX)

MAX_POSITION_CHARACTERS = 2000


class Setup(Answer):
    name: str
    title: str
    seats: Sequence[str]


class Ruleset(Answer):
    ruleset: int
    distinction: Annotated[
        str, Meta(description="How it differs from the other rulesets of the game; empty when there is no other")
    ]


class Game(Answer):
    id: str
    title: str
    ruleset: Annotated[int, Meta(description="The ruleset of a match for which none is asked")]
    rulesets: Sequence[Ruleset]
    blurb: Annotated[str, Meta(description="What the game is, in two sentences")]
    goal: Annotated[str, Meta(description="How to win, in one or two sentences")]
    ending: Annotated[str, Meta(description="The rule that makes every game end")]
    setups: Sequence[Setup]
    levels: Annotated[Sequence[int], Meta(description="The levels of the opponents that this server offers")]
    level_nodes: Annotated[Sequence[int], Meta(description="How many positions each of them may visit for a move")]


class GameList(Answer):
    items: Sequence[Game]


class Position(Answer):
    position: str
    diagram: str
    to_move: Annotated[int, Meta(description="The seat whose turn it is or, when it is over, would be")]
    outcome: Outcome | None
    outcome_known: Annotated[
        bool,
        Meta(description="false: whether the game is over here takes too long to tell; in a match it is always known"),
    ]
    legal_moves: Sequence[str]


class PositionQuery(StrictSchema):
    position = StrictString(1, MAX_POSITION_CHARACTERS, required=True)
    ruleset = QueryInteger(0, MAX_NUMBER)


@blueprint.get("/games")
@endpoint(answer=GameList, conditional=True)
def list_games() -> GameList:
    """List the games

    Each with its rulesets, setups and levels of opponents.
    """
    return GameList(items=[_represent(game) for game in GAMES.values()])


@blueprint.get("/games/<game>")
@endpoint(answer=Game, problems=[404])
def show_game(game: str) -> Game:
    """Show a game

    Its rulesets, its setups with their seats in turn order, and the levels of its opponents.
    """
    return _represent(_find_game(game))


@blueprint.get("/games/<game>/positions")
@endpoint(answer=Position, query=PositionQuery, costly=True, problems=[404])
def show_position(query: Mapping[str, Any], game: str) -> Position:
    """Show a position of a game

    Its diagram, whose turn it is, how it has ended, and the legal moves. No match is needed.
    """
    rules = _find_game(game)
    if "ruleset" in query:
        rules = _find_ruleset(rules, query["ruleset"])
    try:
        position = rules.parse_position(query["position"])
    except MalformedNotation as error:
        raise Problem("malformed-position", f"{error}.", {"position": [str(error)]}) from error
    outcome, outcome_known = bounded_outcome(rules, position, (), StepBudget(MAX_OUTCOME_STEPS))
    return Position(
        position=rules.format_position(position),
        diagram=rules.diagram(position),
        to_move=rules.to_move(position),
        outcome=represent_outcome(outcome),
        outcome_known=outcome_known,
        legal_moves=[rules.format_move(position, move) for move in rules.legal_moves(position)],
    )


def _find_game(id: str) -> AnyGame:
    if id not in GAMES:
        raise Problem("no-such-game", f"The games are {', '.join(GAMES)}.")
    return GAMES[id]


def _find_ruleset(game: AnyGame, ruleset: int) -> AnyGame:
    try:
        return find_ruleset(game.id, ruleset)
    except UnknownRulesetError as error:
        rulesets = ", ".join(str(other.ruleset) for other in GAMES.rulesets[game.id])
        reason = f"{game.title} has no ruleset {ruleset}, only {rulesets}"
        raise Problem("unknown-ruleset", f"{reason}.", {"ruleset": [reason]}) from error


def _represent(game: AnyGame) -> Game:
    return Game.of(
        game,
        rulesets=list(map(Ruleset.of, GAMES.rulesets[game.id])),
        setups=[Setup.of(setup, seats=setup.seat_names) for setup in game.setups.values()],
        levels=(levels := offered_levels(game.id)),
        level_nodes=[node_budget(game.id, level) for level in levels],
    )


terms = Blueprint("terms", __name__, url_prefix=PREFIX)


class Preset(Answer):
    title: str
    terms: Terms


class PresetList(Answer):
    items: Sequence[Preset]


@terms.get("/terms")
@endpoint(answer=PresetList)
def list_terms() -> PresetList:
    """List terms to choose from

    A new match takes one of these or any others, and the first when none are sent.
    """
    return PresetList(items=[Preset(title=title, terms=represent_terms(terms)) for title, terms in PRESETS.items()])
