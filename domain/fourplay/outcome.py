"""The end of Fourplay, and the points of the places (rules, section 8)."""

from collections.abc import Hashable, Sequence
from typing import Final

from domain.fourplay.moves import is_drawn
from domain.fourplay.position import Position
from domain.game import Outcome
from domain.history import occurrences

PLACES: Final[tuple[float, ...]] = (1.0, 2 / 3, 1 / 3, 0.0)


def key(position: Position) -> Hashable:
    """Return all fields but the clock: the same for positions that count as the same."""
    return position[:5]


def scores_sharing_places(eliminated: tuple[int, ...]) -> tuple[float, ...]:
    """Return the scores when players were ``eliminated`` in this order and the others share the places left (FP-08)."""
    left = PLACES[: 4 - len(eliminated)]
    scores = [round(sum(left) / len(left), 4)] * 4
    for rank, player in enumerate(eliminated):
        scores[player] = round(PLACES[3 - rank], 4)
    return tuple(scores)


def scores_after_leaving(position: Position, leaving: tuple[int, ...]) -> tuple[float, ...]:
    """Return the scores when the seats ``leaving`` go after those that are out already."""
    return scores_sharing_places((*position.eliminated, *leaving))


def eliminated(position: Position) -> tuple[int, ...]:
    """Return the seats that are out, in the order in which they went."""
    return position.eliminated


def outcome(position: Position, history: Sequence[Position]) -> Outcome | None:
    """Return how the game has ended, or None; the conditions in the order of section 8."""
    if position.setup:
        return None
    scores = scores_sharing_places(position.eliminated)
    if len(position.eliminated) == 3:
        return Outcome(scores, "last-king")
    if is_drawn(position):
        by_material = is_drawn(position._replace(halfmove_clock=0))
        return Outcome(scores, "insufficient-material" if by_material else "no-progress")
    if occurrences(position, history, key) >= 2:
        return Outcome(scores, "repetition")
    return None
