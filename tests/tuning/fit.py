"""Logistic regression of the results of games: weights of an evaluation, and the curves of expected points.

The weights are fitted to a mixture of result and search: a search of some plies knows much that the evaluation of its
root does not, and it varies less than results do. A game's quiet positions are not independent, so that each game
counts as ``OBSERVATIONS`` of them.
"""

from collections.abc import Sequence
from itertools import chain
from math import exp, sqrt
from typing import Any, NamedTuple

from domain.game import AnyGame
from domain.review.findings import seat_scores
from domain.search.expectation import CURVES, Curve
from domain.search.values import MAX_EVALUATION
from tests.tuning.selfplay import Sample
from tests.tuning.variants import Weights, evaluation_with, weights_of

OBSERVATIONS = 10.0
SEARCH_SHARE = 0.6
"""The share of the search in the target, the rest is the result."""
MAX_GROUPS = 40
"""Of games that are left out in turn to find how certain a curve is."""
UNIT = 1024
"""The weight at which a feature is counted: divisions inside an evaluation lose little of it."""
MIN_PRESENCE = 0.004
"""The share of positions in which a feature must be present to be fitted."""

Row = tuple[dict[int, float], float, float]
"""The features of a position that are present, the score of the first seat, and how much the position counts."""


class Fit(NamedTuple):
    """Fitted weights with their standard errors, both in hundredths of the smallest piece, and the curve's scale."""

    weights: dict[str, float]
    errors: dict[str, float]
    scale: float


def counts(game: AnyGame, samples: Sequence[Sample], fixed: Sequence[str]) -> tuple[list[str], list[Row]]:
    """Return the features that are present often enough, and the rows of all positions."""
    weights = weights_of(game.id)
    nothing = {name: 0 for name in weights if name.split(".")[0] not in fixed}
    scale = CURVES[game.id, 2].scale
    parsed: list[tuple[Any, float, float]] = []
    for sample in samples:
        for value, text in sample.positions:
            position = game.parse_position(text)
            lead = value if game.to_move(position) == 0 else -value
            score = SEARCH_SHARE * sigmoid(lead / scale) + (1 - SEARCH_SHARE) * sample.scores[0]
            parsed.append((position, score, OBSERVATIONS / len(sample.positions)))
    names: list[str] = []
    features: list[dict[int, float]] = [{} for _ in parsed]
    for name in nothing:
        evaluate = evaluation_with(game.id, nothing | {name: UNIT})
        amounts = [evaluate(position, 0) / UNIT for position, _, _ in parsed]
        if sum(amount != 0 for amount in amounts) >= MIN_PRESENCE * len(amounts):
            for present, amount in zip(features, amounts, strict=True):
                if amount:
                    present[len(names)] = amount
            names.append(name)
    return names, [(present, score, share) for present, (_, score, share) in zip(features, parsed, strict=True)]


def fit(names: Sequence[str], rows: Sequence[Row], prior: Weights, anchor: str) -> Fit:
    """Return the weights that explain the results best, scaled so that ``anchor`` keeps its weight.

    A weight is expected to stay within half its former value and 25 hundredths (standard deviation of a normal prior):
    few games change little.
    """
    start = [float(prior[name]) for name in names]
    sums = [
        (sum(start[index] * value for index, value in present.items()), score, share) for present, score, share in rows
    ]
    scale = 1 / newton([({0: total / 1000}, score, share) for total, score, share in sums], [1.0], [1e9])[0][0] * 1000
    mean = [weight / scale for weight in start]
    spread = [(abs(weight) / 2 + 25) / scale for weight in start]
    likeliest, variances = newton(rows, mean, spread)
    unit = prior[anchor] / likeliest[names.index(anchor)]
    return Fit(
        {name: unit * value for name, value in zip(names, likeliest, strict=True)},
        {name: unit * sqrt(variance) for name, variance in zip(names, variances, strict=True)},
        unit,
    )


def newton(rows: Sequence[Row], mean: Sequence[float], spread: Sequence[float]) -> tuple[list[float], list[float]]:
    """Return the most likely coefficients under a normal prior, and their variances, by Newton's method."""
    size = len(mean)
    values = list(mean)
    for _ in range(12):
        gradient = [(middle - value) / width**2 for value, middle, width in zip(values, mean, spread, strict=True)]
        hessian = [[1 / spread[row] ** 2 if row == column else 0.0 for column in range(size)] for row in range(size)]
        for present, score, share in rows:
            logit = sum(values[index] * value for index, value in present.items())
            expected = sigmoid(logit)
            error, curvature = share * (score - expected), share * expected * (1 - expected)
            items = list(present.items())
            for index, value in items:
                gradient[index] += error * value
                row = hessian[index]
                for other, second in items:
                    row[other] += curvature * value * second
        inverse = inverted(hessian)
        steps = [sum(inverse[row][column] * gradient[column] for column in range(size)) for row in range(size)]
        values = [value + step for value, step in zip(values, steps, strict=True)]
    return values, [inverse[index][index] for index in range(size)]


