"""Attempts at puzzles: the first one counts, misses come again, and both sides are rated by the same arithmetic."""

from domain.match.terms import DAY
from domain.puzzles.attempts import (
    LEVEL_RATINGS,
    MAX_RATED_ATTEMPT_MS,
    REPEAT_DAYS,
    PuzzleAttempt,
    SolverRating,
    prior_rating,
    rated_attempt,
    tried,
)
from domain.rating import DEFAULT, Result, rate

TRIALS = (4, 4, 4, 4, 4, 1, 1, 1)


def test_a_puzzle_that_was_missed_comes_again_after_3_10_30_and_90_days_and_then_never() -> None:
    now = 0
    attempt = tried(PuzzleAttempt(now, rated=True), solved=False, now=now)
    for days in REPEAT_DAYS:
        assert attempt.due_at == now + days * DAY
        assert tried(attempt, solved=True, now=attempt.due_at - 1) == attempt, "before it is due nothing counts"
        now = attempt.due_at
        attempt = tried(attempt, solved=True, now=now)
    assert attempt.due_at is None
    assert (attempt.solved, attempt.at) == (False, 0), "the first result stays"


def test_a_repeat_that_is_missed_begins_with_three_days_again() -> None:
    attempt = tried(PuzzleAttempt(0, rated=True), solved=False, now=0)
    attempt = tried(attempt, solved=True, now=3 * DAY)
    attempt = tried(attempt, solved=False, now=13 * DAY)
    assert (attempt.repeats, attempt.due_at) == (0, 16 * DAY)


def test_an_attempt_long_after_the_first_look_is_not_rated() -> None:
    look = PuzzleAttempt(1000, rated=True)
    assert tried(look, solved=True, now=1000 + MAX_RATED_ATTEMPT_MS).rated
    assert not tried(look, solved=True, now=1001 + MAX_RATED_ATTEMPT_MS).rated


def test_an_attempt_is_a_game_between_the_person_and_the_puzzle() -> None:
    person, puzzle = SolverRating(DEFAULT), SolverRating(prior_rating((0, 0, 0, 2, 4, 1, 1, 1), TRIALS))
    after, of_puzzle = rated_attempt(person, puzzle, solved=True)
    assert after == SolverRating(rate(person.rating, [Result(puzzle.rating, 1)]), 1)
    assert of_puzzle == SolverRating(rate(puzzle.rating, [Result(person.rating, 0)]), 1)
    assert after.rating.rating > person.rating.rating
    assert of_puzzle.rating.rating < puzzle.rating.rating


def test_the_first_rating_of_a_puzzle_is_the_higher_the_fewer_levels_solve_it() -> None:
    solved = [(0,) * level + TRIALS[level:] for level in range(9)]
    priors = [prior_rating(each, TRIALS).rating for each in solved]
    assert priors == sorted(set(priors))
    assert priors[0] == 700
    assert priors[8] == 2300
    for level in range(1, 8):
        assert LEVEL_RATINGS[level - 1] - 100 < priors[level] < LEVEL_RATINGS[level] + 100
