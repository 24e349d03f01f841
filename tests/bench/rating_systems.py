"""How well ratings forecast results, and whether their intervals hold: our own, variants of it, Elo and openskill.

Every system rates the same results in the same order. Before each of them it forecasts who will be better, for every
two seats that the result compares (``domain.rating.compare``), from what was known at the start of the day. Strengths
are in duel units, in which a lead of 1 means odds of e to 1 in a duel; that is Glicko-2's own scale.
"""

from collections.abc import Mapping, Sequence
from importlib import import_module
from math import exp, log, pi, sqrt
from typing import TYPE_CHECKING, NamedTuple, Protocol

from domain.rating import DEFAULT, MAX_DEVIATION, START_RATING, Period, Rating, Result, compare, pairwise, rest
from events.matches.readmodels.standings import NORMAL_95
from events.matches.readmodels.summary import RatedResult

if TYPE_CHECKING:
    from openskill.models import BradleyTerryFull, BradleyTerryFullRating

POINTS_PER_UNIT = 173.7178
"""Rating points in a duel unit (Glickman 2013, step 2)."""

ELO_POINTS_PER_UNIT = 400 / log(10)
ELO_FACTOR = 32.0
"""By how many points a won duel between equals changes Elo ratings, twice over (K)."""

RATED_DAYS_BETWEEN = 10
"""An interval is compared with the rating after this many more rated days of the player."""

MIN_PROBABILITY = 1e-6
"""A forecast is never surer than this, so that one wrong certainty costs a finite logarithm."""


class Strength(NamedTuple):
    """A strength in duel units, and its standard deviation; None where a system has no intervals."""

    centre: float
    deviation: float | None


class Forecaster(Protocol):
    name: str

    def strength(self, player: str, day: int) -> Strength:
        """Return the strength of a player at the start of ``day``."""

    def expects(self, player: str, other: str, day: int) -> float:
        """Return the score that it expects of ``player`` against ``other`` on ``day``."""

    def rate(self, day: int, results: Sequence[RatedResult]) -> None:
        """Rate all results of a day, in their order."""

    def widened(self, earlier: Strength, player: str, days: int, matches: int) -> float | None:
        """Return the deviation that ``earlier`` has after some days and matches of which nothing is known."""


class GlickoForecaster:
    """Glicko-2 as ratings are defined: each rating from all results of a day, with all rated as at its start.

    ``weighted`` counts each pairwise result 2/N, else as a duel; ``by_order`` asks who was better, else places win by
    their distance. Ratings are made with both.
    """

    def __init__(self, name: str, *, weighted: bool, by_order: bool) -> None:
        self.name = name
        self._weighted = weighted
        self._compare = compare if by_order else pairwise
        self.after: dict[str, tuple[int, Rating]] = {}
        """By player: the last rated day, and the rating after it."""

    def start(self, player: str, day: int) -> Rating:
        """Return the rating of a player at the start of ``day``."""
        known = self.after.get(player)
        return DEFAULT if known is None else rest(known[1], max(0, day - known[0] - 1))

    def strength(self, player: str, day: int) -> Strength:
        rating = self.start(player, day)
        return Strength((rating.rating - START_RATING) / POINTS_PER_UNIT, rating.deviation / POINTS_PER_UNIT)

    def expects(self, player: str, other: str, day: int) -> float:
        """See Forecaster; both deviations count (Glickman 1999, section 3.3)."""
        one, two = self.start(player, day), self.start(other, day)
        variance = (one.deviation**2 + two.deviation**2) / POINTS_PER_UNIT**2
        impact = 1 / sqrt(1 + 3 * variance / pi**2)
        return 1 / (1 + exp(-impact * (one.rating - two.rating) / POINTS_PER_UNIT))

    def rate(self, day: int, results: Sequence[RatedResult]) -> None:
        starts = {player: self.start(player, day) for result in results for player in result.players}
        periods = {player: Period(start) for player, start in starts.items()}
        for result in results:
            weight = result.weight() if self._weighted else 1.0
            for player, scores in zip(result.players, self._compare(result.scores), strict=True):
                for seat, score in scores:
                    if result.players[seat] != player:
                        periods[player].add(Result(starts[result.players[seat]], score, weight))
        self.after |= {player: (day, period.rating()) for player, period in periods.items()}

    def widened(self, earlier: Strength, player: str, days: int, matches: int) -> float | None:
        if earlier.deviation is None:
            return None
        volatility = self.after[player][1].volatility
        return min(MAX_DEVIATION / POINTS_PER_UNIT, sqrt(earlier.deviation**2 + days * volatility**2))


