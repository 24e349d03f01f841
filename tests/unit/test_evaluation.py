"""The evaluations of the games: what each feature decides, and what all evaluations have in common."""

from itertools import islice

import pytest

from domain.games import GAMES
from tests.support.tables import named_cases, table
from tests.tuning.deciding import names_of, positions, without
from tests.tuning.variants import evaluation_with

DECIDING = "a feature decides who stands better"


@pytest.mark.parametrize(("game_id", "feature", "text"), named_cases(__file__, DECIDING))
def test_a_feature_decides_who_stands_better(game_id: str, feature: str, text: str) -> None:
    position = GAMES[game_id].parse_position(text)
    disregarding = evaluation_with(game_id, without(game_id, feature))
    assert GAMES[game_id].evaluate(position, 0) * disregarding(position, 0) < 0


@pytest.mark.parametrize("game_id", GAMES)
def test_every_feature_has_a_position_that_it_decides(game_id: str) -> None:
    assert [name for _, game, name, _ in table(__file__, DECIDING) if game == game_id] == names_of(game_id)


@pytest.mark.parametrize(("game_id", "text"), named_cases(__file__, "an advantage fades"))
def test_an_advantage_fades_while_nothing_happens(game_id: str, text: str) -> None:
    game = GAMES[game_id]
    standings = [game.evaluate(game.parse_position(f"{text} {quiet}"), 0) for quiet in (0, 10, 20, 29)]
    assert standings == sorted(standings, reverse=True)
    assert standings[0] > standings[-1] > 0


def test_the_turned_position_of_towers_looks_alike_to_both() -> None:
    game = GAMES["towers"]
    for position in islice(positions(game, "two-player", 3), 0, 60, 5):
        board, players, side, pushes = game.format_position(position).split(" ")
        swapped = board.translate(str.maketrans("wb", "bw"))
        other = game.parse_position(f"{swapped} {players} {'b' if side == 'w' else 'w'} {pushes}")
        assert game.evaluate(other, 0) == game.evaluate(position, 1)


def test_weights_that_are_not_changed_give_the_same_evaluation() -> None:
    for game in filter(lambda game: names_of(game.id), GAMES.values()):
        evaluate = evaluation_with(game.id, {})
        for position in islice(positions(game, next(iter(game.setups)), 1), 20):
            assert evaluate(position, 0) == game.evaluate(position, 0)
