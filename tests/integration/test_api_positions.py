"""Positions that a match could come to: played out from any ply, with nothing played."""

from urllib.parse import quote

from tests.support.callers import Caller, started

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