class EloForecaster:
    """Elo over the same pairwise results with the same weights, match by match."""

    name = "Elo"

    def __init__(self) -> None:
        self._ratings: dict[str, float] = {}

    def strength(self, player: str, day: int) -> Strength:
        return Strength(self._ratings.get(player, 0.0) / ELO_POINTS_PER_UNIT, None)

    def expects(self, player: str, other: str, day: int) -> float:
        return 1 / (1 + exp(self.strength(other, day).centre - self.strength(player, day).centre))

    def rate(self, day: int, results: Sequence[RatedResult]) -> None:
        for result in results:
            factor = ELO_FACTOR * result.weight()
            changes = {
                player: factor * sum(score - self.expects(player, other, day) for other, score in scores)
                for player, scores in result.results().items()
            }
            for player, change in changes.items():
                self._ratings[player] = self._ratings.get(player, 0.0) + change

    def widened(self, earlier: Strength, player: str, days: int, matches: int) -> float | None:
        """See Forecaster."""


class OpenskillForecaster:
    """The package openskill with its defaults: Bradley-Terry, full pairing (Weng and Lin 2011).

    It knows no player with several seats: such a player is rated by the first of them.
    """

    name = "openskill"

    def __init__(self, model: "BradleyTerryFull") -> None:
        self._model = model
        self._unit = sqrt(2) * model.beta
        self._ratings: dict[str, BradleyTerryFullRating] = {}

    def _rating(self, player: str) -> "BradleyTerryFullRating":
        if player not in self._ratings:
            self._ratings[player] = self._model.rating()
        return self._ratings[player]

    def strength(self, player: str, day: int) -> Strength:
        rating = self._rating(player)
        return Strength((rating.mu - self._model.mu) / self._unit, rating.sigma / self._unit)

    def expects(self, player: str, other: str, day: int) -> float:
        return float(self._model.predict_win([[self._rating(player)], [self._rating(other)]])[0])

    def rate(self, day: int, results: Sequence[RatedResult]) -> None:
        for result in results:
            seats = [[self._rating(player)] for player in result.players]
            rated = self._model.rate(seats, scores=list(result.scores))
            for player, (rating,) in reversed(list(zip(result.players, rated, strict=True))):
                self._ratings[player] = rating

    def widened(self, earlier: Strength, player: str, days: int, matches: int) -> float | None:
        if earlier.deviation is None:
            return None
        return sqrt(earlier.deviation**2 + matches * (self._model.tau / self._unit) ** 2)


def make_forecasters() -> list[Forecaster]:
    """Return all systems, that of the ratings first; without openskill where that package is not installed."""
    forecasters: list[Forecaster] = [
        GlickoForecaster("Rookery", weighted=True, by_order=True),
        GlickoForecaster("  without weights", weighted=False, by_order=True),
        GlickoForecaster("  places by distance", weighted=True, by_order=False),
        GlickoForecaster("  neither", weighted=False, by_order=False),
        EloForecaster(),
    ]
    try:
        models = import_module("openskill.models")
    except ImportError:
        return forecasters
    return [*forecasters, OpenskillForecaster(models.BradleyTerryFull())]


class Judgement(NamedTuple):
    """How good the forecasts of a system were, over ``forecasts`` pairs of seats, and how many ``intervals`` held.

    ``log_loss`` and ``brier`` are means; less is better. ``covered`` is the part of the 95 % intervals that held, None
    for a system without intervals and where there were none to look at.
    """

    name: str
    forecasts: int
    log_loss: float
    brier: float
    intervals: int
    covered: float | None


