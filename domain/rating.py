"""Glicko-2 as pure arithmetic (M. Glickman, "Example of the Glicko-2 system", 2013).

A rating period is a set of results. Their order does not matter, to the last bit: all sums are exact and rounded once
(``ExactSum``), so a projection that is rebuilt from the same events gives byte-identical ratings, whether a period is
rated as a whole or continued result by result.

A match of several seats is rated as pairwise results, see ``compare``. ``docs/proof/ratings.md`` specifies all of it to
the last bit.
"""

from collections.abc import Iterable, Sequence
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
    """One result against an opponent, rated as before the period: 1 won, 0.5 drawn, 0 lost, or any part between.

    ``weight`` is the part of a duel's information that it carries, above 0 and at most 1.
    """

    opponent: Rating
    score: float
    weight: float = 1.0


DEFAULT = Rating(START_RATING, MAX_DEVIATION, START_VOLATILITY)
"""The rating of a player of whom nothing is known."""


class ExactSum:
    """A sum of floats without any error, as floats whose digits do not overlap (J. Shewchuk, 1997, Grow-Expansion).

    ``math.fsum`` works in the same way inside, but cannot be continued. Since the parts add up to exactly the sum of
    all that was added, rounding them once gives the same float as ``fsum`` of all of it, to the last bit.
    """

    def __init__(self, parts: Iterable[float] = ()) -> None:
        self._parts = list(parts)

    @property
    def parts(self) -> tuple[float, ...]:
        """The parts from which the sum can be continued."""
        return tuple(self._parts)

    def add(self, value: float) -> None:
        """Add a float."""
        kept = []
        for part in self._parts:
            if abs(value) < abs(part):  # the error is exact if the larger one comes first
                value, part = part, value
            total = value + part
            error = part - (total - value)
            if error:
                kept.append(error)
            value = total
        self._parts = [*kept, value]

    def rounded(self) -> float:
        """Return the float that is nearest to the sum."""
        return fsum(self._parts)


class PeriodSums(NamedTuple):
    """The sums of the results of a period, as parts of exact sums: enough to continue the period."""

    certainty: tuple[float, ...] = ()
    surprise: tuple[float, ...] = ()


NO_RESULTS = PeriodSums()


class Period:
    """A rating period that grows result by result; ``rating`` equals that of ``rate`` for all, to the last bit."""

    def __init__(self, own: Rating, sums: PeriodSums = NO_RESULTS) -> None:
        """Begin, or continue after results that add up to ``sums``; raises ValueError for a broken rating."""
        _refuse_broken(own)
        self._own = own
        self._certainty = ExactSum(sums.certainty)
        self._surprise = ExactSum(sums.surprise)

    @property
    def sums(self) -> PeriodSums:
        """The sums over all results so far."""
        return PeriodSums(self._certainty.parts, self._surprise.parts)

    def add(self, result: Result) -> None:
        """Add a result; raises ValueError for a broken rating, a score outside 0..1 and a weight outside 0..1."""
        _refuse_broken(result.opponent)
        if not 0 <= result.score <= 1:
            raise ValueError(f"a score must be from 0 to 1, not {result.score!r}")
        if not 0 < result.weight <= 1:
            raise ValueError(f"a weight must be above 0 and at most 1, not {result.weight!r}")
        impact, odds = _impact_and_odds(self._own, result.opponent)
        # A weight of 1, that of a duel, changes no bit.
        self._certainty.add(result.weight * (impact**2 * odds / (1 + odds) / (1 + odds)))
        self._surprise.add(
            result.weight * (impact * (result.score / (1 + odds) - (1 - result.score) * odds / (1 + odds)))
        )

    def rating(self) -> Rating:
        """Return the rating after the results so far; see ``rate``."""
        if not self._certainty.parts:
            return rest(self._own, 1)
        own, deviation = self._own, self._own.deviation / _SCALE
        certainty, surprise = self._certainty.rounded(), self._surprise.rounded()
        volatility = _new_volatility(deviation, own.volatility, 1 / certainty, surprise / certainty)
        rested = min(MAX_DEVIATION / _SCALE, sqrt(deviation**2 + volatility**2))
        narrowed = 1 / sqrt(1 / rested**2 + certainty)
        return Rating(own.rating + _SCALE * narrowed**2 * surprise, min(MAX_DEVIATION, _SCALE * narrowed), volatility)


