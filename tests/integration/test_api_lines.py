"""Conditional lines and forced moves through the API: laid down, fired, dead, refused, and seen by nobody else."""

from typing import Any

import pytest
from flask import Flask

from tests.support.callers import Caller, started
from tests.support.tables import table

TREE: list[dict[str, Any]] = [
    {"move": "h6-g5", "next": [{"move": "g3-h4", "next": [{"move": "b6-a5", "next": [{"move": "h2-g3"}]}]}]},
    {"move": "b6-c5", "then": "resign"},
    {"move": "*", "next": [{"move": "a3-b4"}]},
]


@pytest.fixture
def match_id(anna: Caller, boris: Caller) -> str:
    match = started(anna, boris)
    assert anna.move(match, "c3-d4").status_code == 201
    return match


def lay_down(who: Caller, match_id: str, lines: object, **more: object) -> dict[str, Any]:
    """Lay lines down, which must be accepted, and return them as they are shown then."""
    answer = who.put(f"/matches/{match_id}/lines", {"lines": lines, **more})
    assert answer.status_code == 200, answer.text
    return dict(answer.json)


def test_lines_are_laid_down_shown_and_taken_away(anna: Caller, match_id: str) -> None:
    nothing = anna.get(f"/matches/{match_id}/lines").json
    assert (nothing["lines"], nothing["ply"], nothing["status"], nothing["forced"]) == ([], None, None, False)
    laid = lay_down(anna, match_id, TREE, forced=True)
    assert (laid["ply"], laid["status"], laid["forced"]) == (1, "armed", True)
    assert laid["lines"] == laid["following"]
    assert laid["lines"][0]["next"][0] == {
        "move": "g3-h4",
        "then": None,
        "next": [{"move": "b6-a5", "then": None, "next": [{"move": "h2-g3", "then": None, "next": []}]}],
    }
    assert anna.get(f"/matches/{match_id}/lines").json == laid
    assert anna.delete(f"/matches/{match_id}/lines").status_code == 204
    assert anna.get(f"/matches/{match_id}/lines").json == {**nothing, "forced": True}


def test_a_line_answers_in_the_same_breath_as_its_trigger(anna: Caller, boris: Caller, match_id: str) -> None:
    lay_down(anna, match_id, TREE)
    moved = boris.move(match_id, "h6-g5").json["events"]
    assert [(event["actor"], event["data"]["move"]) for event in moved] == [(boris.id, "h6-g5"), (anna.id, "g3-h4")]
    assert moved[1]["data"]["channel"] == "conditional"
    left = anna.get(f"/matches/{match_id}/lines").json
    assert (left["status"], [line["move"] for line in left["following"]]) == ("armed", ["b6-a5"])
    boris.move(match_id, "b6-a5")
    done = anna.get(f"/matches/{match_id}/lines").json
    assert (done["status"], done["following"]) == ("done", [])
    assert anna.get(f"/matches/{match_id}").json["moves"][-1] == "h2-g3"


def test_any_other_move_and_resigning_can_be_laid_down(anna: Caller, boris: Caller, match_id: str) -> None:
    lay_down(anna, match_id, TREE)
    resigned = started(anna, boris)
    anna.move(resigned, "c3-d4")
    lay_down(anna, resigned, TREE)
    moved = boris.move(match_id, "b6-a5").json["events"]
    assert [event["data"]["move"] for event in moved] == ["b6-a5", "a3-b4"]
    ended = boris.move(resigned, "b6-c5").json["events"]
    assert [event["type"] for event in ended] == ["move-submitted", "player-resigned", "match-finished"]
    assert (ended[1]["actor"], ended[1]["data"]["channel"]) == (anna.id, "conditional")


def test_a_line_that_does_not_fit_any_more_is_kept_and_says_why(anna: Caller, boris: Caller, match_id: str) -> None:
    lay_down(anna, match_id, TREE[:1])
    boris.move(match_id, "b6-a5")
    dead = anna.get(f"/matches/{match_id}/lines").json
    assert (dead["status"], dead["following"]) == ("dead", [])
    assert dead["words"] == "Move 2 was b6-a5, for which nothing is laid down."
    assert dead["lines"][0]["move"] == "h6-g5"


