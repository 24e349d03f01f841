"""Positions that are not played: bounded outcomes, lines of moves, and moves that are put together part by part."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from marshmallow import fields, validate

from api.http.problems import Problem
from api.http.schemas import MAX_NUMBER, StrictInteger, StrictSchema, StrictString
from domain.errors import MalformedNotation, OutcomeUnknownError, RulesError, StepBudget
from domain.game import AnyGame, Outcome
from domain.match.decisions.moves import MAX_MOVE_CHARACTERS
from domain.match.enums import Status
from domain.match.exploration import MAX_TREE_DEPTH
from domain.match.guards import rules_of
from domain.match.state import MatchState
from domain.presentation import Composed

MAX_OUTCOME_STEPS = 100
"""Steps spent on finding out whether the game is over in a position that anybody may ask about."""

MAX_PARTS = 64
"""Parts of a move that is put together."""

MAX_PART_CHARACTERS = 40


class PositionRequest(StrictSchema):
    """A line of moves from a ply of a match."""

    ply = StrictInteger(
        0, MAX_NUMBER, about="The number of plies of the match before the line; the present one if left out"
    )
    line = fields.List(
        StrictString(1, MAX_MOVE_CHARACTERS),
        required=True,
        validate=validate.Length(0, MAX_TREE_DEPTH),
        metadata={"description": "Moves, in canonical form or an alias"},
    )


class PlayedLine(NamedTuple):
    """A line played out: its moves in canonical form and as they are displayed, and the position at its end.

    ``before`` is the position before the last move, None without moves. ``outcome`` is None while the game goes on, and
    when ``outcome_known`` is false.
    """

    game: AnyGame
    moves: list[str]
    spelled: list[str]
    before: Any
    position: Any
    outcome: Outcome | None
    outcome_known: bool


def bounded_outcome(
    game: AnyGame, position: Any, history: Sequence[Any], budget: StepBudget
) -> tuple[Outcome | None, bool]:
    """Return the outcome of a position, and whether ``budget`` sufficed to find it."""
    try:
        return game.bounded_outcome(position, history, budget), True
    except OutcomeUnknownError:
        return None, False


def play_line(state: MatchState, ply: int, line: Sequence[str]) -> PlayedLine:
    """Return ``line`` played from the position after ``ply`` plies of the match.

    Raises the problem invalid-fields for a ply that the match has not reached, and illegal-move, at the place of the
    move, for one that is not legal where it stands.
    """
    if ply > len(state.play.moves):
        raise Problem("invalid-fields", f"{len(state.play.moves)} moves have been played.", {"ply": ["is yet to come"]})
    game = rules_of(state)
    before, position, history = None, state.play.position_after(ply), state.play.history[:ply]
    # One budget for the whole line: a legal move shows that the game was not over, whatever it takes to prove.
    budget = StepBudget(MAX_OUTCOME_STEPS)
    outcome, outcome_known = bounded_outcome(game, position, history, budget)
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
        outcome, outcome_known = bounded_outcome(game, position, history, budget)
    return PlayedLine(game, moves, spelled, before, position, outcome, outcome_known)


def compose(
    state: MatchState, kind: str, parts: Sequence[str], ply: int | None = None, line: Sequence[str] = ()
) -> Composed:
    """Return how far ``parts`` have come in the present position, or after ``line`` from ``ply``.

    Raises the problems match-not-started, match-over and malformed-move, for a line those of ``play_line``.
    """
    if ply is not None or line:
        position = play_line(state, len(state.play.moves) if ply is None else ply, line).position
    elif state.ended:
        raise Problem("match-over", "The match is over: no move is put together any more.")
    elif state.status != Status.PLAYING:
        raise Problem("match-not-started", "The match has not started: not all seats are taken.")
    else:
        position = state.play.position
    game = rules_of(state)
    try:
        return game.compose(position, kind, list(parts))
    except KeyError as error:
        reason = "is not a kind of move that this game puts together"
        raise Problem("malformed-move", f"{kind!r} {reason}.", {"kind": [reason]}) from error
    except MalformedNotation as error:
        raise Problem("malformed-move", f"{error}.", {"parts": [str(error)]}) from error
