"""Moves put together part by part through the API: what can follow, why not yet, and playing the result."""

from typing import Any

import pytest
from flask import Flask

from tests.support.callers import ME, OPEN, Caller, started

TO_A_WIZARD = ["b3+d2", "k8-k7", "d2-e4", "i8-i7", "e4-d5", "j8-j7"]
"""White makes a wizard of knight and queen and brings it to the tower d5."""
TO_A_DRAGON = ["b3-c5", "k8-k7", "f2-g4", "i8-i7"]
"""White's dragon copies its own knight and leaps to the tower g4."""


def played(anna: Caller, boris: Caller, moves: list[str], **more: bool) -> str:
    """Return a match of Four Towers in which ``moves`` have been played, anna being White."""
    match = started(anna, boris, game="four-towers", setup="standard", **more)
    for ply, move in enumerate(moves):
        answer = (anna, boris)[ply % 2].move(match, move)
        assert answer.status_code == 201, answer.text
    return match


def check(caller: Caller, match_id: str, kind: str, *parts: str) -> dict[str, Any]:
    answer = caller.post(f"/matches/{match_id}/compositions", {"kind": kind, "parts": list(parts)})
    assert answer.status_code == 200, answer.text
    return dict(answer.json)


def test_legal_moves_say_what_can_be_put_together(anna: Caller, boris: Caller) -> None:
    match_id = played(anna, boris, TO_A_WIZARD)
    found = {each["kind"]: each for each in anna.get(f"/matches/{match_id}/legal-moves").json["compositions"]}
    assert list(found) == ["rearrange-I", "rearrange-II"]
    assert found["rearrange-I"]["title"] == "Rearrange arena I"
    assert found["rearrange-I"]["sources"] == ["d5"]
    assert set(found["rearrange-I"]["pieces"]) == {"a3", "a4", "b4", "c3", "c4"}
    assert set(found["rearrange-I"]["free"]) == {"a5", "b3", "b5", "c5"}


def test_games_without_such_moves_offer_none_and_know_no_kind(anna: Caller, boris: Caller) -> None:
    match_id = started(anna, boris)
    assert anna.get(f"/matches/{match_id}/legal-moves").json["compositions"] == []
    refused = anna.post(f"/matches/{match_id}/compositions", {"kind": "multi", "parts": []})
    assert (refused.status_code, refused.json["code"]) == (422, "malformed-move")
    assert list(refused.json["errors"]) == ["kind"]


def test_a_rearrangement_is_put_together_checked_and_played(anna: Caller, boris: Caller) -> None:
    match = played(anna, boris, TO_A_WIZARD)
    begun = check(anna, match, "rearrange-I")
    assert (begun["move"], begun["failing"], begun["parts"]) == (None, None, [])
    assert {"move": "a3-b3", "path": ["b3"], "label": "put"} in begun["following"]["a3"]
    done = check(anna, match, "rearrange-I", "a3-b3", "c3-c4")
    assert (done["move"], done["reason"]) == ("I:Pa4,Rb3,Pb4,Pc3,Bc4", "")
    event = anna.move(match, done["move"]).json["events"][0]
    assert event["data"]["move"] == done["move"]


def test_a_multi_move_is_put_together_checked_and_played(anna: Caller, boris: Caller) -> None:
    match_id = played(anna, boris, TO_A_DRAGON)
    assert [each["kind"] for each in anna.get(f"/matches/{match_id}/legal-moves").json["compositions"]] == ["multi"]
    one = check(anna, match_id, "multi", "h3-h4")
    assert one["move"] is None
    assert "add another" in one["reason"]
    assert "h3" not in one["following"]
    assert {"move": "e3-e4", "path": ["e4"], "label": "move"} in one["following"]["e3"]
    two = check(anna, match_id, "multi", "h3-h4", "e3-e4")
    assert (two["move"], two["version"]) == ("e3-e4;h3-h4", one["version"])
    assert anna.move(match_id, "h3-h4;e3-e4").json["events"][0]["data"]["move"] == two["move"]


