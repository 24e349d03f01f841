"""What an opponent chooses, on games small enough to know what is best and in real games."""

import random
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import Any

import pytest

from domain.bashni import GAME as BASHNI
from domain.errors import GameOver
from domain.game import AnyGame
from domain.games import GAMES
from domain.history import History
from domain.search import LEVELS, accepts_draw, choose, strength_of
from domain.search.negamax import RootMove, Search
from domain.search.values import is_won
from domain.towers import GAME as TOWERS
from tests.support.draws import sampled
from tests.support.rulesets import RULESETS
from tests.support.toy_games import NOUGHTS, Graph, Node, graph
from workers.fleet.ladder import PAIRS, LadderQuery, LadderRow, Side, do, make_row, plan, play_game

WON, LOST, DRAWN = (1.0, 0.0), (0.0, 1.0), (0.5, 0.5)


def test_the_same_seed_repeats_a_choice_and_other_seeds_vary_it() -> None:
    game = NOUGHTS
    start = game.initial("start")
    assert choose(game, start, (), 8, seed=5) == choose(game, start, (), 8, seed=5)
    assert len({choose(game, start, (), 4, seed).move for seed in range(12)}) > 3


def test_noise_never_prefers_a_longer_win() -> None:
    game = graph(
        {
            "start": Node(0, ("slow", "quick")), "slow": Node(1, ("later",), 90), "later": Node(0, ("won",), 90),
            "quick": Node(scores=WON), "won": Node(scores=WON),
        }
    )  # fmt: skip
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
        choose(NOUGHTS, (0, 0, 0), (), 13, 1)


def test_a_smaller_budget_of_nodes_is_kept_and_a_larger_one_than_the_level_has_is_refused() -> None:
    start = NOUGHTS.initial("start")
    whole = choose(NOUGHTS, start, (), 5, 1)
    assert whole == choose(NOUGHTS, start, (), 5, 1, LEVELS[5].nodes)
    smaller = choose(NOUGHTS, start, (), 5, 1, 10)
    assert smaller.nodes == 10 < whole.nodes
    for nodes in (-1, 0, LEVELS[5].nodes + 1):
        with pytest.raises(ValueError, match=f"level 5 visits 1 to 2000 nodes, not {nodes}"):
            choose(NOUGHTS, start, (), 5, 1, nodes)


@pytest.mark.parametrize("game_id", GAMES)
def test_levels_spend_more_and_overlook_less_the_higher_they_are(game_id: str) -> None:
    assert list(LEVELS) == list(range(1, 13))
    levels = [strength_of(game_id, level) for level in LEVELS]
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


SETUPS: list[tuple[AnyGame, str]] = [(BASHNI, "start"), (TOWERS, "two-player"), (TOWERS, "four-player")]


@cache
def random_game(game: AnyGame, setup: str, seed: int) -> list[Any]:
    """The positions of a game of random moves, the end included."""
    chance = random.Random(f"{setup}/{seed}")
    position, history = game.initial(setup), History(game)
    while game.outcome(position, history) is None:
        history = history.with_position(position)
        position = game.play(position, chance.choice(list(game.legal_moves(position))))
    return [*history, position]


def wins_at_once(game: AnyGame, position: Any, move: Any, history: History) -> bool:
    outcome = game.outcome(game.play(position, move), history.with_position(position))
    return outcome is not None and outcome.scores[game.to_move(position)] == 1


def loses_at_once(game: AnyGame, position: Any, move: Any, history: History) -> bool:
    """Whether the next player can win after ``move``."""
    after = game.play(position, move)
    return any(wins_at_once(game, after, reply, history.with_position(position)) for reply in game.legal_moves(after))


def before_the_end(game: AnyGame, setup: str, plies: int, games: int) -> Iterator[tuple[Any, History]]:
    """Positions ``plies`` before the end of random games, with their history."""
    for seed in range(games):
        positions = random_game(game, setup, seed)
        if len(positions) > plies:
            yield positions[-1 - plies], History(game, positions[: -1 - plies])


def play_pair(game: AnyGame, setup: str, strong: Side, weak: Side, games: int, seed: int = 1) -> LadderRow:
    played = [play_game(game, setup, strong, weak, seed, number) for number in range(games)]
    return make_row(setup, strong, weak, played)


