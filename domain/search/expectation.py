"""Expected points of the seats, from the scores of a search: curves fitted to games of the opponents themselves.

Two seats share a point by a logistic curve, four seats of Towers by a softmax. In Fourplay a place is worth a third of
a point for every player who goes out earlier, so each pair of seats shares a third by a logistic curve. Everything is
computed in integers, and therefore alike on every machine.
"""

from collections.abc import Mapping, Sequence
from math import exp
from typing import Final, NamedTuple

from domain.game import AnyGame
from domain.search.values import MAX_EVALUATION, WIN

EXPECTATION_VERSION: Final = 4
"""The version of the curves. Raise it with every change of ``CURVES``: stored reviews name theirs."""

POINT: Final = 10_000
"""Expected points are counted in ten-thousandths of a point."""


class Curve(NamedTuple):
    """A fitted curve: expected points ``1 / (1 + exp(-(s - centre) / scale))`` of a score ``s``, or a softmax.

    ``scale`` is in the unit of scores, hundredths of the smallest piece, and so is ``centre``: the score of the first
    of two seats at which both stand equal, 0 with more seats. The intervals are those of 95 %. It was fitted to
    ``games``; none means that it has been estimated. ``by_places`` marks a game that gives points for every place.
    """

    scale: int
    centre: int = 0
    scale_interval: tuple[int, int] = (0, 0)
    centre_interval: tuple[int, int] = (0, 0)
    games: int = 0
    by_places: bool = False


CURVES: Final[Mapping[tuple[str, int], Curve]] = {
    ("bashni", 2): Curve(184, -43, (160, 217), (-97, 11), games=200),
    ("towers", 2): Curve(1006, 18, (738, 1576), (-268, 304), games=200),
    ("towers", 4): Curve(3106, 0, (2401, 4398), games=200),
    ("tower-game", 2): Curve(300),
    ("fourplay", 4): Curve(900, by_places=True),
    ("four-towers", 2): Curve(498, -98, (414, 626), (-229, 33), games=240),
}
"""By game and number of seats: ``python -m tests.tuning GAME --curve`` fits one to games of equals.

Those of Bashni and Towers had 6,000 nodes a move, those of Four Towers 600."""

UNFITTED: Final = Curve(300)
"""The curve of a game that has none of its own yet."""

_STEPS: Final = 32
_UNIT: Final = 1 << 30
_DECAY: Final = tuple(round(_UNIT * exp(-step / _STEPS)) for step in range(24 * _STEPS + 1))
"""``exp(-x)`` for x from 0 to 24, ``_STEPS`` entries for each unit, in parts of ``_UNIT``.

These are few enough digits that the last bit in which machines may differ is rounded away."""


def expected_points(game: AnyGame, scores: Sequence[int]) -> tuple[int, ...]:
    """Return the points that each seat may expect, in ten-thousandths, from the scores of all seats in seat order.

    Scores are values of a search or an evaluation, each as its seat sees it. A score beyond ``MAX_EVALUATION`` is that
    of a certain end, and gives the points of this end.
    """
    seats = len(scores)
    curve = CURVES.get((game.id, seats), UNFITTED)
    scale = curve.scale
    if seats == 2:
        first = _share(scores[0] - curve.centre, scale)
        expected = [first, POINT - first]
    elif curve.by_places:
        expected = [
            sum(_share(score - other, scale) for number, other in enumerate(scores) if number != seat) // (seats - 1)
            for seat, score in enumerate(scores)
        ]
    else:
        best = max(scores)
        weights = [_decay(best - score, scale) for score in scores]
        expected = [POINT * weight // sum(weights) for weight in weights]
    average = POINT // 2 if curve.by_places else POINT // seats
    return tuple(
        _points_of_end(score, average) if abs(score) > MAX_EVALUATION else points
        for score, points in zip(scores, expected, strict=True)
    )


def _share(lead: int, scale: int) -> int:
    """Return the expected share of a point between two, in ten-thousandths, by the lead of the first of them."""
    behind = _decay(abs(lead), scale)
    of_the_leader = POINT * _UNIT // (_UNIT + behind)
    return of_the_leader if lead >= 0 else POINT - of_the_leader


def _decay(lead: int, scale: int) -> int:
    """Return ``exp(-lead / scale)`` in parts of ``_UNIT``, between the entries of the table by interpolation."""
    step, rest = divmod(lead * _STEPS, scale)
    if step + 1 >= len(_DECAY):
        return 0
    return _DECAY[step] - (_DECAY[step] - _DECAY[step + 1]) * rest // scale


def _points_of_end(score: int, average: int) -> int:
    """Return the points of a certain end: the inverse of ``value_of_scores``, the plies until then disregarded."""
    plies = WIN // 1000
    return max(0, min(POINT, average + (POINT - average) * ((score + plies // 2) // plies) // (WIN // plies)))
