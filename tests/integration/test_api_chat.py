"""What is said and written beside a match: chat, notes and explorations, and who sees them."""

from typing import Any

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from tests.support.callers import Caller, started
from tests.support.tables import table


@pytest.fixture
def clara(app: Flask) -> Caller:
    return Caller(app).sign_up("clara")


@pytest.fixture
def match_id(anna: Caller, boris: Caller) -> str:
    """Return a match of anna (to move) and boris that has just started."""
    return started(anna, boris)


def said(who: Caller, match_id: str, query: str = "") -> list[tuple[int, str, int | None, str]]:
    """Return what ``who`` hears of the chat: number, author, seat and text of each message."""
    heard = who.get(f"/matches/{match_id}/chat{query}")
    assert heard.status_code == 200, heard.text
    return [(each["id"], each["author"]["name"], each["seat"], each["text"]) for each in heard.json["items"]]


def test_players_talk_and_spectators_hear_them_when_it_is_over(
    anna: Caller, boris: Caller, clara: Caller, stranger: Caller, match_id: str
) -> None:
    assert anna.post(f"/matches/{match_id}/chat", {"text": "good luck"}).status_code == 201
    assert boris.post(f"/matches/{match_id}/chat", {"text": "Удачи!\n"}).json["seat"] == 1
    assert said(boris, match_id) == [(1, "anna", 0, "good luck"), (2, "boris", 1, "Удачи!\n")]
    for refused in (
        clara.get(f"/matches/{match_id}/chat"),
        clara.post(f"/matches/{match_id}/chat", {"text": "d4!"}),
        stranger.get(f"/matches/{match_id}/chat"),
    ):
        assert (refused.status_code, refused.json["code"]) == (403, "chat-closed")
    assert len(said(anna, match_id)) == 2
    anna.post(f"/matches/{match_id}/resignation")
    assert boris.post(f"/matches/{match_id}/chat", {"text": "well played"}).json["seat"] == 1
    assert [text for *_, text in said(stranger, match_id)] == ["good luck", "Удачи!\n", "well played"]
    assert clara.post(f"/matches/{match_id}/chat", {"text": "me too"}).json["code"] == "chat-closed"
    assert stranger.post(f"/matches/{match_id}/chat", {"text": "me too"}).json["code"] == "not-signed-in"


def test_a_chat_is_read_page_by_page_and_from_a_message_on(anna: Caller, match_id: str) -> None:
    for number in range(1, 6):
        assert anna.post(f"/matches/{match_id}/chat", {"text": f"{number}"}).json["id"] == number
    first = anna.get(f"/matches/{match_id}/chat?limit=3").json
    assert first["next"] == 3
    assert [text for *_, text in said(anna, match_id, f"?after={first['next']}&limit=2")] == ["4", "5"]
    assert anna.get(f"/matches/{match_id}/chat?after=3&limit=2").json["next"] is None


def test_a_message_that_is_sent_twice_is_said_once(anna: Caller, boris: Caller, match_id: str) -> None:
    path = f"/matches/{match_id}/chat"
    first, again = (anna.post(path, {"text": "once"}, Idempotency_Key="k") for _ in range(2))
    assert (again.status_code, again.json) == (201, first.json)
    other = anna.post(path, {"text": "another"}, Idempotency_Key="k")
    assert (other.status_code, other.json["code"]) == (422, "idempotency-key-reused")
    assert boris.post(path, {"text": "once"}, Idempotency_Key="k").json["id"] == 2


def test_the_chat_is_no_part_of_the_match(anna: Caller, match_id: str) -> None:
    before = anna.get(f"/matches/{match_id}/events").json
    anna.post(f"/matches/{match_id}/chat", {"text": "good luck"})
    assert anna.get(f"/matches/{match_id}/events").json == before


