"""The armies that opponents buy in Fourplay."""

from itertools import product
from typing import Any

import pytest

from domain.fourplay import GAME
from domain.fourplay.army import best_purchase, counts_of
from domain.fourplay.evaluate import WORTH
from domain.fourplay.position import BUDGET, LIMITS, MIN_SPENT, VALUES, army_cost
from domain.search import choose


def worth_of(numbers: tuple[int, ...]) -> int:
    return sum(number * worth for number, worth in zip(numbers, WORTH, strict=True))


def cost_of(numbers: tuple[int, ...]) -> int:
    return sum(number * price for number, price in zip(numbers, VALUES, strict=True))


@pytest.mark.parametrize(
    "counts",
    [(0, 1, 2, 2, 1, 0, 0, 0, 0, 0, 0, 0), (0, 1, 2, 1, 1, 0, 1, 1, 0, 1, 0, 0), (0, 1, 0, 0, 0, 7, 6, 0, 0, 0, 0, 0)],
)
def test_no_other_purchase_is_worth_more(counts: tuple[int, ...]) -> None:
    left = BUDGET - cost_of(counts)
    choices = [range(min(LIMITS[kind] - counts[kind], left // VALUES[kind]) + 1) for kind in range(2, len(VALUES))]
    affordable = [(0, 0, *numbers) for numbers in product(*choices) if cost_of((0, 0, *numbers)) <= left]
    worth, numbers = best_purchase(counts, WORTH)
    assert numbers in affordable
    assert worth == worth_of(numbers) == max(map(worth_of, affordable))


def test_an_opponent_buys_the_army_that_is_worth_the_most() -> None:
    position, history = GAME.initial("draft"), list[Any]()
    while position.side == 0:
        choice = choose(GAME, position, history, 5, seed=len(history), nodes=300)
        history.append(position)
        position = GAME.play(position, choice.move)
    army = counts_of(position.board, 0)
    assert MIN_SPENT <= army_cost(position.board, 0) <= BUDGET
    assert worth_of(army) == best_purchase((0,) * len(VALUES), WORTH)[0]


def test_an_opponent_finishes_an_army_that_was_begun_badly() -> None:
    position = GAME.initial("draft")
    for move in ("K@a1", "A@b1", "A@c1", ",@d1"):
        position = GAME.play(position, move)
    begun = counts_of(position.board, 0)
    best = worth_of(begun) + best_purchase(begun, WORTH)[0]
    while position.side == 0:
        position = GAME.play(position, choose(GAME, position, (), 8, 1, 300).move)
    assert worth_of(counts_of(position.board, 0)) == best