def test_own_candidates_wait_for_the_hand_and_arm_what_follows_them(anna: Caller, boris: Caller, match_id: str) -> None:
    laid = lay_down(boris, match_id, [{"move": "h6-g5", "next": [{"move": "g3-h4", "next": [{"move": "b6-a5"}]}]}])
    assert laid["status"] == "waiting"
    boris.move(match_id, "h6-g5")
    assert boris.get(f"/matches/{match_id}/lines").json["status"] == "armed"
    assert [event["data"]["move"] for event in anna.move(match_id, "g3-h4").json["events"]] == ["g3-h4", "b6-a5"]


def test_forced_moves_are_switched_without_touching_the_lines(anna: Caller, match_id: str) -> None:
    laid = lay_down(anna, match_id, TREE)
    switched = anna.put(f"/matches/{match_id}/lines", {"forced": True}).json
    assert switched == {**laid, "forced": True}


def test_lines_for_a_version_are_refused_once_it_has_passed(anna: Caller, boris: Caller, match_id: str) -> None:
    version = anna.get(f"/matches/{match_id}/lines").json["version_tag"]
    boris.move(match_id, "b6-a5")
    refused = anna.put(f"/matches/{match_id}/lines", {"lines": TREE}, If_Match=f'"{version}"')
    assert (refused.status_code, refused.json["code"]) == (409, "stale-version")
    assert anna.get(f"/matches/{match_id}/lines").json["lines"] == []


@pytest.mark.parametrize(("lines", "code", "field"), table(__file__, "lines that cannot be laid down are refused at"))
def test_lines_are_refused_at_their_place(anna: Caller, match_id: str, lines: object, code: str, field: str) -> None:
    before = lay_down(anna, match_id, TREE)
    refused = anna.put(f"/matches/{match_id}/lines", {"lines": lines})
    assert (refused.status_code, refused.json["code"], list(refused.json["errors"])) == (422, code, [field])
    assert anna.get(f"/matches/{match_id}/lines").json == before


@pytest.mark.parametrize("depth", [61, 300, 2000])
def test_a_line_that_goes_too_deep_is_refused_and_does_no_harm(anna: Caller, match_id: str, depth: int) -> None:
    body = '{"lines":' + '[{"move":"x","next":' * depth + "[]" + "}]" * depth + "}"
    path = f"/api/v1/matches/{match_id}/lines"
    refused = anna.client.put(path, data=body, content_type="application/json")
    assert refused.status_code in (400, 422)
    assert "deep" in refused.json["detail"]


def test_lines_belong_to_seats_that_allow_them(app: Flask, anna: Caller, boris: Caller, match_id: str) -> None:
    clara = Caller(app).sign_up("clara")
    without = started(anna, boris, terms={"control": "bank", "bank": 86_400, "lines": False})
    private = started(anna, boris, private=True)
    over = started(anna, boris)
    assert anna.post(f"/matches/{over}/resignation").status_code == 201
    for who, where, body, status, code in (
        (clara, match_id, {"lines": TREE}, 403, "not-your-seat"),
        (clara, private, {"lines": TREE}, 404, "no-such-match"),
        (anna, without, {"lines": TREE}, 409, "lines-not-allowed"),
        (anna, without, {"forced": True}, 409, "lines-not-allowed"),
        (anna, over, {"lines": TREE}, 409, "match-over"),
        (anna, over, {"forced": True}, 409, "match-over"),
        (Caller(app), match_id, {"lines": TREE}, 401, "not-signed-in"),
    ):
        refused = who.put(f"/matches/{where}/lines", body)
        assert (refused.status_code, refused.json["code"]) == (status, code)
    for where, status in ((match_id, 403), (private, 404)):
        assert clara.get(f"/matches/{where}/lines").status_code == status
        assert clara.delete(f"/matches/{where}/lines").status_code == status
