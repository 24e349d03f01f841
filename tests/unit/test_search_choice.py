"""What an opponent chooses: seeds, noise, levels, draws; on games small enough to know what is best."""

import subprocess
import sys
from itertools import pairwise

import pytest

from domain.game import GameOver
from domain.search import LEVELS, accepts_draw, choose
from tests.support.toy_games import NOUGHTS, Graph, Node, graph

WON, LOST, DRAWN = (1.0, 0.0), (0.0, 1.0), (0.5, 0.5)


def test_the_same_seed_repeats_a_choice_and_other_seeds_vary_it() -> None:
    game = NOUGHTS
    start = game.initial("start")
    assert choose(game, start, (), 8, seed=5) == choose(game, start, (), 8, seed=5)
    assert len({choose(game, start, (), 4, seed).move for seed in range(12)}) > 3


def test_noise_never_prefers_a_longer_win() -> None:
    game = graph(
        {
            "start": Node(0, ("slow", "quick")),
            "slow": Node(1, ("later",), 90),
            "later": Node(0, ("won",), 90),
            "quick": Node(scores=WON),
            "won": Node(scores=WON),
        }
    )
    assert {choose(game, "start", (), 8, seed).move for seed in range(20)} == {"quick"}


def test_low_levels_overlook_moves_but_always_see_one() -> None:
    game = graph({"start": Node(0, ("poor", "won")), "poor": Node(1, ("start",), -100), "won": Node(scores=WON)})
    beginner = {choose(game, "start", (), 1, seed).move for seed in range(40)}
    expert = {choose(game, "start", (), 8, seed).move for seed in range(40)}
    assert beginner == {"poor", "won"}
    assert expert == {"won"}


def test_a_single_move_is_played_without_a_search() -> None:
    game = graph({"start": Node(0, ("only",), 40), "only": Node(1, ("start",))})
    assert choose(game, "start", (), 8, 1) == ("only", 40, 0, 0)


def test_an_ended_game_has_no_choice_and_takes_no_draw() -> None:
    game = graph({"end": Node(0, scores=LOST)})
    with pytest.raises(GameOver):
        choose(game, "end", (), 4, 1)
    assert not accepts_draw(game, "end", (), 4, 0)


def test_an_unknown_level_is_refused() -> None:
    with pytest.raises(KeyError):
        choose(NOUGHTS, (0, 0, 0), (), 9, 1)


def test_a_smaller_budget_of_nodes_is_kept_and_a_larger_one_than_the_level_has_is_refused() -> None:
    start = NOUGHTS.initial("start")
    whole = choose(NOUGHTS, start, (), 5, 1)
    assert whole == choose(NOUGHTS, start, (), 5, 1, LEVELS[5].nodes)
    smaller = choose(NOUGHTS, start, (), 5, 1, 10)
    assert smaller.nodes == 10 < whole.nodes
    for nodes in (-1, 0, LEVELS[5].nodes + 1):
        with pytest.raises(ValueError, match=f"level 5 visits 1 to 2000 nodes, not {nodes}"):
            choose(NOUGHTS, start, (), 5, 1, nodes)


def test_levels_spend_more_and_overlook_less_the_higher_they_are() -> None:
    assert list(LEVELS) == list(range(1, 9))
    levels = list(LEVELS.values())
    for lower, higher in pairwise(levels):
        assert (lower.nodes, lower.depth) < (higher.nodes, higher.depth) or lower.blunder_rate > higher.blunder_rate
        assert lower.nodes <= higher.nodes
        assert lower.depth <= higher.depth
        assert lower.blunder_rate >= higher.blunder_rate
        assert lower.noise_amplitude >= higher.noise_amplitude


@pytest.mark.parametrize("turn", [0, 1])
def test_a_draw_is_accepted_only_by_a_seat_that_is_clearly_worse(turn: int) -> None:
    def standing(looks: int) -> Graph:
        return graph(
            {"here": Node(turn, ("there", "elsewhere"), looks), "there": Node(1 - turn, ("here",), looks)}
            | {"elsewhere": Node(1 - turn, ("here",), looks)}
        )

    assert accepts_draw(standing(-400), "here", (), 1, seat=0)
    assert not accepts_draw(standing(-400), "here", (), 1, seat=1)
    assert not accepts_draw(standing(-50), "here", (), 1, seat=0)
    assert not accepts_draw(standing(0), "here", (), 1, seat=1)
    assert accepts_draw(standing(400), "here", (), 1, seat=1)


def test_a_draw_is_refused_by_an_opponent_that_finds_a_win_in_a_bad_position() -> None:
    game = graph({"start": Node(0, ("poor", "won"), -900), "poor": Node(1, ("start",), -900), "won": Node(scores=WON)})
    assert not accepts_draw(game, "start", (), 4, seat=0)
    assert accepts_draw(game, "start", (), 4, seat=1)


def test_the_order_of_hashes_changes_no_choice() -> None:
    program = (
        "from domain.search import choose\n"
        "from domain.games import GAMES\n"
        "from tests.support.toy_games import NOUGHTS\n"
        "print(choose(NOUGHTS, (1, 0, 1), ((0, 0, 0),), 5, 7))\n"
        "for game in GAMES.values():\n"
        "    for setup in game.setups:\n"
        "        print(choose(game, game.initial(setup), (), 3, 7))\n"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("0", "20261120")
    }
    assert len(outputs) == 1
