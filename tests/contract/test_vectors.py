"""Every case of every vector file holds: the worked examples of the rules and the counts of sequences."""

from pathlib import Path

import pytest

from deploy.cli.rules import find_game
from deploy.cli.vectors import check_cases, game_of_file, perft, read_cases
from domain.games import GAMES
from tests.support.tables import table

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


@pytest.mark.parametrize(("game", "setup", "counts"), table(__file__, "the sequences from a start"))
def test_the_sequences_from_a_start_are_as_many_as_published(game: str, setup: str, counts: list[int]) -> None:
    rules = find_game(game)
    assert [perft(rules, rules.initial(setup), depth) for depth in range(1, len(counts) + 1)] == counts


def test_the_second_ruleset_of_bashni_passes_the_cases_of_the_first_but_one() -> None:
    cases = [
        case for case in read_cases(FILES[0].parent / "bashni.public.json") if not case["name"].startswith("EX-19")
    ]
    assert check_cases(find_game("bashni-2"), cases).failures == ()
