"""Attempts at puzzles: the one that is rated, the dates of repeats, and the ratings afterwards."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from domain.match.terms import DAY
from domain.rating import START_RATING, START_VOLATILITY, Rating, Result, expected_score, rate

MAX_RATED_ATTEMPT_MS: Final = 3_600_000
"""The time after the first look at a puzzle in which an attempt is rated."""

REPEAT_DAYS: Final = (3, 10, 30, 90)
"""The days after which a missed puzzle comes again, by the number of repeats that were solved since."""

PRIOR_DEVIATION: Final = 150.0
"""Of the rating of a puzzle that only the levels have tried."""

MAX_PRIOR_DISTANCE: Final = 800.0
"""How far from the start rating a puzzle may be before any person tries it."""

LEVEL_RATINGS: Final = tuple(START_RATING + 180.0 * (level - 4.5) for level in range(1, 9))
"""Ratings of the levels 1 to 8 as solvers: the start rating in the middle, and the mean of the measured steps."""


class PuzzleAttempt(NamedTuple):
    """The attempts of a person at a puzzle; instants in milliseconds since 1970 UTC.

    ``looked_at`` is the first look, and ``rated`` tells whether the first attempt counts, or may. ``solved`` is the
    result of that one, None before it, and ``at`` its instant. ``repeats`` counts the repeats that were solved since
    the last miss; ``due_at`` is when the puzzle comes again, None for never.
    """

    looked_at: int
    rated: bool
    solved: bool | None = None
    at: int | None = None
    repeats: int = 0
    due_at: int | None = None


class SolverRating(NamedTuple):
    """The rating of a puzzle, or of a person as a solver, and the rated attempts that it follows from."""

    rating: Rating
    attempts: int = 0


def tried(attempt: PuzzleAttempt, solved: bool, now: int) -> PuzzleAttempt:
    """Return ``attempt`` after another one: the first, a repeat that was due, or one that changes nothing."""
    if attempt.solved is None:
        rated = attempt.rated and now - attempt.looked_at <= MAX_RATED_ATTEMPT_MS
        due_at = None if solved else now + REPEAT_DAYS[0] * DAY
        return attempt._replace(rated=rated, solved=solved, at=now, due_at=due_at)
    if attempt.due_at is None or now < attempt.due_at:
        return attempt
    repeats = attempt.repeats + 1 if solved else 0
    due_at = now + REPEAT_DAYS[repeats] * DAY if repeats < len(REPEAT_DAYS) else None
    return attempt._replace(repeats=repeats, due_at=due_at)


def rated_attempt(person: SolverRating, puzzle: SolverRating, solved: bool) -> tuple[SolverRating, SolverRating]:
    """Return the ratings of a person and a puzzle after an attempt, which is a game and a period of its own."""
    score = float(solved)
    return (
        SolverRating(rate(person.rating, [Result(puzzle.rating, score)]), person.attempts + 1),
        SolverRating(rate(puzzle.rating, [Result(person.rating, 1 - score)]), puzzle.attempts + 1),
    )


def prior_rating(solved: Sequence[int], trials: Sequence[int]) -> Rating:
    """Return the rating of a puzzle that explains best how many of their ``trials`` the levels have ``solved``."""
    low, high = START_RATING - MAX_PRIOR_DISTANCE, START_RATING + MAX_PRIOR_DISTANCE
    for _ in range(12):
        middle = Rating((low + high) / 2, 1.0, START_VOLATILITY)
        expected = sum(
            of * expected_score(Rating(level, 1.0, START_VOLATILITY), middle)
            for level, of in zip(LEVEL_RATINGS, trials, strict=True)
        )
        if expected > sum(solved):
            low = middle.rating
        else:
            high = middle.rating
    return Rating(round((low + high) / 2), PRIOR_DEVIATION, START_VOLATILITY)
