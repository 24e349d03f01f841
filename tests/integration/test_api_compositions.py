"""Moves put together part by part, positions that a match could come to, and squares, through the API."""

from typing import Any
from urllib.parse import quote

import pytest
from flask import Flask

from tests.support.callers import ME, OPEN, Caller, started
from tests.support.tables import table

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
    assert failed["reason"].startswith("step 2 (a4-a5): ")
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
        *table(__file__, "malformed checks are refused"),
        ({"kind": "multi", "parts": ["a3-b3"] * 65}, "invalid-fields", ["parts"]),
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


LINE = ["c3-d4", "b6-a5", "d4-c5"]


def test_a_line_is_played_out_from_where_the_match_stands_and_nothing_is_played(anna: Caller, boris: Caller) -> None:
    match_id = started(anna, boris)
    anna.move(match_id, "c3-d4")
    found = anna.post(f"/matches/{match_id}/positions", {"line": LINE[1:]}).json
    assert (found["ply"], found["line"], found["to_move"], found["result"]) == (1, LINE[1:], 1, None)
    assert found["legal_moves"] == [hint["move"] for hints in found["hints"].values() for hint in hints]
    assert anna.get(f"/matches/{match_id}").json["moves"] == ["c3-d4"]
    for move in LINE[1:]:
        (boris if move == "b6-a5" else anna).move(match_id, move)
    assert anna.get(f"/matches/{match_id}").json["position"] == found["position"]
    assert anna.get(f"/matches/{match_id}/legal-moves").json["hints"] == found["hints"]


def test_a_line_begins_at_any_ply_of_the_match(anna: Caller, boris: Caller, stranger: Caller) -> None:
    match_id = started(anna, boris)
    anna.move(match_id, "c3-d4")
    found = stranger.post(f"/matches/{match_id}/positions", {"ply": 0, "line": ["g3-h4"]}).json
    assert (found["ply"], found["line"], found["to_move"]) == (0, ["g3-h4"], 1)
    refused = stranger.post(f"/matches/{match_id}/positions", {"ply": 2, "line": []})
    assert (refused.status_code, list(refused.json["errors"])) == (422, ["ply"])


def test_an_illegal_move_is_named_by_its_place_in_the_line(anna: Caller, boris: Caller) -> None:
    match_id = started(anna, boris)
    refused = anna.post(f"/matches/{match_id}/positions", {"line": ["c3-d4", "c3-d4"]})
    assert (refused.status_code, refused.json["code"], list(refused.json["errors"])) == (
        422,
        "illegal-move",
        ["line.1"],
    )


def test_nobody_looks_into_a_private_match_by_imagining(anna: Caller, boris: Caller, stranger: Caller) -> None:
    match_id = started(anna, boris, private=True)
    assert stranger.post(f"/matches/{match_id}/positions", {"line": []}).status_code == 404


def test_an_end_that_takes_long_to_prove_is_answered_as_not_known(stranger: Caller) -> None:
    crafted = "2m/BPWCR1/2W2P3/r2Dn2P2/NKM5n1/1P1C3b1/wn2cWd1nq/m5Q2R/6b2/1bd1k1/2m w - RBNK/RBNK - 0 1"
    shown = stranger.get(f"/games/four-towers/positions?position={quote(crafted)}").json
    assert (shown["position"], shown["outcome"], shown["outcome_known"], shown["legal_moves"]) == (
        crafted,
        None,
        False,
        [],
    )
    mate = "b1l/3bB1/9/1nbW1lwdd1/7P2/1Pq3D1B/1ck2d3K/10/1P7/2qb1m/3 w - RNK/RBK - 80 7"
    shown = stranger.get(f"/games/four-towers/positions?position={quote(mate)}").json
    assert (shown["outcome"]["reason"], shown["outcome_known"]) == ("checkmate", True)


def test_the_end_of_a_line_says_whether_its_result_is_known(anna: Caller, boris: Caller) -> None:
    match_id = started(anna, boris)
    assert anna.post(f"/matches/{match_id}/positions", {"line": LINE}).json["result_known"] is True


TO_A_CAPTURE = ["c3-d4", "b6-a5", "b2-c3", "d6-c5"]
"""Bashni: then d4 must capture c5."""
TO_A_CHECK = ["h2-i4", "f10-e8", "e3+f3", "R/d11+d10", "h1-h2", "e8xe2"]
"""Four Towers: Black's dragon takes on e2, next to the white king."""


