"""The difference of strength that a match between two engines shows, and the sequential test of it.

A match consists of pairs of games: the same opening with exchanged seats. The two games of a pair depend on each other,
so a pair counts as one observation, the average of its two scores (the pentanomial model of chess engine testing).
"""

from collections.abc import Sequence
from math import log, log10, sqrt
from typing import NamedTuple

MAX_ELO = 1200.0
ERROR_RATE = 0.05
"""The risk of either wrong verdict of the sequential test."""
BOUND = log((1 - ERROR_RATE) / ERROR_RATE)
"""The log-likelihood ratio at which the test ends, in favour of either hypothesis."""
PRIOR_VARIANCE = 0.0625
"""Of one pair between equals, added to those observed: a few equal results at the start prove nothing."""


class Estimate(NamedTuple):
    """A difference in Elo with the ends of its 95 % interval."""

    elo: float
    low: float
    high: float


def elo_of(score: float) -> float:
    """Return the difference in Elo at which ``score`` is expected, limited to MAX_ELO on either side."""
    limit = 1 / (1 + 10 ** (MAX_ELO / 400))
    score = min(max(score, limit), 1 - limit)
    return -400 * log10(1 / score - 1)


def score_of(elo: float) -> float:
    """Return the score that is expected at a difference of ``elo``."""
    return 1 / (1 + 10 ** (-elo / 400))


def _mean_and_variance(pairs: Sequence[float]) -> tuple[float, float]:
    mean = sum(pairs) / len(pairs)
    variance = (sum((pair - mean) ** 2 for pair in pairs) + PRIOR_VARIANCE) / len(pairs)
    return mean, variance


def estimate(pairs: Sequence[float]) -> Estimate:
    """Return what the average scores of ``pairs``, at least one, say about the difference in strength."""
    mean, variance = _mean_and_variance(pairs)
    margin = 1.96 * sqrt(variance / len(pairs))
    return Estimate(elo_of(mean), elo_of(mean - margin), elo_of(mean + margin))


def log_likelihood_ratio(pairs: Sequence[float], elo0: float, elo1: float) -> float:
    """Return how much better a difference of ``elo1`` explains the scores of ``pairs`` than one of ``elo0``.

    The normal approximation of the generalised sequential probability ratio test (Van den Bergh, "A practical
    introduction to the GSPRT", 2020).
    """
    mean, variance = _mean_and_variance(pairs)
    score0, score1 = score_of(elo0), score_of(elo1)
    return len(pairs) * (score1 - score0) * (2 * mean - score0 - score1) / (2 * variance)


def verdict(pairs: Sequence[float], elo0: float, elo1: float) -> bool | None:
    """Return True when the test accepts ``elo1``, False when it accepts ``elo0``, None while it goes on."""
    ratio = log_likelihood_ratio(pairs, elo0, elo1)
    return ratio > 0 if abs(ratio) >= BOUND else None
