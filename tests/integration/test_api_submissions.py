"""Several moves in one request: an army of Fourplay's draft."""

from typing import Any

import pytest
from flask import Flask

from tests.support.callers import ME, Caller, invited
from tests.support.tables import table

NAMES = ("anna", "boris", "clara", "david")


@pytest.fixture
def players(app: Flask) -> list[Caller]:
    return [Caller(app).sign_up(name) for name in NAMES]


@pytest.fixture
def match_id(players: list[Caller]) -> str:
    """Return a match of theirs in which anna has to set up an army."""
    first, *others = players
    match_id = first.create(ME, *(invited(each.name) for each in others), game="fourplay", setup="draft")
    for each in others:
        assert each.post(f"/matches/{match_id}/joins").status_code == 201
    return match_id


def legal(caller: Caller, match_id: str) -> dict[str, Any]:
    answer: dict[str, Any] = caller.get(f"/matches/{match_id}/legal-moves").json
    return answer


def army(caller: Caller, match_id: str) -> list[str]:
    draft = legal(caller, match_id)["draft"]
    return [*draft["ready"], draft["done"]]


def test_all_four_armies_are_set_up_in_four_requests(players: list[Caller], match_id: str) -> None:
    for seat, player in enumerate(players):
        found = legal(player, match_id)
        assert found["to_move"] == seat
        assert (found["draft"]["budget"], found["draft"]["least"], found["draft"]["placed"]) == (60, 51, {})
        moves = army(player, match_id)
        answer = player.post(f"/matches/{match_id}/moves", {"moves": moves}, If_Match=f'"{found["version_tag"]}"')
        assert answer.status_code == 201, answer.text
        assert [event["data"]["move"] for event in answer.json["events"]] == moves
        assert {event["type"] for event in answer.json["events"]} == {"move-submitted"}
        assert answer.json["version"] == found["version"] + len(moves)
    assert legal(players[0], match_id)["draft"] is None


def test_a_repeated_submission_counts_once(players: list[Caller], match_id: str) -> None:
    anna, moves = players[0], army(players[0], match_id)
    first, again = (anna.post(f"/matches/{match_id}/moves", {"moves": moves}, Idempotency_Key="army") for _ in range(2))
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.json == first.json
    assert again.headers["Idempotency-Replayed"] == "true"
    assert len(anna.get(f"/matches/{match_id}").json["moves"]) == len(moves)
    other = anna.post(f"/matches/{match_id}/moves", {"moves": moves[:-1]}, Idempotency_Key="army")
    assert other.json["code"] == "idempotency-key-reused"


def test_a_submission_for_another_version_is_refused(players: list[Caller], match_id: str) -> None:
    anna, moves, tag = players[0], army(players[0], match_id), legal(players[0], match_id)["version_tag"]
    assert anna.move(match_id, "K@g7").status_code == 201
    stale = anna.post(f"/matches/{match_id}/moves", {"moves": moves}, If_Match=f'"{tag}"')
    assert (stale.status_code, stale.json["code"]) == (409, "stale-version")
    assert legal(anna, match_id)["draft"]["placed"] == {"g7": "K"}


def test_the_refusal_names_the_first_wrong_move_and_nothing_is_played(players: list[Caller], match_id: str) -> None:
    anna = players[0]
    refused = anna.post(f"/matches/{match_id}/moves", {"moves": ["K@a1", "Q@b2", "Q@c3", "x"]})
    assert (refused.status_code, refused.json["code"]) == (422, "illegal-move")
    assert refused.json["errors"] == {"moves.2": ["you have 1 of Queen already, the most allowed"]}
    beyond = anna.post(f"/matches/{match_id}/moves", {"moves": [*army(anna, match_id), "K@a9"]})
    assert (beyond.status_code, beyond.json["code"]) == (409, "not-your-turn")
    assert list(beyond.json["errors"]) == ["moves.17"]
    assert anna.get(f"/matches/{match_id}").json["moves"] == []


@pytest.mark.parametrize(
    ("body", "field", "reason"),
    [
        *table(__file__, "a request has one move or a list of them"),
        ({"moves": ["K@a1"] * 65}, "moves", "must have 1 to 64 moves"),
    ],
)
def test_a_request_has_one_move_or_a_list_of_them(
    body: dict[str, Any], field: str, reason: str, players: list[Caller], match_id: str
) -> None:
    refused = players[0].post(f"/matches/{match_id}/moves", body)
    assert (refused.status_code, refused.json["errors"]) == (422, {field: [reason]})