def told(caller: Caller, match_id: str, square: str) -> str | None:
    answer = caller.get(f"/matches/{match_id}/squares/{square}")
    assert answer.status_code == 200, answer.text
    assert answer.headers["ETag"] == f'"{answer.json["version_tag"]}"'
    return None if answer.json["reason"] is None else str(answer.json["reason"])


def test_a_square_says_what_is_on_it_and_why_nothing_can_begin_there(anna: Caller, boris: Caller) -> None:
    match_id = started(anna, boris)
    shown = anna.get(f"/matches/{match_id}/squares/a1").json
    assert (shown["square"], shown["contents"]) == ("a1", "a1: white man")
    assert "blocked" in shown["reason"]
    assert told(boris, match_id, "c3") is None
    assert told(anna, match_id, "b6") == "the column on b6 is Black's, and White is to move"
    for ply, move in enumerate(TO_A_CAPTURE):
        assert (anna, boris)[ply % 2].move(match_id, move).status_code == 201
    legal = anna.get(f"/matches/{match_id}/legal-moves").json
    assert legal["demand"] == "You must capture: d4 can."
    assert told(anna, match_id, "c3") == "you must capture: d4 can"
    assert anna.post(f"/matches/{match_id}/resignation", {}).status_code == 201
    assert told(anna, match_id, "c3") == "the match is over"
    assert anna.get(f"/matches/{match_id}/legal-moves").json["demand"] == ""


def test_a_square_that_the_board_does_not_have_is_not_found(anna: Caller) -> None:
    match_id = anna.create(ME, OPEN)
    assert told(anna, match_id, "a1") == "the match has not started"
    for square in ("i9", "A1", "a1a1", "0"):
        answer = anna.get(f"/matches/{match_id}/squares/{square}")
        assert (answer.status_code, answer.json["code"]) == (404, "not-found")


def test_a_check_is_on_the_page_in_the_list_of_moves_and_in_the_legal_moves(anna: Caller, boris: Caller) -> None:
    match_id = started(anna, boris, game="four-towers", setup="standard")
    for ply, move in enumerate(TO_A_CHECK):
        assert (anna, boris)[ply % 2].move(match_id, move).status_code == 201
    shown = anna.get(f"/matches/{match_id}").json
    assert (shown["spelled"][-1], shown["moves"][-1]) == ("e8xe2+", "e8xe2")
    assert anna.get(f"/matches/{match_id}/legal-moves").json["checked"] == ["g1"]
    page = anna.client.get(f"/matches/{match_id}").text
    assert "Your king on g1 is in check." in page
    assert "White&#39;s king on g1 is in check." in boris.client.get(f"/matches/{match_id}").text
    assert "<span>e8xe2+</span>" in page
    assert page.count('<path class="check"') == 1
    assert 'aria-label="g1, arena III: white king, in check"' in page
    assert '<path class="check"' not in anna.client.get(f"/matches/{match_id}/board.svg?ply=5").text
    assert '<tr><th scope="row">Lost</th><td>cardinal</td><td>–</td></tr>' in page


def test_what_the_rules_demand_is_said_to_the_player_to_move_alone(anna: Caller, boris: Caller) -> None:
    match_id = started(anna, boris)
    for ply, move in enumerate(TO_A_CAPTURE):
        assert (anna, boris)[ply % 2].move(match_id, move).status_code == 201
    assert "You must capture: d4 can." in anna.client.get(f"/matches/{match_id}").text
    assert "You must capture" not in boris.client.get(f"/matches/{match_id}").text


def test_moves_and_lines_are_written_loosely_and_stored_in_canonical_form(anna: Caller, boris: Caller) -> None:
    match_id = started(anna, boris)
    assert anna.move(match_id, "C3 D4").json["events"][0]["data"]["move"] == "c3-d4"
    lines = {"lines": [{"move": "B6A5", "next": [{"move": "d4xe5"}]}]}
    laid = anna.put(f"/matches/{match_id}/lines", lines).json["lines"]
    assert (laid[0]["move"], laid[0]["next"][0]["move"]) == ("b6-a5", "d4-e5")
    refused = boris.move(match_id, "b6d8")
    assert (refused.status_code, refused.json["code"]) == (422, "illegal-move")
