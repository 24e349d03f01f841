"""The opponents in real games: they take a win, see a threat, obey the rules and keep within their budgets."""

import random
from collections.abc import Iterator
from typing import Any

import pytest

from domain.bashni import GAME as BASHNI
from domain.game import AnyGame
from domain.games import GAMES
from domain.history import History
from domain.search import LEVELS, choose
from domain.search.negamax import RootMove, Search, is_won
from domain.towers import GAME as TOWERS
from events.installation import Installation
from tests.support.rulesets import RULESETS
from tests.support.stepped_installation import settings_for
from workers.fleet.ladder import (
    PAIRS,
    LadderQuery,
    LadderRow,
    Side,
    do,
    make_row,
    plan,
    play_game,
)

SETUPS: list[tuple[AnyGame, str]] = [(BASHNI, "start"), (TOWERS, "two-player"), (TOWERS, "four-player")]
NAMES = [f"{game.id}-{setup}" for game, setup in SETUPS]


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


@pytest.mark.parametrize(("game", "setup"), SETUPS, ids=NAMES)
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


@pytest.mark.parametrize(("game", "setup"), SETUPS[:2], ids=NAMES[:2])
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
    assert [BASHNI.format_move(compulsory, choose(BASHNI, compulsory, (), level, 1).move) for level in LEVELS] == [
        "e5xc3"
    ] * 8


@pytest.mark.parametrize("level", [1, 5])
@pytest.mark.parametrize("game", RULESETS.values(), ids=RULESETS)
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
            assert choice.nodes <= LEVELS[level].nodes
            assert choice.depth <= LEVELS[level].depth
            assert game.is_legal(position, choice.move)


@pytest.mark.parametrize(("game", "setup"), SETUPS, ids=NAMES)
def test_the_lowest_level_beats_random_moves(game: AnyGame, setup: str) -> None:
    assert play_pair(game, setup, 1, "random", games=8, seed=3).score >= 0.75


def test_a_ladder_is_divided_into_its_games_which_give_the_same_rows() -> None:
    query = LadderQuery(TOWERS.id, TOWERS.ruleset, games=2, seed=5)._asdict()
    nothing = Installation(settings_for("redis://127.0.0.1:1/0"))
    (slices,) = plan(nothing, query)
    assert [planned.content for planned in slices] == [
        [setup, strong, weak, number]
        for setup in TOWERS.setups
        for strong, weak in ((8, 4), (4, 1), (1, "random"))
        for number in (0, 1)
    ]
    easy = [planned for planned in slices if planned.content[:3] == ["two-player", 1, "random"]]
    played = [game for planned in easy for game in do(nothing, query, planned.content).games]
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
