"""Every case of every vector file holds: the worked examples of the rules and the counts of sequences."""

from pathlib import Path

import pytest

from deploy.cli.games import find_game
from deploy.cli.vectors import check_cases, game_of_file, read_cases
from domain.games import GAMES

FILES = sorted((Path(__file__).parents[1] / "vectors").iterdir())
every_file = pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)


@every_file
def test_every_case_of_a_vector_file_holds(path: Path) -> None:
    assert check_cases(find_game(game_of_file(path)), read_cases(path)).failures == ()


@every_file
def test_every_position_of_a_vector_file_is_in_its_one_written_form(path: Path) -> None:
    game = find_game(game_of_file(path))
    positions = [
        case["position"] for case in read_cases(path) if "position" in case and case.get("malformed") is not True
    ]
    assert [game.format_position(game.parse_position(text)) for text in positions] == positions


def test_every_game_and_every_further_ruleset_of_it_has_a_vector_file() -> None:
    further = [f"{game.id}-{game.ruleset}" for rulesets in GAMES.rulesets.values() for game in rulesets[1:]]
    assert sorted(map(game_of_file, FILES)) == sorted([*GAMES, *further])