def test_a_chat_has_an_end(anna: Caller, match_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("events.people.chats.MAX_MESSAGES_PER_CHAT", 1)
    anna.post(f"/matches/{match_id}/chat", {"text": "the only one"})
    refused = anna.post(f"/matches/{match_id}/chat", {"text": "one more"})
    assert (refused.status_code, refused.json["code"]) == (409, "chat-full")
    assert len(said(anna, match_id)) == 1


@pytest.mark.parametrize("text", ["", " \n\t", "x" * 2001, None, 5, "\ud800"])
def test_what_is_no_message_is_refused_at_its_field(anna: Caller, match_id: str, text: object) -> None:
    body = b'{"text":"\\ud800"}' if text == "\ud800" else None
    path = f"/matches/{match_id}/chat"
    if body is None:
        refused: TestResponse = anna.post(path, {"text": text})
    else:
        refused = anna.client.post(f"/api/v1{path}", data=body, content_type="application/json")
    assert (refused.status_code, list(refused.json["errors"])) == (422, ["text"])
    assert said(anna, match_id) == []


def test_notes_are_ones_own(anna: Caller, boris: Caller, clara: Caller, match_id: str) -> None:
    assert anna.get(f"/matches/{match_id}/notes").json == {"text": ""}
    assert anna.put(f"/matches/{match_id}/notes", {"text": "he likes c5"}).json == {"text": "he likes c5"}
    assert anna.get(f"/matches/{match_id}/notes").json == {"text": "he likes c5"}
    assert boris.get(f"/matches/{match_id}/notes").json == {"text": ""}
    refused = clara.get(f"/matches/{match_id}/notes")
    assert (refused.status_code, refused.json["code"]) == (403, "not-your-seat")
    too_long = anna.put(f"/matches/{match_id}/notes", {"text": "x" * 20_001})
    assert (too_long.status_code, list(too_long.json["errors"])) == (422, ["text"])
    anna.put(f"/matches/{match_id}/notes", {"text": ""})
    assert anna.get(f"/matches/{match_id}/notes").json == {"text": ""}


TREE: list[dict[str, Any]] = [
    {
        "move": "c3-d4",
        "comment": "The usual one.",
        "next": [{"move": move, "comment": "", "next": []} for move in ("h6-g5", "b6-a5")],
    },
    {"move": "a3-b4", "comment": "", "next": []},
]


def test_an_exploration_is_played_out_kept_and_ones_own(anna: Caller, boris: Caller, match_id: str) -> None:
    path = f"/matches/{match_id}/exploration"
    nothing: dict[str, Any] = {"ply": None, "position": None, "tree": []}
    assert anna.get(path).json == nothing
    kept = anna.put(path, {"ply": 0, "tree": TREE}).json
    assert kept == {"ply": 0, "position": anna.get(f"/matches/{match_id}?ply=0").json["position"], "tree": TREE}
    anna.move(match_id, "c3-d4")
    assert anna.get(path).json == kept
    assert boris.get(path).json == nothing
    assert anna.put(path, {"ply": 1, "tree": TREE[0]["next"]}).json["ply"] == 1
    assert anna.put(path, {"ply": 0, "tree": []}).json == anna.get(path).json == nothing


@pytest.mark.parametrize(
    ("body", "code", "field"),
    [
        *table(__file__, "illegal explorations are refused"),
        ({"ply": 1, "tree": TREE}, "no-such-ply", "ply"),
        ({"ply": -1, "tree": TREE}, "invalid-fields", "ply"),
        ({"ply": 0, "tree": [{"move": "c3-d4", "next": [{"move": "h6-g5"}] * 500}]}, "invalid-lines", "tree"),
    ],
)
def test_illegal_explorations_are_refused(anna: Caller, match_id: str, body: object, code: str, field: str) -> None:
    path = f"/matches/{match_id}/exploration"
    before = anna.put(path, {"ply": 0, "tree": TREE}).json
    refused = anna.put(path, body)
    assert (refused.status_code, refused.json["code"], list(refused.json["errors"])) == (422, code, [field])
    assert anna.get(path).json == before


@pytest.mark.parametrize("part", ["chat", "notes", "exploration", "lines"])
def test_a_private_match_takes_no_words_of_others(anna: Caller, boris: Caller, clara: Caller, part: str) -> None:
    match_id = started(anna, boris, private=True)
    bodies = {"chat": {"text": "x"}, "notes": {"text": "x"}, "exploration": {"ply": 0, "tree": []}, "lines": {}}
    path = f"/matches/{match_id}/{part}"
    acted = clara.post(path, bodies[part]) if part == "chat" else clara.put(path, bodies[part])
    for refused in (clara.get(path), acted):
        assert (refused.status_code, refused.json["code"]) == (404, "no-such-match")
