"""Logistic regression of the results of games: weights of an evaluation, and the curves of expected points.

The weights are fitted to a mixture of result and search: a search of some plies knows much that the evaluation of its
root does not, and it varies less than results do. A game's quiet positions are not independent, so that each game
counts as ``OBSERVATIONS`` of them.
"""

from collections.abc import Sequence
from math import exp, sqrt
from typing import Any, NamedTuple

from domain.game import AnyGame
from domain.search.expectation import CURVES, Curve
from domain.search.values import MAX_EVALUATION
from tests.tuning.selfplay import Sample
from tests.tuning.variants import Weights, evaluation_with, weights_of

OBSERVATIONS = 10.0
SEARCH_SHARE = 0.6
"""The share of the search in the target, the rest is the result."""
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
    """Return the curve of expected points that explains the results of games best, with its 95 % intervals."""
    seats = len(samples[0].scores)
    rows: list[Row] = []
    for sample in samples:
        share = OBSERVATIONS / max(1, len(sample.positions))
        for value, text in sample.positions:
            if abs(value) > MAX_EVALUATION:
                continue
            position = game.parse_position(text)
            if seats == 2:
                lead = value if game.to_move(position) == 0 else -value
                rows.append(({0: lead / 1000, 1: 1.0}, sample.scores[0], share))
                continue
            scores = [game.evaluate(position, seat) / 1000 for seat in range(seats)]
            rows += _pairs(scores, sample.scores, share)
    values, variances = newton(rows, [0.0, 0.0][: 2 if seats == 2 else 1], [1e3, 1e3][: 2 if seats == 2 else 1])
    slope, error = values[0], 1.96 * sqrt(variances[0])
    scale = round(1000 / slope)
    interval = (round(1000 / (slope + error)), round(1000 / max(1e-6, slope - error)))
    if seats > 2:
        return Curve(scale, 0, interval, (0, 0), len(samples), by_places)
    centre, margin = -1000 * values[1] / slope, 1960 * sqrt(variances[1]) / slope
    return Curve(scale, round(centre), interval, (round(centre - margin), round(centre + margin)), len(samples))


def _pairs(scores: Sequence[float], points: Sequence[float], share: float) -> list[Row]:
    """Return a row for each pair of seats that the end has told apart: given that, the better score is the likelier.

    The softmax with the same temperature gives each pair the same odds (Bradley and Terry 1952).
    """
    pairs = [(one, other) for one in range(len(scores)) for other in range(one) if points[one] != points[other]]
    return [
        ({0: scores[one] - scores[other]}, float(points[one] > points[other]), share / len(pairs))
        for one, other in pairs
    ]
