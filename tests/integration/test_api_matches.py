"""Matches through the API: creating, reading, acting, and every refusal with its own status and kind."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from api.http.problems import KINDS
from api.services import Services
from tests.support.callers import ME, OPEN, REQUEST_ID, Caller, invited, opponent, started
from tests.support.tables import table


@pytest.fixture
def match_id(anna: Caller, boris: Caller) -> str:
    """Return a match of anna (to move) and boris that has just started."""
    return started(anna, boris)


def test_a_created_match_says_where_it_is_and_who_sits_where(anna: Caller, boris: Caller) -> None:
    body = {"game": "bashni", "setup": "start", "seats": [ME, invited("BORIS")], "private": True}
    made = anna.post("/matches", body)
    assert made.status_code == 201
    assert made.headers["Location"] == f"/api/v1/matches/{made.json['id']}"
    assert made.headers["ETag"] == f'"{made.json["version_tag"]}"'
    assert made.json["version_tag"].startswith("1-")
    assert made.json["status"] == "open"
    assert [(seat["state"], seat["player"]["name"]) for seat in made.json["seats"]] == [
        ("taken", "anna"),
        ("invited", "boris"),
    ]
    shown = anna.get(f"/matches/{made.json['id']}").json
    receipt = made.json["receipt"]
    assert (receipt["match"], receipt["version"]) == (shown["id"], 1)
    assert {**shown, "clock": None, "receipt": receipt} == {**made.json, "clock": None}


def test_a_match_of_opponents_starts_at_once(anna: Caller) -> None:
    match_id = anna.create(opponent(1), opponent(8), rated=True)
    shown = anna.get(f"/matches/{match_id}").json
    assert shown["status"] == "playing"
    assert shown["seats"][1]["player"] == {
        "id": "opponent-8",
        "name": "Computer, level 8",
        "kind": "opponent",
        "level": 8,
    }


def test_a_move_is_answered_with_its_events_and_the_new_version(anna: Caller, match_id: str) -> None:
    move = anna.legal_move(match_id)
    before = anna.get(f"/matches/{match_id}").json["version"]
    answer = anna.move(match_id, move)
    assert answer.status_code == 201
    assert answer.json["version"] == before + 1
    (event,) = answer.json["events"]
    assert answer.json["version_tag"] == f"{before + 1}-{event['id'][:16]}"
    assert answer.headers["ETag"] == f'"{answer.json["version_tag"]}"'
    assert (event["type"], event["actor"]) == ("move-submitted", anna.id)
    assert event["data"] == {"seat": 0, "ply": 1, "move": move, "channel": "web"}
    shown = anna.get(f"/matches/{match_id}").json
    assert (shown["moves"], shown["ply"], shown["to_move"]) == ([move], 1, 1)


def test_every_ply_of_a_match_can_be_looked_at(anna: Caller, boris: Caller, match_id: str) -> None:
    positions = [anna.get(f"/matches/{match_id}").json["position"]]
    for player in (anna, boris, anna):
        player.move(match_id)
        positions.append(anna.get(f"/matches/{match_id}").json["position"])
    for ply, position in enumerate(positions):
        shown = anna.get(f"/matches/{match_id}?ply={ply}").json
        assert (shown["shown_ply"], shown["position"], shown["ply"]) == (ply, position, 3)
    refused = anna.get(f"/matches/{match_id}?ply=4")
    assert (refused.status_code, list(refused.json["errors"])) == (422, ["ply"])


def test_a_ply_shows_the_position_before_the_next_one_resigned_or_not(app: Flask, anna: Caller, boris: Caller) -> None:
    four = [anna, boris, Caller(app).play_as_guest(), Caller(app).play_as_guest()]
    match_id = anna.create(ME, OPEN, OPEN, OPEN, game="fourplay", setup="standard")
    for player in four[1:]:
        assert player.post(f"/matches/{match_id}/joins").status_code == 201
    positions = [anna.get(f"/matches/{match_id}").json["position"]]
    for player in four[:2]:
        player.move(match_id)
        positions.append(anna.get(f"/matches/{match_id}").json["position"])
    four[2].post(f"/matches/{match_id}/resignation")
    positions[2] = anna.get(f"/matches/{match_id}").json["position"]
    four[3].move(match_id)
    shown = [anna.get(f"/matches/{match_id}?ply={ply}").json["position"] for ply in range(3)]
    assert shown == positions
    assert anna.get(f"/matches/{match_id}").json["ply"] == 3


def test_an_unchanged_match_is_not_sent_again(anna: Caller, match_id: str) -> None:
    etag = anna.get(f"/matches/{match_id}").headers["ETag"]
    again = anna.get(f"/matches/{match_id}", If_None_Match=etag)
    assert (again.status_code, again.data, again.headers["ETag"]) == (304, b"", etag)
    assert anna.get(f"/matches/{match_id}/legal-moves", If_None_Match=f"W/{etag}").status_code == 304
    anna.move(match_id)
    assert anna.get(f"/matches/{match_id}", If_None_Match=etag).status_code == 200


@pytest.mark.parametrize("path", ["/me/pending", "/me/queue", "/games"])
def test_an_unchanged_list_is_not_sent_again(
    anna: Caller, boris: Caller, match_id: str, services: Services, path: str
) -> None:
    services.projector.project([match_id])
    answer = anna.get(path)
    again = anna.get(path, If_None_Match=answer.headers["ETag"])
    assert (again.status_code, again.data) == (304, b"")
    if path != "/games":
        anna.move(match_id)
        boris.move(match_id)
        services.projector.project([match_id])
        assert anna.get(path, If_None_Match=answer.headers["ETag"]).status_code == 200


def test_legal_moves_are_the_hints_of_the_board(anna: Caller, match_id: str) -> None:
    legal = anna.get(f"/matches/{match_id}/legal-moves").json
    hinted = [hint["move"] for hints in legal["hints"].values() for hint in hints]
    assert sorted(hinted) == sorted(legal["legal_moves"])
    assert legal["to_move"] == 0


def test_events_are_read_page_by_page(anna: Caller, match_id: str) -> None:
    first = anna.get(f"/matches/{match_id}/events?limit=2").json
    rest = anna.get(f"/matches/{match_id}/events?after={first['next']}").json
    assert [event["version"] for event in (*first["items"], *rest["items"])] == [1, 2, 3]
    assert rest["next"] is None


def test_the_seed_of_a_match_is_nobodys_business(anna: Caller, services: Services) -> None:
    match_id = anna.create(ME, opponent(3))
    assert re.fullmatch("[0-9a-f]{32}", services.store.read(match_id)[0].data["seed"])
    (created, *_) = anna.get(f"/matches/{match_id}/events").json["items"]
    assert "seed" not in created["data"]


def test_nor_is_the_one_with_which_it_goes_on(anna: Caller, services: Services) -> None:
    match_id = anna.create(ME, opponent(3))
    assert anna.move(match_id, "c3-d4").status_code == 201
    asked = anna.post(f"/matches/{match_id}/takeback-requests")
    assert [event["type"] for event in asked.json["events"]] == ["takeback-requested", "moves-taken-back", "seed-drawn"]
    assert services.store.read(match_id)[-1].data["seed"] != services.store.read(match_id)[0].data["seed"]
    assert "seed" not in anna.get(f"/matches/{match_id}/events").json["items"][-1]["data"]
    assert asked.json["events"][-1]["data"] == {}


def test_anybody_may_watch_a_public_match(stranger: Caller, match_id: str) -> None:
    for part in ("", "/legal-moves", "/events"):
        assert stranger.get(f"/matches/{match_id}{part}").status_code == 200


def test_strangers_find_no_private_match_there(app: Flask, anna: Caller, boris: Caller, stranger: Caller) -> None:
    clara = Caller(app).sign_up("clara")
    match_id = anna.create(invited("boris"), OPEN, private=True)
    none = clara.get("/matches/m2222222222222222", **REQUEST_ID).json
    for visitor in (stranger, clara):
        for part in ("", "/legal-moves", "/events", "?ply=0"):
            refused = visitor.get(f"/matches/{match_id}{part}", **REQUEST_ID)
            assert (refused.status_code, refused.json) == (404, none)
    for act, body in (*ACTS, ("moves", {"move": "c3-d4"})):
        refused = clara.post(f"/matches/{match_id}/{act}", body, **REQUEST_ID)
        assert (refused.status_code, refused.json) == (404, none), act
    stale = clara.post(f"/matches/{match_id}/moves", {"move": "c3-d4"}, If_Match=f'"7-{"0" * 16}"', **REQUEST_ID)
    assert (stale.status_code, stale.json) == (404, none)
    for insider in (anna, boris):
        assert insider.get(f"/matches/{match_id}").status_code == 200


def test_a_match_can_be_won_by_resignation(anna: Caller, boris: Caller, match_id: str) -> None:
    answer = anna.post(f"/matches/{match_id}/resignation")
    assert [event["type"] for event in answer.json["events"]] == ["player-resigned", "match-finished"]
    shown = boris.get(f"/matches/{match_id}").json
    assert (shown["status"], shown["to_move"]) == ("finished", None)
    assert shown["result"] == {"scores": [0.0, 1.0], "reason": "resignation"}
    assert boris.get(f"/matches/{match_id}/legal-moves").json["legal_moves"] == []


def test_a_draw_is_offered_and_agreed(anna: Caller, boris: Caller, match_id: str) -> None:
    assert anna.post(f"/matches/{match_id}/draw-offers").status_code == 201
    assert boris.get(f"/matches/{match_id}").json["draw_agreed"] == [0]
    assert boris.post(f"/matches/{match_id}/draw-acceptance").status_code == 201
    assert boris.get(f"/matches/{match_id}").json["result"] == {"scores": [0.5, 0.5], "reason": "draw-agreed"}


def test_a_draw_offer_can_be_turned_down(anna: Caller, boris: Caller, match_id: str) -> None:
    anna.post(f"/matches/{match_id}/draw-offers")
    assert boris.post(f"/matches/{match_id}/draw-refusal").status_code == 201
    assert anna.get(f"/matches/{match_id}").json["draw_agreed"] == []


def test_an_invitation_can_be_declined(anna: Caller, boris: Caller) -> None:
    match_id = anna.create(ME, invited("boris"))
    assert boris.post(f"/matches/{match_id}/abortion").status_code == 201
    assert anna.get(f"/matches/{match_id}").json["status"] == "aborted"


ACTS: list[tuple[str, dict[str, Any]]] = [
    ("joins", {}),
    ("resignation", {}),
    ("abortion", {}),
    ("draw-offers", {}),
    ("draw-acceptance", {}),
    ("draw-refusal", {}),
]


Attempt = Callable[[], TestResponse]


class Table:
    """Two players, a third person and a started match, for the table of refusals."""

    def __init__(self, app: Flask, anna: Caller, boris: Caller) -> None:
        self.app, self.anna, self.boris = app, anna, boris
        self.clara = Caller(app).sign_up("clara")
        self.match = started(anna, boris)

    def act(self, who: Caller, act: str, body: object = None, **headers: str) -> Attempt:
        """Return an attempt of ``who`` to act on the match."""
        return lambda: who.post(f"/matches/{self.match}/{act}", body, **headers)

    def move(self, who: Caller, move: str, **headers: str) -> Attempt:
        """Return an attempt of ``who`` to submit ``move``."""
        return self.act(who, "moves", {"move": move}, **headers)

    def etag(self) -> str:
        return str(self.anna.get(f"/matches/{self.match}").headers["ETag"])

    def over(self) -> "Table":
        assert self.act(self.anna, "resignation")().status_code == 201
        return self

    def begun(self) -> "Table":
        assert self.anna.move(self.match).status_code == 201
        assert self.boris.move(self.match).status_code == 201
        return self

    def opened(self, *seats: dict[str, Any], **more: Any) -> "Table":
        """Replace the match by one that waits for players."""
        self.match = self.anna.create(*seats, **more)
        return self

    def offered(self) -> "Table":
        assert self.act(self.anna, "draw-offers")().status_code == 201
        return self

    def keyed(self) -> "Table":
        """Let anna move with the key k."""
        assert self.anna.move(self.match, Idempotency_Key="k").status_code == 201
        return self


REFUSALS: list[tuple[str, Callable[[Table], Attempt]]] = [
    ("not-signed-in", lambda t: t.move(Caller(t.app), "c3-d4")),
    ("invalid-token", lambda t: t.move(Caller(t.app), "c3-d4", Authorization="Bearer nonsense")),
    ("cross-origin", lambda t: t.move(t.anna, "c3-d4", Origin="https://evil.example")),
    ("not-your-seat", lambda t: t.move(t.clara, "c3-d4")),
    ("not-your-seat", lambda t: t.act(t.clara, "resignation")),
    ("not-your-seat", lambda t: t.act(t.clara, "abortion")),
    ("not-your-seat", lambda t: t.act(t.clara, "draw-offers")),
    ("not-your-turn", lambda t: t.move(t.boris, "c3-d4")),
    ("malformed-move", lambda t: t.move(t.anna, "castle")),
    ("malformed-move", lambda t: t.move(t.anna, "x" * 10_000)),
    ("invalid-fields", lambda t: t.move(t.anna, "x" * 10_001)),
    ("invalid-fields", lambda t: t.move(t.anna, "")),
    ("illegal-move", lambda t: t.move(t.anna, "c3-e5")),
    ("stale-version", lambda t: t.move(t.anna, "c3-d4", If_Match=f'"1-{"0" * 16}"')),
    ("stale-version", lambda t: t.move(t.anna, "c3-d4", If_Match=f'"3-{"0" * 16}"')),
    ("version-tag-required", lambda t: t.move(t.anna, "c3-d4", If_Match=f"W/{t.etag()}")),
    ("version-tag-required", lambda t: t.move(t.anna, "c3-d4", If_Match='"3"')),
    ("version-tag-required", lambda t: t.move(t.anna, "c3-d4", If_Match="3")),
    ("invalid-fields", lambda t: t.move(t.anna, "c3-d4", If_Match=f"3-{'0' * 16}")),
    ("invalid-fields", lambda t: t.move(t.anna, "c3-d4", If_Match='"3-3fa9"')),
    ("invalid-fields", lambda t: t.move(t.anna, "c3-d4", If_Match="*")),
    ("invalid-fields", lambda t: t.move(t.anna, "c3-d4", Idempotency_Key="two words")),
    ("invalid-fields", lambda t: t.move(t.anna, "c3-d4", Idempotency_Key="k" * 129)),
    ("idempotency-key-reused", lambda t: t.keyed().move(t.anna, "another", Idempotency_Key="k")),
    ("match-over", lambda t: t.over().move(t.boris, "c3-d4")),
    ("match-over", lambda t: t.over().act(t.boris, "draw-offers")),
    ("match-over", lambda t: t.over().act(t.clara, "joins")),
    ("match-not-started", lambda t: t.opened({"kind": "me"}, {"kind": "open"}).move(t.anna, "c3-d4")),
    ("seats-taken", lambda t: t.act(t.clara, "joins")),
    ("seats-taken", lambda t: t.opened(ME, invited("boris")).act(t.clara, "joins")),
    ("seat-taken", lambda t: t.opened(ME, OPEN).act(t.clara, "joins", {"seat": 0})),
    ("invalid-seats", lambda t: t.opened(ME, OPEN).act(t.clara, "joins", {"seat": 2})),
    ("already-seated", lambda t: t.opened(ME, OPEN).act(t.anna, "joins")),
    ("guests-play-unrated", lambda t: t.opened(ME, OPEN, rated=True).act(Caller(t.app).play_as_guest(), "joins")),
    ("draw-already-offered", lambda t: t.offered().act(t.anna, "draw-offers")),
    ("no-draw-offer", lambda t: t.act(t.boris, "draw-acceptance")),
    ("no-draw-offer", lambda t: t.act(t.boris, "draw-refusal")),
    ("no-draw-offer", lambda t: t.offered().act(t.anna, "draw-acceptance")),
    ("too-late-to-abort", lambda t: t.begun().act(t.anna, "abortion")),
]


@pytest.mark.parametrize(("code", "prepare"), REFUSALS, ids=[f"{n}-{code}" for n, (code, _) in enumerate(REFUSALS)])
def test_a_refusal_has_its_status_and_kind_and_changes_nothing(
    code: str, prepare: Callable[[Table], Attempt], app: Flask, anna: Caller, boris: Caller, services: Services
) -> None:
    table = Table(app, anna, boris)
    attempt = prepare(table)
    before = services.store.read(table.match)
    refused = attempt()
    status, title, _ = KINDS[code]
    assert (refused.status_code, refused.content_type) == (status, "application/problem+json"), refused.text
    assert (refused.json["code"], refused.json["type"]) == (code, f"/problems/{code}")
    assert (refused.json["status"], refused.json["title"]) == (status, title)
    assert refused.json["detail"]
    assert services.store.read(table.match) == before


def test_a_stale_version_says_which_is_current(anna: Caller, match_id: str) -> None:
    seen = anna.get(f"/matches/{match_id}/legal-moves").json
    anna.post(f"/matches/{match_id}/draw-offers")
    refused = anna.move(match_id, "c3-d4", If_Match=f'"{seen["version_tag"]}"')
    assert refused.json["current_version"] == 4
    assert refused.json["detail"] == "The match is at version 4: read it again before you act."
    assert anna.move(match_id, If_Match=f'"{refused.json["current_version_tag"]}"').status_code == 201


def test_a_refused_move_names_its_field_and_the_reason(anna: Caller, match_id: str) -> None:
    refused = anna.move(match_id, "c3-e5")
    assert list(refused.json["errors"]) == ["move"]
    assert refused.json["errors"]["move"][0]


@pytest.mark.parametrize(("change", "code", "field"), table(__file__, "a match that cannot be is refused at the field"))
def test_a_match_that_cannot_be_is_refused_at_the_field(
    anna: Caller, services: Services, change: dict[str, object], code: str, field: str
) -> None:
    body = {"game": "bashni", "setup": "start", "seats": [ME, OPEN], **change}
    refused = anna.post("/matches", body)
    assert (refused.status_code, refused.json["code"]) == (422, code)
    assert list(refused.json["errors"]) == [field]
    assert [list(services.store.streams(shard)) for shard in range(services.store.shards)] == [[]] * 16


def test_a_whole_float_is_a_whole_number_as_json_schema_has_it(anna: Caller) -> None:
    assert anna.create(ME, {"kind": "opponent", "level": 3.0})
