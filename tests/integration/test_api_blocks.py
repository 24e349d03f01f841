"""People who do not want to hear from others: blocks, mutes, invitations, kept seats, and who writes in chats."""

import re
from typing import Any

import pytest
from flask import Flask

from api.access.limits import Limits
from api.services import Services
from events.people.blocks import MAX_BLOCKS
from tests.support.callers import ME, OPEN, Caller, app_on, invited, opponent, started
from tests.support.projected import project
from tests.support.server import RealServer


@pytest.fixture
def clara(app: Flask) -> Caller:
    return Caller(app).sign_up("clara")


def texts(who: Caller, match_id: str) -> list[str]:
    """Return what ``who`` is shown of a chat."""
    return [each["text"] for each in who.get(f"/matches/{match_id}/chat").json["items"]]


def test_a_list_is_its_owners_own_and_names_whom_and_how(anna: Caller, boris: Caller, clara: Caller) -> None:
    assert anna.put("/me/blocks/boris", {}).status_code == 204
    assert anna.put("/me/mutes/clara", {}).status_code == 204
    listed = anna.get("/me/blocks").json["items"]
    assert {each["player"]["name"]: each["kind"] for each in listed} == {"boris": "block", "clara": "mute"}
    assert boris.get("/me/blocks").json["items"] == []
    assert anna.put("/me/mutes/boris", {}).status_code == 204, "the later word counts"
    assert anna.delete("/me/blocks/clara").status_code == 204
    assert anna.delete("/me/blocks/clara").json["code"] == "not-blocked"
    assert [each["kind"] for each in anna.get("/me/blocks").json["items"]] == ["mute"]


@pytest.mark.parametrize(
    ("player", "code"), [("anna", "not-blockable"), ("opponent-3", "not-blockable"), ("x", "no-such-player")]
)
def test_only_other_people_can_be_blocked(anna: Caller, player: str, code: str) -> None:
    assert anna.put(f"/me/blocks/{player}", {}).json["code"] == code


def test_the_number_of_people_on_a_list_is_limited(anna: Caller, boris: Caller, services: Services) -> None:
    for number in range(MAX_BLOCKS):
        services.blocks.put(anna.id, f"p{number}", "block")
    refused = anna.put("/me/blocks/boris", {})
    assert (refused.status_code, refused.json["code"]) == (409, "too-many-blocks")


def test_who_is_blocked_can_neither_invite_nor_take_a_seat_nor_play_again(anna: Caller, boris: Caller) -> None:
    over = started(anna, boris)
    anna.post(f"/matches/{over}/resignation")
    opened = anna.create(ME, OPEN)
    assert anna.put("/me/blocks/boris", {}).status_code == 204
    body = {"game": "bashni", "setup": "start", "seats": [ME, invited("anna")]}
    for refused in (
        boris.post("/matches", body),
        boris.post(f"/matches/{opened}/joins"),
        boris.post(f"/matches/{over}/rematches"),
    ):
        assert (refused.status_code, refused.json["code"]) == (403, "blocked")
        assert "anna" not in refused.text, "who it is that does not want to play is not told"
    assert boris.create(ME, opponent(1))
    assert anna.delete("/me/blocks/boris").status_code == 204
    assert boris.post(f"/matches/{opened}/joins").status_code == 201


def test_messages_of_whom_one_mutes_are_not_shown_to_oneself_alone(anna: Caller, boris: Caller) -> None:
    match_id = started(anna, boris)
    boris.post(f"/matches/{match_id}/chat", {"text": "Ha!"})
    anna.post(f"/matches/{match_id}/chat", {"text": "Please."})
    assert anna.put("/me/mutes/boris", {}).status_code == 204
    assert texts(anna, match_id) == ["Please."]
    assert texts(boris, match_id) == ["Ha!", "Please."]
    assert boris.post(f"/matches/{match_id}/chat", {"text": "Hello?"}).status_code == 201


def test_a_player_whom_all_others_in_a_match_block_cannot_talk_there(anna: Caller, boris: Caller) -> None:
    match_id = started(anna, boris)
    assert anna.put("/me/blocks/boris", {}).status_code == 204
    refused = boris.post(f"/matches/{match_id}/chat", {"text": "Ha!"})
    assert (refused.status_code, refused.json["code"]) == (403, "blocked")
    assert anna.post(f"/matches/{match_id}/chat", {"text": "Let us just play."}).status_code == 201


def test_invitations_of_one_person_to_another_are_limited(server: RealServer) -> None:
    app = app_on(server.url, Limits(invitations="2/day"))
    anna, boris, _clara = (Caller(app).sign_up(name) for name in ("anna", "boris", "clara"))
    body = {"game": "bashni", "setup": "start", "seats": [ME, invited("boris")]}
    first = anna.post("/matches", body, Idempotency_Key="one")
    assert anna.post("/matches", body, Idempotency_Key="one").json["id"] == first.json["id"], "once more is not again"
    assert anna.post("/matches", body).status_code == 201
    refused = anna.post("/matches", body)
    assert (refused.status_code, refused.json["code"]) == (429, "too-many-requests")
    assert "invited this player" in refused.json["detail"]
    assert anna.post("/matches", {**body, "seats": [ME, invited("clara")]}).status_code == 201
    assert boris.post("/matches", {**body, "seats": [ME, invited("anna")]}).status_code == 201


