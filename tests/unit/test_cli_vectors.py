"""The checker of vector files: what it passes, what it reports, what it refuses to read."""

import json
from pathlib import Path
from typing import Any

import pytest

from deploy.cli.vectors import VectorFileError, check_case, check_cases, game_of_file, perft, read_cases
from domain.errors import MalformedNotation
from domain.game import Game, Outcome
from tests.support.rulesets import variant
from tests.support.tables import table
from tests.support.tiny_game import TINY as NIM, Heap, TinyNim


class NimWithNames(TinyNim):
    """Nim in which moves have short names and the side to move can be in check."""

    def in_check(self, position: Heap) -> bool:
        return position.size == 1

    def san(self, position: Heap, move: int) -> str:
        return "one" if move == 1 else "two"

    def parse_san(self, position: Heap, text: str, setup: str | None) -> int:
        if text not in ("one", "two"):
            raise MalformedNotation(text)
        return 1 if text == "one" else 2

    def multi_moves(self, position: Heap) -> list[int]:
        return [1, 2]

    def rearrangements(self, position: Heap) -> list[str]:
        return ["1"]


NIM_WITH_NAMES = NimWithNames()
ALL_HOLD: dict[str, Any] = {
    "name": "everything", "note": "for people", "position": "3 a", "moves": ["1", "2"],
    "perft": {"1": 2, "2": 3, "3": 1}, "move": "1", "result_position": "2 b", "apply": {"2": "1 b"}, "legal": ["1"],
    "illegal": ["3", "x"], "outcome": None,
}  # fmt: skip


def differences(case: dict[str, Any], game: Game[Heap, int] = NIM) -> list[str]:
    return [failure.key for failure in check_case(game, {"name": "case", **case})]


def test_a_case_whose_every_expectation_holds_passes() -> None:
    assert check_cases(NIM, [ALL_HOLD]) == (1, 0, ())


@pytest.mark.parametrize(("key", "wrong"), table(__file__, "an expectation that does not hold is reported"))
def test_an_expectation_that_does_not_hold_is_reported(key: str, wrong: object) -> None:
    report = check_cases(NIM, [{**ALL_HOLD, key: wrong}])
    assert (report.passed, report.failed) == (0, 1)
    assert [failure.key for failure in report.failures] == ["move" if key == "result_position" else key]


def test_a_report_says_what_was_expected_and_what_came() -> None:
    (failure,) = check_case(NIM, {"name": "count", "position": "3 a", "perft": {"2": 4}})
    assert failure == ("count", "perft", "4 at depth 2", "3")


def test_scores_are_compared_to_the_four_decimals_in_which_they_are_written() -> None:
    thirds = variant(NIM, outcome=lambda position, history: Outcome((2 / 3, 1 / 3), "shared"))
    case = {"position": "0 a", "outcome": {"scores": [0.6667, 0.3333], "reason": "shared"}}
    assert differences(case, thirds) == []
    assert differences({**case, "outcome": {"scores": [0.667, 0.333], "reason": "shared"}}, thirds) == ["outcome"]


def test_history_decides_repetition() -> None:
    case = {"position": "3 a", "history": ["3 a", "2 b", "3 a"]}
    assert differences({**case, "outcome": {"scores": [0.5, 0.5], "reason": "repetition"}}) == []
    assert differences({**case, "outcome": None}) == ["outcome"]


def test_malformed_positions_must_be_refused() -> None:
    assert differences({"position": "x", "malformed": True}) == []
    assert differences({"position": "3 a", "malformed": True}) == ["malformed"]
    assert differences({"malformed": ["x", "3", ""]}) == []
    assert differences({"malformed": ["x", "3 a", "2 b"]}) == ["malformed", "malformed"]


def test_a_position_that_cannot_be_read_fails_its_case() -> None:
    assert differences({"position": "x", "moves": []}) == ["position"]


def test_a_key_that_nobody_knows_fails_its_case() -> None:
    assert differences({"position": "3 a", "colour": "blue"}) == ["colour"]


def test_what_a_game_cannot_answer_fails_its_case() -> None:
    asked = {"in_check": False, "san": {"1": "one"}, "parse_san": {"one": "1"}, "parse_refused": ["x"]}
    assert differences({"position": "3 a", **asked}) == list(asked)
    assert differences({"position": "3 a", "multi_moves": 2, "rearrangements": ["1"]}) == [
        "multi_moves",
        "rearrangements",
    ]


def test_games_that_know_more_are_asked_more() -> None:
    game = NIM_WITH_NAMES
    holds = {"in_check": False, "san": {"1": "one"}, "parse_san": {"two": "2"}, "parse_refused": ["three"]}
    assert differences({"position": "3 a", **holds, "multi_moves": ["1", "2"], "rearrangements": 1}, game) == []
    fails = {"in_check": True, "san": {"1": "two"}, "parse_san": {"two": "1"}, "parse_refused": ["one"]}
    assert differences({"position": "3 a", **fails, "multi_moves": 3, "rearrangements": ["2"]}, game) == [
        *fails,
        "multi_moves",
        "rearrangements",
    ]


def test_a_game_that_breaks_fails_the_case_and_not_the_check() -> None:
    def broken(position: Heap) -> list[int]:
        raise KeyError("board")

    game = variant(NIM, legal_moves=broken)
    report = check_cases(game, [{"name": "one", "position": "3 a", "moves": ["1", "2"]}, {**ALL_HOLD, "moves": []}])
    assert report.failed == 2
    assert report.failures[0].actual == "KeyError: 'board'"


def test_perft_counts_sequences_and_an_ended_game_contributes_nothing() -> None:
    assert [perft(NIM, NIM.initial("start"), depth) for depth in range(7)] == [1, 2, 4, 7, 5, 1, 0]


def test_the_game_is_recognised_from_the_file_name() -> None:
    assert game_of_file(Path("somewhere/four-towers.public.json")) == "four-towers"
    with pytest.raises(VectorFileError, match="name the game with --game"):
        game_of_file(Path("cases.json"))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        *table(__file__, "a broken file is refused with the place and the reason"),
        ("[" * 100_000, "recursion|Expecting"),
    ],
)
def test_a_broken_file_is_refused_with_the_place_and_the_reason(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "nim.public.json"
    path.write_text(text)
    with pytest.raises(VectorFileError, match=reason) as refusal:
        read_cases(path)
    assert str(path) in str(refusal.value)


def test_a_file_that_is_not_there_or_is_not_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(VectorFileError, match="No such file"):
        read_cases(tmp_path / "nim.public.json")
    (tmp_path / "nim.public.json").write_bytes(b"\xff\xfe")
    with pytest.raises(VectorFileError, match="decode"):
        read_cases(tmp_path / "nim.public.json")


def test_a_good_file_is_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "nim.public.json"
    path.write_text(json.dumps([ALL_HOLD, {**ALL_HOLD, "name": "again"}]))
    assert [case["name"] for case in read_cases(path)] == ["everything", "again"]
