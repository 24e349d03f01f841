"""Search terms of The Tower Game: a King with few men is driven to mate."""

from typing import Any

import pytest

from domain.games import GAMES
from domain.history import History
from domain.search import choose
from domain.search.budgets import MAX_SHORT_LEVEL

GAME = GAMES["tower-game"]


@pytest.mark.parametrize(
    "men",
    [
        "5/5/5/5/5|5/5/5/5/5|5/5/5/2C2/5|4R/5/5/5/5|4R/5/5/k4/5|4R/5/5/5/5|5/5/5/5/K2R1|5/5/5/5/5",
        "5/5/5/5/5|5/5/5/5/4N|K4/1R3/5/5/5|1m3/5/5/5/5|5/5/5/2k2/5|3B1/5/4R/5/5|5/5/3R1/5/5|5/5/5/5/5",
        "5/5/5/5/5|B4/5/5/5/5|5/5/R4/5/4k|5/5/5/5/R4|5/5/5/5/2K2|5/5/5/5/5|5/5/5/5/5|5/5/5/5/5",
    ],
    ids=["four Rooks and a Captain", "three Rooks, Bishop and Knight against a Merchant", "two Rooks and a Bishop"],
)
def test_a_search_of_few_positions_mates_before_the_game_ends_without_progress(men: str) -> None:
    position: Any = GAME.parse_position(f"{men} w - - 0")
    history = History(GAME)
    while (outcome := GAME.outcome(position, history)) is None:
        move = choose(GAME, position, history, MAX_SHORT_LEVEL, len(history), 300).move
        history = history.with_position(position)
        position = GAME.play(position, move)
    assert (outcome.reason, outcome.scores) == ("checkmate", (1.0, 0.0))


@pytest.mark.parametrize(("defenders", "is_better"), [("5", True), ("3rr", False)])
def test_the_king_goes_near_the_other_only_where_it_helps_to_mate(defenders: str, is_better: bool) -> None:
    empty = "5/5/5/5/5"
    near, far = (
        GAME.evaluate(GAME.parse_position(f"4k/5/5/5/{defenders}|{empty}|{men} w - - 0"), 0)
        for men in (
            f"{empty}|5/2K2/5/5/5|{empty}|{empty}|{empty}|RR3/5/5/5/5",
            f"{empty}|{empty}|{empty}|{empty}|{empty}|RR3/5/5/5/K4",
        )
    )
    assert (near > far) is is_better
