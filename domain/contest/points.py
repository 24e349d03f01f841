"""The points of a match for a table: by its result, never by rating."""

from collections.abc import Sequence
from enum import StrEnum


class PointsRule(StrEnum):
    """How the result of a match becomes points, as stored. At two seats both mean 2 for a win and 1 for a draw."""

    PLACES = "places"
    """6, 4, 2 and 0 by place; who share places share their points."""

    WINNER = "winner"
    """12 for the first place alone, shared by those who share it: a second place is worth nothing."""


_BY_PLACE = (6, 4, 2, 0)
_FOR_WINNER = (12, 0, 0, 0)


def points(rule: PointsRule, scores: Sequence[float]) -> tuple[int, ...]:
    """Return the points of each seat, given the scores of a match of two or four seats: whole numbers in every case.

    A higher score is a better place. Raises ValueError for another number of seats.
    """
    if len(scores) == 2:
        worth: tuple[int, ...] = (2, 0)
    elif len(scores) == 4:
        worth = _BY_PLACE if rule == PointsRule.PLACES else _FOR_WINNER
    else:
        raise ValueError(f"a tournament has matches of two or four seats, not of {len(scores)}")
    given = []
    for score in scores:
        better = sum(other > score for other in scores)
        equal = sum(other == score for other in scores)
        given.append(sum(worth[better : better + equal]) // equal)
    return tuple(given)


def comparison(score: float, other: float) -> int:
    """Return 2 for a better place than another's, 1 for the same, 0 for a worse one."""
    return 1 + (score > other) - (score < other)
