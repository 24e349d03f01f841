"""The commands on rules and opponents: what they print, and with which code they end."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from deploy.cli import main
from tests.support.tables import table

VECTORS = Path(__file__).parents[1] / "vectors"
START = "1b1b1b1b/b1b1b1b1/1b1b1b1b/8/8/w1w1w1w1/1w1w1w1w/w1w1w1w1 w 0"


def rookery(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


def test_the_games_are_listed_with_their_setups_and_seats() -> None:
    result = rookery("rules", "list")
    assert result.exit_code == 0
    assert "bashni  Bashni, ruleset 1" in result.stdout
    assert "    two-player  Two players: White, Black" in result.stdout


def test_rulesets_of_one_game_are_listed_with_their_difference_and_asked_by_name() -> None:
    listed = rookery("rules", "list").stdout
    assert "    bashni-1  In one move no column is jumped twice.\n    bashni-2  In one move a column may" in listed
    assert "towers-1" not in listed
    round_trip = "8/8/8/8/3b1b2/2w5/3(bb)1b2/8 w 0"
    moves = {name: rookery("rules", "moves", name, round_trip).stdout for name in ("bashni", "bashni-1", "bashni-2")}
    assert moves["bashni"] == moves["bashni-1"] == "c3xe1xg3xe5xc3\nc3xe5xg3xe1xc3\n"
    assert moves["bashni-2"] == "c3xe1xg3xe5xc3xe1\nc3xe5xg3xe1xc3\n"


def test_a_position_is_given_as_its_string_or_as_the_name_of_a_setup() -> None:
    shown = rookery("rules", "show", "bashni", START)
    assert shown.exit_code == 0
    assert (
        shown.stdout == rookery("rules", "show", "bashni", "start").stdout == rookery("rules", "show", "bashni").stdout
    )
    assert START in shown.stdout
    assert "a b c d e f g h" in shown.stdout


def test_the_end_of_a_game_is_told() -> None:
    assert rookery("rules", "show", "bashni", "8/8/8/8/8/8/8/W7 b 0").stdout.endswith("over: 1 - 0 (no-moves)\n")


def test_legal_moves_are_printed_one_a_line() -> None:
    result = rookery("rules", "moves", "bashni", "start")
    assert result.stdout.split() == ["a3-b4", "c3-b4", "c3-d4", "e3-d4", "e3-f4", "g3-f4", "g3-h4"]


def test_moves_are_applied_in_order() -> None:
    result = rookery("rules", "apply", "bashni", "start", "c3-d4", "b6-a5")
    assert (result.exit_code, result.stdout) == (0, "1b1b1b1b/b1b1b1b1/3b1b1b/b7/3w4/w3w1w1/1w1w1w1w/w1w1w1w1 w 0\n")


def test_an_illegal_move_is_refused_with_its_number_and_the_reason() -> None:
    result = rookery("rules", "apply", "bashni", "start", "c3-d4", "b6-b5")
    assert result.exit_code == 1
    assert result.stderr.startswith("move 2, b6-b5: ")
    assert result.stdout == ""


def test_perft_counts_and_divides() -> None:
    assert rookery("rules", "perft", "bashni", "start", "3").stdout == "302\n"
    *parts, total = rookery("rules", "perft", "bashni", "start", "3", "--divide").stdout.split("\n")[:-1]
    assert total == "302"
    assert sum(int(part.split()[1]) for part in parts) == 302
    assert rookery("rules", "perft", "bashni", "start", "0", "--divide").stdout == "1\n"


@pytest.mark.parametrize(("arguments", "said"), table(__file__, "what makes no sense ends with code 2 and says why"))
def test_what_makes_no_sense_ends_with_code_2_and_says_why(arguments: tuple[str, ...], said: str) -> None:
    result = rookery(*arguments)
    assert result.exit_code == 2
    assert said in result.stderr


def test_vector_files_are_checked_and_counted() -> None:
    paths = [VECTORS / f"{name}.public.json" for name in ("bashni", "bashni-2", "towers")]
    cases = sum(len(json.loads(path.read_text())) for path in paths)
    result = rookery("rules", "check", *map(str, paths))
    assert (result.exit_code, result.stdout.splitlines()[-1]) == (0, f"{cases} passed, 0 failed")


def test_a_failing_case_is_printed_with_what_was_expected_and_what_came(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    cases = [
        {"name": "right", "position": START, "perft": {"1": 7}},
        {"name": "wrong", "position": START, "perft": {"2": 50}},
    ]
    path.write_text(json.dumps(cases))
    result = rookery("rules", "check", "--game", "bashni", str(path))
    assert result.exit_code == 1
    assert result.stdout == (
        "FAILED mine.json: wrong: perft\n    expected: 50 at depth 2\n    actual:   49\n1 passed, 1 failed\n"
    )


def test_a_broken_vector_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bashni.public.json"
    path.write_text("[")
    result = rookery("rules", "check", str(path))
    assert result.exit_code == 1
    assert str(path) in result.stderr
    assert "passed" not in result.stdout


def test_a_file_whose_name_names_no_game_here_ends_with_code_2(tmp_path: Path) -> None:
    path = tmp_path / "chess.public.json"
    path.write_text("[]")
    assert rookery("rules", "check", str(path)).exit_code == 2


def test_an_opponent_answers_the_same_to_the_same_question() -> None:
    asked = ("opponent", "move", "bashni", "start", "--level", "2", "--seed", "7")
    first, second = rookery(*asked), rookery(*asked)
    assert first.exit_code == 0
    assert first.stdout == second.stdout
    assert first.stdout.strip() in rookery("rules", "moves", "bashni", "start").stdout.split()


def test_an_opponent_that_thinks_for_long_answers_with_the_nodes_of_the_record() -> None:
    asked = ("opponent", "move", "bashni", "start", "--level", "12", "--nodes")
    assert rookery(*asked, "300").stdout.strip() in rookery("rules", "moves", "bashni", "start").stdout.split()


def test_an_opponent_visits_no_more_nodes_than_its_level() -> None:
    result = rookery("opponent", "move", "bashni", "start", "--level", "1", "--nodes", "401")
    assert result.exit_code == 1
    assert "level 1 visits 1 to 400 nodes, not 401" in result.stderr


def test_an_opponent_has_no_move_in_a_game_that_is_over() -> None:
    result = rookery("opponent", "move", "bashni", "8/8/8/8/8/8/8/W7 b 0")
    assert result.exit_code == 1
    assert "over" in result.stderr


def test_moves_are_listed_as_players_write_them_and_read_again() -> None:
    result = rookery("rules", "moves", "tower-game", "original", "--spelled")
    assert result.exit_code == 0
    assert "Kcc1" not in result.stdout
    assert "cc4" in result.stdout.splitlines()
    after = rookery("rules", "apply", "tower-game", "original", "cc4")
    assert after.stdout == rookery("rules", "apply", "tower-game", "original", "cc2-cc4").stdout


def test_the_schedules_are_printed_with_their_balance_and_for_a_number_of_people_with_their_pairings() -> None:
    printed = rookery("schedules").stdout.splitlines()
    assert "shifted           4   14-64     14-64        4       0-1          1     0-1       0-1" in printed
    assert "perfect           4      17        68       16         3          4       1         1" in printed
    five = rookery("schedules", "--people", "5").stdout.splitlines()
    assert five[0] == printed[0]
    assert five[-1] == "  2-3-5-4 3-4-1-5 4-5-2-1 5-1-3-2 1-2-4-3"