def rate(own: Rating, results: Iterable[Result]) -> Rating:
    """Return the rating after one period with ``results`` in any order; without results, after one period of rest.

    The deviation never exceeds MAX_DEVIATION. Raises ValueError for a score outside 0..1, a rating that is not finite,
    a deviation outside 0..MAX_DEVIATION, or a volatility that is not positive.
    """
    period = Period(own)
    for result in results:
        period.add(result)
    return period.rating()


def rest(own: Rating, periods: float) -> Rating:
    """Return the rating after ``periods`` without results; raises ValueError for fewer than 0, and as ``rate`` does."""
    _refuse_broken(own)
    if not (isfinite(periods) and periods >= 0):
        raise ValueError(f"the number of periods must be 0 or more, not {periods!r}")
    grown = _SCALE * sqrt((own.deviation / _SCALE) ** 2 + periods * own.volatility**2)
    return own._replace(deviation=min(MAX_DEVIATION, max(own.deviation, grown)))


def expected_score(own: Rating, opponent: Rating) -> float:
    """Return the score that a period expects against ``opponent`` (step 3: E); raises ValueError for broken ratings."""
    _refuse_broken(own)
    _refuse_broken(opponent)
    _, odds = _impact_and_odds(own, opponent)
    return odds / (1 + odds)


def weight_of_result(seats: int) -> float:
    """Return the weight of each pairwise result of a match with this number of seats.

    The N - 1 results of a seat share its own luck in the match. If each seat performs as its strength and a noise of
    its own, they carry as much information as 2 * (N - 1) / N duels: each counts 2 / N of one.
    """
    return 2 / seats


def compare(scores: Sequence[float]) -> tuple[tuple[tuple[int, float], ...], ...]:
    """Return for each seat its results against other seats as they are rated, as (other seat, score) in seat order.

    With two seats that is ``pairwise``. With several, the seat with the higher score has won, 1 to 0: it counts who was
    better, not by how much. Equal seats have drawn if no seat was better than both. If one was, nothing is known
    about the two, and they have no result: counted as a draw, it would pull the strong and the weak who lose to the
    same winner together. Raises ValueError as ``pairwise`` does.
    """
    table = pairwise(scores)
    if len(scores) == 2:
        return table
    best = max(scores)
    return tuple(
        tuple(
            (other, 0.5 if scores[other] == score else float(score > scores[other]))
            for other, _ in row
            if scores[other] != score or score == best
        )
        for score, row in zip(scores, table, strict=True)
    )


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


def _impact_and_odds(own: Rating, opponent: Rating) -> tuple[float, float]:
    """Return how far the opponent's deviation lets a result count (g), and the odds of winning."""
    impact = 1 / sqrt(1 + 3 * (opponent.deviation / _SCALE) ** 2 / pi**2)
    lead = impact * ((own.rating - START_RATING) / _SCALE - (opponent.rating - START_RATING) / _SCALE)
    return impact, exp(max(-_STEEPEST, min(_STEEPEST, lead)))


def _new_volatility(deviation: float, volatility: float, variance: float, change: float) -> float:
    """Return the volatility that fits a period (step 5, the Illinois iteration), all on the Glicko-2 scale."""
    start = log(volatility**2)

    def misfit(x: float) -> float:
        spread = deviation**2 + variance + exp(x)
        return exp(x) * (change**2 - spread) / (2 * spread**2) - (x - start) / TAU**2

    low = start
    if change**2 > deviation**2 + variance:
        high = log(change**2 - deviation**2 - variance)
    else:
        steps = 1
        while misfit(start - steps * TAU) < 0:
            steps += 1
        high = start - steps * TAU
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