def sigmoid(logit: float) -> float:
    """Return the logistic function."""
    return 1 / (1 + exp(-max(-30.0, min(30.0, logit))))


def inverted(matrix: Sequence[Sequence[float]]) -> list[list[float]]:
    """Return the inverse of a positive definite matrix (Gauss-Jordan)."""
    size = len(matrix)
    rows = [[*row, *(1.0 if index == column else 0.0 for column in range(size))] for index, row in enumerate(matrix)]
    for pivot in range(size):
        scale = rows[pivot][pivot]
        rows[pivot] = [value / scale for value in rows[pivot]]
        for index in range(size):
            factor = rows[index][pivot]
            if index != pivot and factor:
                rows[index] = [value - factor * by for value, by in zip(rows[index], rows[pivot], strict=True)]
    return [row[size:] for row in rows]


def fit_curve(game: AnyGame, samples: Sequence[Sample], by_places: bool) -> Curve:
    """Return the curve of expected points that explains the results of games best, with its 95 % intervals.

    Raises ValueError when no curve does, because better scores have not led to more points.
    """
    of_games = [_rows_of_curve(game, sample, by_places) for sample in samples if sample.positions]
    scale, centre = _curve(of_games)
    groups = min(MAX_GROUPS, len(of_games))
    without = [
        _curve([rows for number, rows in enumerate(of_games) if number % groups != group]) for group in range(groups)
    ]
    margin = _margin([1000 / other for other, _ in without])
    around = _margin([other for _, other in without])
    return Curve(
        round(scale),
        round(centre),
        (round(1000 / (1000 / scale + margin)), round(1000 / max(1e-6, 1000 / scale - margin))),
        (round(centre - around), round(centre + around)),
        len(of_games),
        by_places,
    )


def _rows_of_curve(game: AnyGame, sample: Sample, by_places: bool) -> list[Row]:
    share = OBSERVATIONS / len(sample.positions)
    rows: list[Row] = []
    for value, text in sample.positions:
        if abs(value) > MAX_EVALUATION:
            continue
        position = game.parse_position(text)
        scores = [score / 1000 for score in seat_scores(game, position, game.to_move(position), value)]
        if len(scores) == 2:
            rows.append(({0: scores[0], 1: 1.0}, sample.scores[0], share))
        else:
            rows += encounters(scores, sample.scores, share, by_places)
    return rows


def _curve(of_games: Sequence[Sequence[Row]]) -> tuple[float, float]:
    """Return scale and centre of the curve that explains the rows of games best; without a centre it is 0."""
    rows = list(chain.from_iterable(of_games))
    size = max(len(present) for present, _, _ in rows)
    values, _ = newton(rows, [0.0] * size, [1e3] * size)
    if values[0] <= 0:
        raise ValueError(f"better scores have not led to more points in {len(of_games)} games")
    return 1000 / values[0], (-1000 * values[1] / values[0] if size > 1 else 0.0)


def _margin(estimates: Sequence[float]) -> float:
    """Return half the width of the 95 % interval of an estimate, from those without one group of games at a time.

    The positions of a game share its result, and only games are independent: the jackknife leaves out whole games
    (Tukey 1958).
    """
    groups, average = len(estimates), sum(estimates) / len(estimates)
    return 1.96 * sqrt((groups - 1) / groups * sum((estimate - average) ** 2 for estimate in estimates))


def encounters(scores: Sequence[float], points: Sequence[float], share: float, with_ties: bool) -> list[Row]:
    """Return a row for each pair of seats that the end has told apart, or ``with_ties`` for each pair.

    Where only the winner has points, nothing is known of two others: given that one of two has won, the better score is
    the likelier, and the softmax with the same temperature gives each pair the same odds (Bradley and Terry 1952).
    """
    pairs = [
        (one, other) for one in range(len(scores)) for other in range(one) if with_ties or points[one] != points[other]
    ]
    return [
        (
            {0: scores[one] - scores[other]},
            (1 + (points[one] > points[other]) - (points[one] < points[other])) / 2,
            share / len(pairs),
        )
        for one, other in pairs
    ]