class Judge:
    """Lets systems rate results day by day, and judges them.

    Without ``truths`` an interval holds when the player's rating ten rated days later lies where the earlier one said:
    a rating moves by as much as its deviation shrinks, and by the drift that the system assumes. That shows intervals
    that are too narrow, and ratings that are pulled about; it cannot show a scale that is wrong for all. ``truths``,
    where strengths are known, does.
    """

    def __init__(self, forecasters: Sequence[Forecaster]) -> None:
        self._forecasters = forecasters
        self._forecasts = 0
        self._loss = [0.0] * len(forecasters)
        self._squares = [0.0] * len(forecasters)
        self._looked_at = [0] * len(forecasters)
        self._held = [0] * len(forecasters)
        self._earlier: dict[str, tuple[int, int, list[Strength]]] = {}
        self._rated_days: dict[str, tuple[int, int]] = {}
        self._of_day: list[RatedResult] = []

    def add(self, result: RatedResult) -> None:
        """Add a result; all of a pool are added in the order of their days."""
        if self._of_day and result.day != self._of_day[0].day:
            self._end_day()
        self._of_day.append(result)

    def _end_day(self) -> None:
        if self._of_day:
            self.look_at(self._of_day[0].day, sorted(self._of_day, key=lambda each: (each.at, each.match)))
            self._of_day = []

    def look_at(self, day: int, results: Sequence[RatedResult], *, known: bool = False) -> None:
        """Let all systems forecast, then rate, the results of a day, which are in order.

        Where strengths are ``known``, earlier ratings are not compared with later ones.
        """
        pairs = [pair for result in results for pair in _pairs(result)]
        self._forecasts += len(pairs)
        for number, forecaster in enumerate(self._forecasters):
            for player, other, score in pairs:
                expected = min(1 - MIN_PROBABILITY, max(MIN_PROBABILITY, forecaster.expects(player, other, day)))
                self._loss[number] -= score * log(expected) + (1 - score) * log(1 - expected)
                self._squares[number] += (score - expected) ** 2
            forecaster.rate(day, results)
        if not known:
            played: dict[str, int] = {}
            for result in results:
                for player in set(result.players):
                    played[player] = played.get(player, 0) + 1
            for player, matches in played.items():
                self._compare_with_earlier(player, day + 1, matches)

    def compare_with(self, truths: Mapping[str, float], day: int) -> None:
        """Look whether the intervals at the start of ``day`` hold the true strengths, in duel units.

        Ratings say how far players are apart, not where all of them are: both are taken from their means.
        """
        middle = sum(truths.values()) / len(truths)
        for number, forecaster in enumerate(self._forecasters):
            strengths = {player: forecaster.strength(player, day) for player in truths}
            mean = sum(strength.centre for strength in strengths.values()) / len(strengths)
            for player, strength in strengths.items():
                self._count(number, strength.centre - mean - (truths[player] - middle), strength.deviation)

    def judgements(self) -> list[Judgement]:
        """Return what has been found so far, in the order of the systems; nothing without any forecast."""
        self._end_day()
        if not self._forecasts:
            return []
        return [
            Judgement(
                forecaster.name, self._forecasts, self._loss[number] / self._forecasts,
                self._squares[number] / self._forecasts, self._looked_at[number],
                self._held[number] / self._looked_at[number] if self._looked_at[number] else None,
            )
            for number, forecaster in enumerate(self._forecasters)
        ]  # fmt: skip

    def _compare_with_earlier(self, player: str, day: int, matches: int) -> None:
        days, played = self._rated_days.get(player, (0, 0))
        self._rated_days[player] = days + 1, played + matches
        if days % RATED_DAYS_BETWEEN:
            return
        now = [forecaster.strength(player, day) for forecaster in self._forecasters]
        if player in self._earlier:
            since, before, strengths = self._earlier[player]
            for number, (forecaster, earlier) in enumerate(zip(self._forecasters, strengths, strict=True)):
                widened = forecaster.widened(earlier, player, day - since, played + matches - before)
                left = now[number].deviation
                if widened is not None and left is not None:
                    shrunk = sqrt(max(0.0, widened**2 - left**2))
                    self._count(number, now[number].centre - earlier.centre, shrunk)
        self._earlier[player] = day, played + matches, now

    def _count(self, number: int, error: float, deviation: float | None) -> None:
        if deviation is not None:
            self._looked_at[number] += 1
            self._held[number] += abs(error) <= NORMAL_95 * deviation


def _pairs(result: RatedResult) -> list[tuple[str, str, float]]:
    """Return player, other player and score for every two seats that a result compares."""
    return [
        (result.players[seat], result.players[other], score)
        for seat, scores in enumerate(compare(result.scores))
        for other, score in scores
        if seat < other and result.players[seat] != result.players[other]
    ]
