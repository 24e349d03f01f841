"""Positions that are not played: bounded outcomes, lines of moves, and moves that are put together part by part."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from marshmallow import fields, validate

from api.http.messages import LARGEST_NUMBER
from api.http.problems import Problem
from api.http.schemas import Strict, Text, Whole
from domain.game import AnyGame, MalformedNotation, Outcome, OutcomeUnknownError, RulesError, StepBudget
from domain.match.enums import Status
from domain.match.exploration import DEEPEST
from domain.match.guards import rules_of
from domain.match.moves import LONGEST_MOVE
from domain.match.state import MatchState
from domain.presentation import Composed

MAX_OUTCOME_STEPS = 100
"""That are spent on telling whether a position which anybody may ask about is the end of the game."""


def outcome_as_known(
    game: AnyGame, position: Any, history: Sequence[Any], budget: StepBudget
) -> tuple[Outcome | None, bool]:
    """Return how the game has ended as far as that is known with ``budget``, and whether it is."""
    try:
        return game.bounded_outcome(position, history, budget), True
    except OutcomeUnknownError:
        return None, False


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


class Line(NamedTuple):
    """A line played out: its moves in canonical form and as they are spelled, and where it ends."""

    game: AnyGame
    moves: list[str]
    spelled: list[str]
    before: Any
    position: Any
    outcome: Outcome | None
    outcome_known: bool


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
        history = history.with_position(position)
        before, position = position, game.play(position, move)
        outcome, known = outcome_as_known(game, position, history, budget)
    return Line(game, moves, spelled, before, position, outcome, known)


def compose(state: MatchState, kind: str, parts: list[str]) -> Composed:
    """Return how far ``parts`` have come in the match as it stands.

    Raises the problems match-not-started and match-over, and malformed-move for a kind or a part that the game does
    not know.
    """
    if state.ended:
        raise Problem("match-over", "The match is over: no move is put together any more.")
    if state.status != Status.PLAYING:
        raise Problem("match-not-started", "The match has not started: somebody has yet to join.")
    game = rules_of(state)
    try:
        return game.unlisted.compose(state.position, kind, parts)
    except KeyError as error:
        reason = "is no kind of move that this game puts together"
        raise Problem("malformed-move", f"{kind!r} {reason}.", {"kind": [reason]}) from error
    except MalformedNotation as error:
        raise Problem("malformed-move", f"{error}.", {"parts": [str(error)]}) from error


MOST_PARTS = 64
