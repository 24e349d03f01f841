"""Glicko-2 as pure arithmetic (M. Glickman, "Example of the Glicko-2 system", 2013).

A rating period is a set of results. Their order does not matter, to the last bit: all sums are exactly rounded
(``math.fsum``), so a projection that is rebuilt from the same events gives byte-identical ratings.

A match of several seats is one period of pairwise results, see ``pairwise``.
"""

from collections.abc import Sequence
from math import exp, fsum, isclose, isfinite, log, pi, sqrt
from typing import NamedTuple

START_RATING = 1500.0
MAX_DEVIATION = 350.0
START_VOLATILITY = 0.06
TAU = 0.5
"""The system constant: how much the volatility may change over time (Glickman, step 1: 0.3 to 1.2)."""

_SCALE = 173.7178
"""Rating points in one unit of the Glicko-2 scale (step 2)."""
_CONVERGENCE = 1e-6
_STEEPEST = 150.0
"""Beyond this exponent an expected score is 0 or 1 and its variance would leave the range of floats."""


class Rating(NamedTuple):
    """A player's strength: rating and deviation in rating points, volatility on the Glicko-2 scale."""

    rating: float
    deviation: float
    volatility: float


class Result(NamedTuple):
    """One result against an opponent, rated as before the period: 1 won, 0.5 drawn, 0 lost, or any part between."""

    opponent: Rating
    score: float


DEFAULT = Rating(START_RATING, MAX_DEVIATION, START_VOLATILITY)
"""The rating of a player of whom nothing is known."""


def rate(own: Rating, results: Sequence[Result], tau: float = TAU) -> Rating:
    """Return the rating after one period with ``results`` in any order; without results, after one period of rest.

    The deviation never exceeds MAX_DEVIATION. Raises ValueError for a score outside 0..1, a rating that is not finite,
    a deviation outside 0..MAX_DEVIATION, or a volatility or ``tau`` that is not positive.
    """
    _refuse_broken(own)
    if not (isfinite(tau) and tau > 0):
        raise ValueError(f"tau must be positive, not {tau!r}")
    for result in results:
        _refuse_broken(result.opponent)
        if not 0 <= result.score <= 1:
            raise ValueError(f"a score must be from 0 to 1, not {result.score!r}")
    if not results:
        return rest(own, 1)

    rating = (own.rating - START_RATING) / _SCALE
    deviation = own.deviation / _SCALE
    certainties = []
    surprises = []
    for opponent, score in results:
        weight = 1 / sqrt(1 + 3 * (opponent.deviation / _SCALE) ** 2 / pi**2)
        lead = weight * (rating - (opponent.rating - START_RATING) / _SCALE)
        odds = exp(max(-_STEEPEST, min(_STEEPEST, lead)))
        certainties.append(weight**2 * odds / (1 + odds) / (1 + odds))
        surprises.append(weight * (score / (1 + odds) - (1 - score) * odds / (1 + odds)))
    certainty = fsum(certainties)
    surprise = fsum(surprises)

    volatility = _new_volatility(deviation, own.volatility, 1 / certainty, surprise / certainty, tau)
    rested = min(MAX_DEVIATION / _SCALE, sqrt(deviation**2 + volatility**2))
    narrowed = 1 / sqrt(1 / rested**2 + certainty)
    return Rating(
        own.rating + _SCALE * narrowed**2 * surprise,
        min(MAX_DEVIATION, _SCALE * narrowed),
        volatility,
    )


def rest(own: Rating, periods: float) -> Rating:
    """Return the rating after ``periods`` periods without results: the deviation grows, up to MAX_DEVIATION.

    Raises ValueError for a negative number of periods and for a broken rating (see ``rate``).
    """
    _refuse_broken(own)
    if not (isfinite(periods) and periods >= 0):
        raise ValueError(f"the number of periods must be 0 or more, not {periods!r}")
    grown = _SCALE * sqrt((own.deviation / _SCALE) ** 2 + periods * own.volatility**2)
    return own._replace(deviation=min(MAX_DEVIATION, max(own.deviation, grown)))


def pairwise(scores: Sequence[float]) -> tuple[tuple[tuple[int, float], ...], ...]:
    """Return for each seat its results against every other seat, as (other seat, score) in seat order.

    Seat i scores (1 + s_i - s_j) / 2 against seat j: with two seats, whose scores add up to 1, that is the plain score,
    and with several a better place is a win by the difference. Raises ValueError for fewer than two seats, a score
    outside 0..1, and for two seats whose scores do not add up to 1.
    """
    if len(scores) < 2:
        raise ValueError(f"a rated match has two seats or more, not {len(scores)}")
    for score in scores:
        if not 0 <= score <= 1:
            raise ValueError(f"a score must be from 0 to 1, not {score!r}")
    if len(scores) == 2 and not isclose(fsum(scores), 1):
        raise ValueError(f"the scores of two seats add up to 1, not to {fsum(scores)!r}")
    return tuple(
        tuple((other, (1 + score - scores[other]) / 2) for other in range(len(scores)) if other != seat)
        for seat, score in enumerate(scores)
    )


def _new_volatility(deviation: float, volatility: float, variance: float, change: float, tau: float) -> float:
    """Return the volatility that fits a period (step 5, the Illinois iteration), all on the Glicko-2 scale."""
    start = log(volatility**2)

    def misfit(x: float) -> float:
        spread = deviation**2 + variance + exp(x)
        return exp(x) * (change**2 - spread) / (2 * spread**2) - (x - start) / tau**2

    low = start
    if change**2 > deviation**2 + variance:
        high = log(change**2 - deviation**2 - variance)
    else:
        steps = 1
        while misfit(start - steps * tau) < 0:
            steps += 1
        high = start - steps * tau
    misfit_low, misfit_high = misfit(low), misfit(high)
    while abs(high - low) > _CONVERGENCE:
        middle = low + (low - high) * misfit_low / (misfit_high - misfit_low)
        misfit_middle = misfit(middle)
        if misfit_middle * misfit_high <= 0:
            low, misfit_low = high, misfit_high
        else:
            misfit_low /= 2
        high, misfit_high = middle, misfit_middle
    return exp(low / 2)


def _refuse_broken(rating: Rating) -> None:
    if not isfinite(rating.rating):
        raise ValueError(f"a rating must be finite, not {rating.rating!r}")
    if not 0 < rating.deviation <= MAX_DEVIATION:
        raise ValueError(f"a deviation must be above 0 and at most {MAX_DEVIATION:g}, not {rating.deviation!r}")
    if not (isfinite(rating.volatility) and rating.volatility > 0):
        raise ValueError(f"a volatility must be positive, not {rating.volatility!r}")
