"""Puzzles, the attempts of the caller, and the ratings that follow."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from flask import Blueprint
from marshmallow import fields, validate
from msgspec import Meta

from api.access.auth import current_person, require_person
from api.access.limits import spend
from api.addresses import PREFIX
from api.endpoints import endpoint
from api.http.answers import Answer, Instant
from api.http.problems import Problem
from api.http.schemas import EmptyBody, InstantField, StrictBoolean, StrictSchema, StrictString
from api.operations.puzzles import all_puzzles_of, puzzle_with
from api.services import services
from domain.errors import RulesError
from domain.games import GAMES
from domain.match.decisions.moves import MAX_MOVE_CHARACTERS
from domain.puzzles.attempts import PuzzleAttempt, SolverRating, tried
from domain.puzzles.puzzle import Puzzle
from events.people.person import GUEST, Person
from events.runtime.wall_clock import rfc3339

blueprint = Blueprint("puzzles", __name__, url_prefix=PREFIX)

MAX_MOVES = 4
"""Of the solver in one puzzle, those that are the only legal ones included."""

MAX_TAKEN_OVER = 200


class AttemptRequest(StrictSchema):
    moves = fields.List(
        StrictString(1, MAX_MOVE_CHARACTERS),
        required=True,
        validate=validate.Length(max=MAX_MOVES),
        metadata={"description": "Your moves up to the first wrong one, without the replies; fewer: you gave up"},
    )
    hint = StrictBoolean(load_default=False, about="You have seen a hint, which makes the attempt a miss")


class EarlierAttemptRequest(StrictSchema):
    puzzle = StrictString(1, 20, required=True)
    solved = StrictBoolean(required=True)
    at = InstantField(required=True)


class EarlierAttemptsRequest(StrictSchema):
    attempts = fields.List(
        fields.Nested(EarlierAttemptRequest), required=True, validate=validate.Length(max=MAX_TAKEN_OVER)
    )


class SolverRatingValue(Answer):
    rating: float
    deviation: float
    attempts: Annotated[int, Meta(description="First attempts of people that count in it")]


class AttemptEntry(Answer):
    rated: Annotated[bool, Meta(description="Whether the first attempt counts for ratings, or may")]
    solved: Annotated[bool | None, Meta(description="The result of the first attempt; null before it")]
    at: Instant | None
    due: Annotated[Instant | None, Meta(description="When it comes again, which is never rated; null: never")]


class PuzzleEntry(Answer):
    id: str
    position: str
    choices: Annotated[int, Meta(description="Moves to find")]
    level: Annotated[int | None, Meta(description="The weakest level that solves it; null: none up to 8")]
    factor: Annotated[int, Meta(description="Confirmed by a search of this many times the nodes of level 8")]
    rating: SolverRatingValue
    attempt: Annotated[AttemptEntry | None, Meta(description="Yours; null before the first look")]


class PuzzleList(Answer):
    items: Sequence[PuzzleEntry]
    rating: Annotated[SolverRatingValue | None, Meta(description="Yours as a solver; null: no rated attempt yet")]


class RecordedAttemptEntry(Answer):
    solved: Annotated[bool, Meta(description="Whether these moves are the solution")]
    attempt: AttemptEntry
    before: Annotated[SolverRatingValue, Meta(description="Your rating as a solver; the same if nothing was rated")]
    after: SolverRatingValue
    puzzle: SolverRatingValue


@blueprint.get("/games/<game_id>/puzzles")
@endpoint(answer=PuzzleList, problems=[404])
def list_puzzles(game_id: str) -> PuzzleList:
    """List the puzzles of a game

    The easiest first, without their solutions, with their ratings and your attempts.
    """
    if game_id not in GAMES:
        raise Problem("no-such-game", f"The games are {', '.join(GAMES)}.")
    person, listed, stored = current_person(), all_puzzles_of(game_id), services().puzzle_attempts
    ratings = stored.ratings(game_id, {puzzle.id: puzzle.prior for puzzle in listed.values()})
    attempts = stored.of(person.id, game_id) if person else {}
    own = stored.rating_of(person.id, game_id) if person else None
    return PuzzleList(
        items=[_entry(puzzle, ratings[puzzle.id], attempts.get(puzzle.id)) for puzzle in listed.values()],
        rating=_rating(own) if own else None,
    )


@blueprint.post("/games/<game_id>/puzzles/<puzzle_id>/looks")
@endpoint(answer=AttemptEntry, body=EmptyBody, signed_in=True, problems=[404])
def look_at_puzzle(_: object, game_id: str, puzzle_id: str) -> AttemptEntry:
    """Open a puzzle

    The first look fixes whether an attempt is rated: one within the hour is, later ones are not.
    """
    person, puzzle = _solver(), _puzzle(game_id, puzzle_id)
    attempts = services().puzzle_attempts
    if attempts.attempt(person.id, game_id, puzzle.id) is None:
        spend("puzzles", person.id)
    return _attempt(attempts.look(person.id, game_id, puzzle.id, rated=person.kind == "person"))


@blueprint.post("/games/<game_id>/puzzles/<puzzle_id>/attempts")
@endpoint(answer=RecordedAttemptEntry, body=AttemptRequest, signed_in=True, problems=[404])
def attempt_puzzle(sent: Mapping[str, Any], game_id: str, puzzle_id: str) -> RecordedAttemptEntry:
    """Try a puzzle

    The server compares the moves with the solution. The first attempt counts, and repeats once they are due.
    """
    person, puzzle = _solver(), _puzzle(game_id, puzzle_id)
    try:
        solved = puzzle.is_solved_by(sent["moves"]) and not sent["hint"]
    except RulesError as error:
        raise Problem("illegal-move", str(error)) from error
    recorded = services().puzzle_attempts.record(person.id, game_id, puzzle.id, solved, puzzle.prior)
    return RecordedAttemptEntry(
        solved=solved,
        attempt=_attempt(recorded.attempt),
        before=_rating(recorded.before),
        after=_rating(recorded.after),
        puzzle=_rating(recorded.puzzle),
    )


@blueprint.post("/games/<game_id>/puzzles/attempts")
@endpoint(204, body=EarlierAttemptsRequest, signed_in=True, problems=[404])
def take_over_attempts(sent: Mapping[str, Any], game_id: str) -> None:
    """Take over attempts

    Those that were made without an account, as history: they are never rated. Puzzles you have seen stay as they are.
    """
    person, listed, now = _solver(), all_puzzles_of(game_id), services().now()
    earlier = {
        attempt["puzzle"]: _earlier(attempt["solved"], min(attempt["at"], now))
        for attempt in sent["attempts"]
        if attempt["puzzle"] in listed
    }
    services().puzzle_attempts.take_over(person.id, game_id, earlier)


def _earlier(solved: bool, at: int) -> PuzzleAttempt:
    return tried(PuzzleAttempt(at, rated=False), solved, at)


def _solver() -> Person:
    person = require_person()
    if person.kind == GUEST:
        raise Problem("sign-up-required", "Sign up first: what guests do about puzzles stays in their browsers.")
    return person


def _puzzle(game_id: str, puzzle_id: str) -> Puzzle:
    puzzle = puzzle_with(game_id, puzzle_id)
    if puzzle is None:
        raise Problem("no-such-puzzle", "There is no puzzle with this id.")
    return puzzle


def _entry(puzzle: Puzzle, rating: SolverRating, attempt: PuzzleAttempt | None) -> PuzzleEntry:
    return PuzzleEntry(
        id=puzzle.id,
        position=puzzle.position,
        choices=puzzle.choices,
        level=puzzle.level,
        factor=puzzle.factor,
        rating=_rating(rating),
        attempt=None if attempt is None else _attempt(attempt),
    )


def _attempt(attempt: PuzzleAttempt) -> AttemptEntry:
    return AttemptEntry(
        rated=attempt.rated,
        solved=attempt.solved,
        at=None if attempt.at is None else rfc3339(attempt.at),
        due=None if attempt.due_at is None else rfc3339(attempt.due_at),
    )


def _rating(rating: SolverRating) -> SolverRatingValue:
    return SolverRatingValue(rating=rating.rating.rating, deviation=rating.rating.deviation, attempts=rating.attempts)