def test_the_part_that_fails_is_named_with_the_reason(anna: Caller, boris: Caller) -> None:
    match = played(anna, boris, TO_A_DRAGON)
    failed = check(anna, match, "multi", "h3-h4", "a4-a5")
    assert (failed["move"], failed["failing"]) == (None, 1)
    assert failed["reason"].startswith("component 2 (a4-a5): ")
    assert failed["following"] == check(anna, match, "multi", "h3-h4")["following"]


def test_checking_changes_nothing_and_is_open_to_all(app: Flask, anna: Caller, boris: Caller, stranger: Caller) -> None:
    match_id = played(anna, boris, TO_A_WIZARD)
    before = anna.get(f"/matches/{match_id}/events").json
    for caller in (anna, boris, stranger):
        assert check(caller, match_id, "rearrange-I", "a3-b3")["move"] is not None
    assert anna.get(f"/matches/{match_id}/events").json == before
    private = played(anna, boris, TO_A_WIZARD, private=True)
    refused = stranger.post(f"/matches/{private}/compositions", {"kind": "rearrange-I", "parts": []})
    assert (refused.status_code, refused.json["code"]) == (404, "no-such-match")


@pytest.mark.parametrize(
    ("body", "code", "fields"),
    [
        ({"kind": "rearrange-X", "parts": []}, "malformed-move", ["kind"]),
        ({"kind": "rearrange-I", "parts": ["a3-b3", "a3"]}, "malformed-move", ["parts"]),
        ({"kind": "multi", "parts": ["Q/a3-b3"]}, "malformed-move", ["parts"]),
        ({"kind": "multi"}, "invalid-fields", ["parts"]),
        ({"kind": "multi", "parts": "a3-b3"}, "invalid-fields", ["parts"]),
        ({"kind": "multi", "parts": [3]}, "invalid-fields", ["parts.0"]),
        ({"kind": "multi", "parts": ["a3-b3"] * 65}, "invalid-fields", ["parts"]),
        ({"kind": "", "parts": []}, "invalid-fields", ["kind"]),
        ({"kind": "multi", "parts": [], "move": "a3-b3"}, "invalid-fields", ["move"]),
    ],
)
def test_malformed_checks_are_refused(anna: Caller, boris: Caller, body: object, code: str, fields: list[str]) -> None:
    match_id = played(anna, boris, [])
    refused = anna.post(f"/matches/{match_id}/compositions", body)
    assert (refused.status_code, refused.json["code"], list(refused.json["errors"])) == (422, code, fields)


def test_nothing_is_put_together_before_a_match_and_after_it(anna: Caller, boris: Caller) -> None:
    waiting = anna.create(ME, OPEN, game="four-towers", setup="standard")
    over = played(anna, boris, TO_A_DRAGON)
    assert anna.post(f"/matches/{over}/resignation").status_code == 201
    for match_id, code in ((waiting, "match-not-started"), (over, "match-over")):
        refused = anna.post(f"/matches/{match_id}/compositions", {"kind": "multi", "parts": []})
        assert (refused.status_code, refused.json["code"]) == (409, code)
        assert anna.get(f"/matches/{match_id}/legal-moves").json["compositions"] == []


def test_the_board_is_drawn_after_the_parts_so_far_with_what_the_towers_do(anna: Caller, boris: Caller) -> None:
    match_id = played(anna, boris, TO_A_WIZARD)
    drawn = anna.client.get(f"/matches/{match_id}/board.svg?inline=1&compose=rearrange-I&part=a3-b3&part=c3-c4")
    assert drawn.status_code == 200
    assert 'aria-label="b3, arena I: white rook"' in drawn.text
    assert 'aria-label="c4, arena I: white bishop"' in drawn.text
    assert '<desc data-title="A wizard on a tower">White may, instead of a move, rearrange' in drawn.text
    refused = anna.client.get(f"/matches/{match_id}/board.svg?compose=rearrange-I&part=here")
    assert (refused.status_code, refused.json["code"]) == (422, "malformed-move")
