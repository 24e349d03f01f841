"""Positions that a match could come to: played out from any ply, with nothing played."""

from tests.support.callers import started

LINE = ["c3-d4", "b6-a5", "d4-c5"]


def test_a_line_is_played_out_from_where_the_match_stands_and_nothing_is_played(anna, boris):
    match = started(anna, boris)
    anna.move(match, "c3-d4")
    found = anna.post(f"/matches/{match}/positions", {"line": LINE[1:]}).json
    assert (found["ply"], found["line"], found["to_move"], found["result"]) == (1, LINE[1:], 1, None)
    assert found["moves"] == [hint["move"] for hints in found["hints"].values() for hint in hints]
    assert anna.get(f"/matches/{match}").json["moves"] == ["c3-d4"]
    for move in LINE[1:]:
        (boris if move == "b6-a5" else anna).move(match, move)
    assert anna.get(f"/matches/{match}").json["position"] == found["position"]
    assert anna.get(f"/matches/{match}/legal-moves").json["hints"] == found["hints"]


def test_a_line_begins_at_any_ply_of_the_match(anna, boris, stranger):
    match = started(anna, boris)
    anna.move(match, "c3-d4")
    found = stranger.post(f"/matches/{match}/positions", {"ply": 0, "line": ["g3-h4"]}).json
    assert (found["ply"], found["line"], found["to_move"]) == (0, ["g3-h4"], 1)
    refused = stranger.post(f"/matches/{match}/positions", {"ply": 2, "line": []})
    assert (refused.status_code, list(refused.json["errors"])) == (422, ["ply"])


def test_an_illegal_move_is_named_by_its_place_in_the_line(anna, boris):
    match = started(anna, boris)
    refused = anna.post(f"/matches/{match}/positions", {"line": ["c3-d4", "c3-d4"]})
    assert (refused.status_code, refused.json["code"], list(refused.json["errors"])) == (
        422,
        "illegal-move",
        ["line.1"],
    )


def test_nobody_looks_into_a_private_match_by_imagining(anna, boris, stranger):
    match = started(anna, boris, private=True)
    assert stranger.post(f"/matches/{match}/positions", {"line": []}).status_code == 404
