"""The scale on which the search compares positions: integers, hundredths of the smallest piece."""

from collections.abc import Sequence

WIN = 1_000_000
"""The whole point at once. Every ply until then costs one, so that a shorter win is the better one."""

UNDECIDED = 100_000
"""Evaluations stay within this; beyond it a value comes from the end of a game."""


def value_of_scores(scores: Sequence[float], seat: int, ply: int) -> int:
    """Return what an end with ``scores``, ``ply`` plies ahead, is worth to ``seat``.

    An equal share of the points is worth 0, the whole point WIN, everything between in proportion: half a win for
    3/4 of the point between two seats, a third of a defeat for nothing among four of whom one wins all.
    """
    share = sum(scores) / len(scores)
    if share >= 1:
        return 0
    value = round(WIN * (scores[seat] - share) / (1 - share))
    return value - ply if value > 0 else value + ply if value < 0 else 0


def clamp_evaluation(value: int) -> int:
    """Return ``value`` or the limit of undecided values that it exceeds."""
    return max(-UNDECIDED, min(UNDECIDED, value))


def is_won(value: int) -> bool:
    """Tell whether ``value`` is a certain win of the whole point."""
    return value > WIN - UNDECIDED


def seen_from(value: int, plies: int) -> int:
    """Return ``value`` as it is ``plies`` plies earlier (later when negative): ends come nearer, evaluations stay."""
    if value > UNDECIDED:
        return value - plies
    if value < -UNDECIDED:
        return value + plies
    return value
