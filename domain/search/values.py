"""The values of positions: the worth of ended games, and their distinction from evaluations."""

from collections.abc import Sequence
from typing import Final

WIN: Final = 1_000_000
"""The value of winning the whole point now. Every ply until then costs one, so that shorter wins are better."""

MAX_EVALUATION: Final = 100_000
"""The largest evaluation of an undecided position; values beyond it come from the end of a game."""


def value_of_scores(scores: Sequence[float], seat: int, ply: int, place_worth: int = 0) -> int:
    """Return the worth to ``seat`` of an end with ``scores``, ``ply`` plies ahead.

    An equal share of the points is worth 0, the whole point WIN, everything between in proportion: half a win for
    3/4 of the point between two seats, a third of a defeat for nothing among four of whom one wins all.

    Where every place has points (``Game.place_worth``), an end without the first place is worth as much as an
    evaluation of the places alone, so that a seat that stands better than that plays on.
    """
    if place_worth and scores[seat] < 1:
        others = [score for other, score in enumerate(scores) if other != seat]
        return round(place_worth * (scores[seat] - (max(others) + sum(others) / len(others)) / 2))
    share = sum(scores) / len(scores)
    if share >= 1:
        return 0
    value = round(WIN * (scores[seat] - share) / (1 - share))
    return value - ply if value > 0 else value + ply if value < 0 else 0


def clamp_evaluation(value: int) -> int:
    """Return ``value`` limited to the range of evaluations."""
    return max(-MAX_EVALUATION, min(MAX_EVALUATION, value))


def is_won(value: int) -> bool:
    """Return whether ``value`` is a certain win of the whole point."""
    return value > WIN - MAX_EVALUATION


def adjusted_for_ply(value: int, plies: int) -> int:
    """Return ``value`` as seen ``plies`` plies earlier (later when negative): only the ends of games change."""
    if value > MAX_EVALUATION:
        return value - plies
    if value < -MAX_EVALUATION:
        return value + plies
    return value
