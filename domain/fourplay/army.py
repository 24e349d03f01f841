"""Armies bought with a plan: the pieces that are worth the most together for the points that are left (section 2)."""

from functools import lru_cache

from domain.fourplay.position import BUDGET, KING, LIMITS, VALUES, count

_KINDS = range(KING + 1, len(VALUES))


def counts_of(board: bytes, player: int) -> tuple[int, ...]:
    """Return how many pieces of each kind a player has, by kind."""
    return tuple(count(board, player, kind) for kind in range(len(VALUES)))


@lru_cache(maxsize=1 << 12)
def best_purchase(counts: tuple[int, ...], worths: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
    """Return the worth of the best pieces that can still be bought beside ``counts``, and how many of each kind.

    ``worths`` are those of a piece, by kind.

    The knapsack problem by dynamic programming: for every number of points spent the best worth of the kinds so far.
    """
    points = BUDGET - sum(VALUES[kind] * counts[kind] for kind in _KINDS)
    best: list[tuple[int, tuple[int, ...]]] = [(0, ())] * (points + 1)
    for kind in _KINDS:
        price, most = VALUES[kind], LIMITS[kind] - counts[kind]
        best = [
            max(
                (best[spent - number * price][0] + number * worths[kind], (*best[spent - number * price][1], number))
                for number in range(min(most, spent // price) + 1)
            )
            for spent in range(points + 1)
        ]
    worth, numbers = best[points]
    return worth, (0, 0, *numbers)
