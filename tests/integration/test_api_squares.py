"""What the API says about squares, demands and checks; and moves that are written loosely."""

from tests.support.callers import ME, OPEN, Caller, started

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