@sampled(("game", "setup"), SETUPS)
def test_a_win_in_one_is_taken(game: AnyGame, setup: str) -> None:
    tried = 0
    for position, history in before_the_end(game, setup, plies=1, games=12):
        winning = [move for move in game.legal_moves(position) if wins_at_once(game, position, move, history)]
        if winning:
            choice = choose(game, position, history, 7, seed=1)
            assert choice.move in winning
            assert is_won(choice.value) or len(list(game.legal_moves(position))) == 1
            tried += 1
    assert tried >= 6


@sampled(("game", "setup"), SETUPS[:2])
def test_a_loss_in_two_is_avoided(game: AnyGame, setup: str) -> None:
    tried = 0
    for position, history in before_the_end(game, setup, plies=2, games=20):
        moves = list(game.legal_moves(position))
        losing = [move for move in moves if loses_at_once(game, position, move, history)]
        if losing and len(losing) < len(moves):
            search = Search(game, game.to_move(position), 2, history, node_limit=800)
            assert search.best(position, [RootMove(move, 0) for move in moves], depth=4).move not in losing
            tried += 1
    assert tried >= 5


def test_captures_are_made_because_they_must_be() -> None:
    compulsory = BASHNI.parse_position("8/8/8/4w3/3b3w/8/8/8 w 0")
    assert [BASHNI.format_move(compulsory, choose(BASHNI, compulsory, (), level, 1).move) for level in range(1, 9)] == [
        "e5xc3"
    ] * 8


@pytest.mark.parametrize("game", RULESETS.values(), ids=RULESETS)
@sampled("level", [1, 5])
def test_a_level_keeps_within_its_nodes_in_every_game(game: AnyGame, level: int) -> None:
    for setup in game.setups:
        chance = random.Random(f"{setup}/{level}")
        position, history = game.initial(setup), list[Any]()
        for _ in range(30):
            if game.outcome(position, history) is not None:
                break
            history.append(position)
            position = game.play(position, chance.choice(list(game.legal_moves(position))))
        if game.outcome(position, history) is None:
            choice = choose(game, position, history, level, seed=2)
            assert choice.nodes <= strength_of(game.id, level).nodes
            assert choice.depth <= strength_of(game.id, level).depth
            assert game.is_legal(position, choice.move)


@sampled(("game", "setup"), SETUPS)
def test_the_lowest_level_beats_random_moves(game: AnyGame, setup: str) -> None:
    assert play_pair(game, setup, 1, "random", games=8, seed=3).score >= 0.75


def test_a_ladder_is_divided_into_its_games_which_give_the_same_rows() -> None:
    query = LadderQuery(TOWERS.id, TOWERS.ruleset, games=2, seed=5)._asdict()
    (slices,) = plan(query)
    assert [planned.content for planned in slices] == [
        [setup, strong, weak, number]
        for setup in TOWERS.setups
        for strong, weak in ((8, 4), (4, 1), (1, "random"))
        for number in (0, 1)
    ]
    easy = [planned for planned in slices if planned.content[:3] == ["two-player", 1, "random"]]
    played = [game for planned in easy for game in do(query, planned.content).games]
    assert make_row("two-player", 1, "random", played) == play_pair(TOWERS, "two-player", 1, "random", 2, seed=5)
    assert [game.seat for game in played] == [0, 1]
    assert PAIRS == ((8, 4), (4, 1), (1, "random"))


def test_a_row_of_a_ladder_has_the_scores_of_its_games() -> None:
    row = play_pair(BASHNI, "start", "random", "random", games=3, seed=4)
    assert isinstance(row, LadderRow)
    assert (row.setup, row.strong, row.weak, row.games) == ("start", "random", "random", 3)
    assert sum(number for _, number in row.by_score) == 3
    assert row.score == pytest.approx(sum(score * number for score, number in row.by_score) / 3)


def test_the_stronger_side_takes_every_seat_in_turn() -> None:
    seats = [play_game(TOWERS, "four-player", "random", "random", 1, number).seat for number in range(5)]
    assert seats == [0, 1, 2, 3, 0]


def test_an_opponent_finds_the_move_of_a_kind_that_is_never_listed_when_no_other_is_left() -> None:
    game = GAMES["four-towers"]
    position = game.parse_position("3/6/9/9k/10/9/r2D6/1P8/K7r/P5/3 w - -/- - 0 1")
    assert list(game.legal_moves(position)) == []
    choice = choose(game, position, [], 3, 1)
    assert game.format_move(position, choice.move) in ("b4-a4;d2-d3", "a3-b3;d2-d3")
