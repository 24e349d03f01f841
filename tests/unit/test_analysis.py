"""The analysis of a position: the best move and given ones, valued by the same search."""

import random
from typing import Any

import pytest

from domain.errors import GameOver
from domain.game import AnyGame
from domain.games import GAMES
from domain.search import analyse, choose
from domain.search.values import WIN
from tests.support.toy_games import Node, graph

WON, LOST = (1.0, 0.0), (0.0, 1.0)

TREE = {
    "start": Node(0, ("good", "poor", "lost")), "good": Node(1, ("good1", "good2"), 30),
    "poor": Node(1, ("poor1",), 90), "lost": Node(1, ("end",), 10), "good1": Node(0, ("start",), 40),
    "good2": Node(0, ("start",), 35), "poor1": Node(0, ("start",), -60), "end": Node(scores=LOST),
}  # fmt: skip


def test_each_move_asked_for_gets_its_exact_value_and_line() -> None:
    analysis = analyse(graph(TREE), "start", (), 13, ("lost", "poor"))
    assert analysis.best == ("good", 35, ("good", "good2"))
    assert analysis.moves == (("lost", -WIN + 2, ("lost", "end")), ("poor", -60, ("poor", "poor1")))
    assert analysis.depth == 2


def test_the_best_move_is_never_worse_than_one_asked_for() -> None:
    for game in GAMES.values():
        chance = random.Random(game.id)
        position, history = game.initial(next(iter(game.setups))), list[Any]()
        for _ in range(6):
            moves = list(game.legal_moves(position))
            played = chance.choice(moves)
            analysis = analyse(game, position, history, 400, (played,))
            assert analysis.moves[0].value <= analysis.best.value
            for judged in (analysis.best, *analysis.moves):
                assert_playable(game, position, judged.line)
            history.append(position)
            position = game.play(position, played)


def assert_playable(game: AnyGame, position: Any, line: tuple[Any, ...]) -> None:
    for move in line:
        assert game.is_legal(position, move)
        position = game.play(position, move)


def test_the_first_ply_is_completed_whatever_the_budget() -> None:
    analysis = analyse(graph(TREE), "start", (), 1, ("poor",))
    assert analysis.depth == 1
    assert analysis.best[:2] == analysis.moves[0][:2] == ("poor", 90)


def test_an_analysis_repeats_itself_and_no_chance_is_in_it() -> None:
    game = GAMES["bashni"]
    start = game.initial("start")
    moves = tuple(game.legal_moves(start))
    assert analyse(game, start, (), 1_500, moves) == analyse(game, start, (), 1_500, moves)


def test_a_win_has_a_line_to_its_end() -> None:
    game = graph(
        {"start": Node(0, ("won", "drawn")), "won": Node(1, ("mate",)), "mate": Node(scores=WON), "drawn": Node()}
    )
    assert analyse(game, "start", (), 100).best == ("won", WIN - 2, ("won", "mate"))


def test_an_ended_game_has_nothing_to_analyse() -> None:
    with pytest.raises(GameOver):
        analyse(graph({"end": Node(0, scores=LOST)}), "end", (), 100)


def test_an_analysis_agrees_with_the_strongest_opponent_on_a_clear_move() -> None:
    game = GAMES["bashni"]
    position = game.parse_position("8/8/5b2/8/1b1b4/2w5/8/8 w 0")
    assert analyse(game, position, (), 2_000).best.move == choose(game, position, (), 8, 1, 2_000).move