def test_after_the_end_others_may_join_the_chat(anna: Caller, boris: Caller, clara: Caller, stranger: Caller) -> None:
    match_id = started(anna, boris)
    path = f"/matches/{match_id}/chat"
    assert clara.put(f"{path}/openness", {}).json["code"] == "not-your-seat"
    assert anna.put(f"{path}/openness", {}).status_code == 204
    anna.post(f"/matches/{match_id}/resignation")
    heard = clara.get(path).json
    assert (heard["writable"], heard["open"]) == (False, False)
    refused = clara.post(path, {"text": "well played"})
    assert (refused.status_code, refused.json["code"]) == (403, "chat-closed")
    assert boris.post(path, {"text": "thank you"}).status_code == 201, "who played goes on talking"
    assert boris.put(f"{path}/openness", {}).status_code == 204
    heard = clara.get(path).json
    assert (heard["writable"], heard["open"]) == (True, True)
    assert clara.post(path, {"text": "well played"}).json["seat"] is None
    assert stranger.get(path).json["writable"] is False
    assert boris.delete(f"{path}/openness").status_code == 204
    assert clara.post(path, {"text": "one more thing"}).status_code == 403
    assert texts(stranger, match_id) == ["thank you", "well played"]


@pytest.fixture
def guest(app: Flask) -> Caller:
    return Caller(app).play_as_guest()


def allow(caller: Caller, who: str) -> None:
    settings = {**caller.get("/me/notice-settings").json, "who_may_invite": who}
    assert caller.put("/me/notice-settings", settings).status_code == 200


def invite(inviter: Caller) -> Any:
    return inviter.post("/matches", {"game": "bashni", "seats": [{"kind": "me"}, invited("anna")]})


def test_guests_invite_by_a_link_and_not_by_name(anna: Caller, boris: Caller, guest: Caller) -> None:
    refused = invite(guest)
    assert (refused.status_code, refused.json["code"]) == (403, "not-invitable")
    assert refused.json["detail"] == (
        "anna takes no invitations from guests. Leave the seat open, and send a link to the match instead."
    )
    assert invite(boris).status_code == 201
    match_id = guest.create({"kind": "me"}, {"kind": "open"})
    assert anna.post(f"/matches/{match_id}/joins").status_code == 201


def test_acquaintances_pass_the_setting(anna: Caller, boris: Caller, guest: Caller, services: Services) -> None:
    allow(anna, "anyone")
    assert invite(guest).status_code == 201
    allow(anna, "acquainted")
    assert invite(boris).json["code"] == "not-invitable"
    match_id = started(anna, boris)
    anna.move(match_id)
    boris.move(match_id)
    assert anna.post(f"/matches/{match_id}/resignation").status_code == 201
    project(services)
    assert invite(boris).status_code == 201
    allow(anna, "nobody")
    assert invite(boris).json["code"] == "not-invitable"


ANYONE = "Anyone with the link to this page can join"


def page(caller: Caller, path: str) -> str:
    answer = caller.client.get(path, headers={"Accept": "text/html"})
    assert answer.status_code == 200
    main = answer.text.split("<main", 1)[1].split("</main>", 1)[0]
    return " ".join(re.sub(r"<[^>]*>", " ", main).split())


def test_the_page_of_a_match_says_for_whom_seats_are_kept(app: Flask, anna: Caller, boris: Caller) -> None:
    match_id = anna.create(ME, invited("boris"))
    stranger, carla = Caller(app), Caller(app).sign_up("carla")
    for other in (stranger, carla):
        shown = page(other, f"/matches/{match_id}")
        assert "Waiting for boris to join. Black is reserved for boris." in shown
        assert ANYONE not in shown
        assert "Sign in to join" not in shown
        assert "Join as" not in shown
    assert "is reserved for" not in page(anna, f"/matches/{match_id}")
    assert "You are invited to play Black." in page(boris, f"/matches/{match_id}")


def test_free_and_kept_seats_are_told_apart(app: Flask, services: Services, anna: Caller, boris: Caller) -> None:
    match_id = anna.create(ME, invited("boris"), OPEN, OPEN, game="towers", setup="four-player")
    project(services)
    stranger, carla = Caller(app), Caller(app).sign_up("carla")
    shown = page(stranger, f"/matches/{match_id}")
    assert "Blue is reserved for boris." in shown
    assert ANYONE in shown
    assert "Sign in to join" in shown
    assert re.findall(r"Join as \w+", page(carla, f"/matches/{match_id}")) == ["Join as Red", "Join as Black"]
    lobby = page(carla, "/lobby")
    assert "Blue reserved for boris" in lobby
    assert "Red Black Join" in lobby
