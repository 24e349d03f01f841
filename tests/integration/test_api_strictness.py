"""Requests that are not what they should be: bodies, fields, addresses, methods; and what every answer carries."""

import json
import re
from collections.abc import Iterator
from typing import Any

import marshmallow as ma
import pytest
from flask import Flask
from werkzeug.test import TestResponse

from api.access.headers import stream_origin
from api.http.schemas import ExactlyOne, StrictSchema, flattened
from domain.search.budgets import offered_levels
from tests.support.callers import ME, OPEN, Caller
from tests.support.tables import table


def send(caller: Caller, body: bytes, content_type: str = "application/json") -> TestResponse:
    """POST raw bytes where a body with a label is wanted."""
    return caller.client.post("/api/v1/me/tokens", data=body, content_type=content_type)


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"{'label': 'x'}",
        b'{"label": "x",}',
        b'{"label": "x"} extra',
        b'{"label": NaN}',
        b'{"label": Infinity}',
        b'{"label": "x", "label": "y"}',
        b'{"label": "\xff"}',
        b'\xef\xbb\xbf{"label": "x"}',
        '{"label": "x"}'.encode("utf-16"),
        b'{"label": ' + b"9" * 5000 + b"}",
        b"[" * 60_000,
        b'{"label":' * 7_000,
    ],
)
def test_a_body_that_is_no_json_is_malformed(anna: Caller, body: bytes) -> None:
    refused = send(anna, body)
    assert (refused.status_code, refused.json["code"]) == (400, "malformed-json")


def test_a_request_without_a_body_sends_an_empty_object(anna: Caller) -> None:
    refused = send(anna, b"", "")
    assert (refused.status_code, list(refused.json["errors"])) == (422, ["label"])
    match_id = anna.create(ME, OPEN)
    assert anna.client.post(f"/api/v1/matches/{match_id}/abortion").status_code == 201


@pytest.mark.parametrize("body", [b"[]", b'"x"', b"5", b"null", b"true", b"[" * 900 + b"]" * 900])
def test_a_body_that_is_no_object_is_refused(anna: Caller, body: bytes) -> None:
    refused = send(anna, body)
    assert (refused.status_code, refused.json["code"]) == (422, "invalid-fields")
    assert list(refused.json["errors"]) == ["body"]


@pytest.mark.parametrize(("body", "field"), table(__file__, "a wrong field is named and never coerced"))
def test_a_wrong_field_is_named_and_never_coerced(anna: Caller, body: object, field: str) -> None:
    refused = send(anna, json.dumps(body).encode())
    assert (refused.status_code, refused.json["code"]) == (422, "invalid-fields")
    assert list(refused.json["errors"]) == [field]
    assert anna.get("/me/tokens").json["items"] == []


@pytest.mark.parametrize(
    "content_type", ["", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/xml"]
)
def test_only_json_is_read(anna: Caller, content_type: str) -> None:
    refused = send(anna, b'{"label": "x"}', content_type)
    assert (refused.status_code, refused.json["code"]) == (415, "not-json")
    assert send(anna, b'{"label": "x"}', "application/json; charset=utf-8").status_code == 201


def test_a_body_beyond_64_kib_is_too_large(anna: Caller) -> None:
    refused = send(anna, b'{"label": "' + b"x" * 65_536 + b'"}')
    assert (refused.status_code, refused.json["code"]) == (413, "too-large")


@pytest.mark.parametrize(("query", "field"), table(__file__, "a wrong query is refused at its field"))
def test_a_wrong_query_is_refused_at_its_field(stranger: Caller, query: str, field: str) -> None:
    refused = stranger.get(f"/matches?{query}")
    assert (refused.status_code, refused.json["code"]) == (422, "invalid-fields")
    assert list(refused.json["errors"]) == [field]


def test_an_unknown_address_and_an_unknown_method_are_problems(stranger: Caller) -> None:
    nowhere = stranger.get("/nowhere")
    assert (nowhere.status_code, nowhere.json["code"]) == (404, "not-found")
    wrong = stranger.client.put("/api/v1/me")
    assert (wrong.status_code, wrong.json["code"]) == (405, "method-not-allowed")
    assert wrong.headers["Allow"] == "GET, HEAD, OPTIONS"


def test_a_position_that_cannot_be_read_is_refused_with_the_place(stranger: Caller) -> None:
    refused = stranger.get("/games/bashni/positions?position=nonsense")
    assert (refused.status_code, refused.json["code"]) == (422, "malformed-position")
    assert list(refused.json["errors"]) == ["position"]
    assert stranger.get("/games/chess/positions?position=x").json["code"] == "no-such-game"


def test_a_position_is_shown_without_a_match(anna: Caller) -> None:
    started = anna.post(
        "/matches", {"game": "bashni", "setup": "start", "seats": [{"kind": "me"}, {"kind": "open"}]}
    ).json
    shown = anna.get(f"/games/bashni/positions?position={started['position'].replace(' ', '%20')}").json
    assert (shown["position"], shown["diagram"]) == (started["position"], started["diagram"])
    assert (shown["to_move"], shown["outcome"]) == (0, None)
    assert "c3-d4" in shown["legal_moves"]


def test_the_games_are_listed_with_seats_and_levels(stranger: Caller) -> None:
    games = {game["id"]: game for game in stranger.get("/games").json["items"]}
    four = {setup["name"]: setup for setup in games["towers"]["setups"]}["four-player"]
    assert len(four["seats"]) == 4
    assert games["bashni"]["levels"] == offered_levels("bashni")
    assert stranger.get("/games/towers").json == games["towers"]


def test_players_are_found_by_id_and_name_and_opponents_by_level(stranger: Caller, anna: Caller) -> None:
    for handle in (anna.id, "anna", "ANNA"):
        assert stranger.get(f"/players/{handle}").json["id"] == anna.id
    assert stranger.get("/players/opponent-4").json["level"] == 4
    for nobody in ("opponent-13", "opponent-04", "opponent-", "nobody"):
        assert stranger.get(f"/players/{nobody}").json["code"] == "no-such-player"


def test_every_answer_is_guarded_against_misuse_by_browsers(stranger: Caller) -> None:
    for path in ("/api/v1/games", "/api/v1/nowhere", "/healthz", "/openapi.json"):
        headers = stranger.client.get(path).headers
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["X-Frame-Options"] == "DENY"
        assert headers["Content-Security-Policy"] == "default-src 'none'; frame-ancestors 'none'"
    policy = stranger.client.get("/lobby", headers={"Accept": "text/html"}).headers["Content-Security-Policy"]
    assert "default-src 'self'" in policy
    assert "connect-src 'self' http://localhost:8001;" in policy
    assert "unsafe" not in policy
    assert stranger.get("/games").headers["Cache-Control"] == "private, no-cache"


def test_a_request_id_is_made_or_kept_when_it_is_harmless(stranger: Caller) -> None:
    assert re.fullmatch("[0-9a-f]{16}", stranger.get("/games").headers["X-Request-Id"])
    assert stranger.get("/games", X_Request_Id="from-a-proxy-1").headers["X-Request-Id"] == "from-a-proxy-1"
    assert stranger.get("/games", X_Request_Id="<script>").headers["X-Request-Id"] != "<script>"


@pytest.mark.parametrize(("configured", "host", "origin"), table(__file__, "a stream on this machine is named"))
def test_a_stream_on_this_machine_is_named_as_the_page_is(configured: str, host: str, origin: str) -> None:
    assert stream_origin(configured, host) == origin


def test_an_unforeseen_mistake_is_answered_without_its_details(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("the secret ingredient")

    monkeypatch.setitem(app.view_functions, "games.list_games", broken)
    refused = Caller(app).get("/games")
    assert (refused.status_code, refused.json["code"]) == (500, "internal-error")
    assert "ingredient" not in refused.text


def test_of_many_wrong_fields_the_first_twenty_are_named_and_the_others_counted(anna: Caller) -> None:
    body = {"label": "x", **{f"unknown-{number}": 1 for number in range(3000)}}
    refused = anna.post("/me/tokens", body)
    assert (refused.status_code, refused.json["code"]) == (422, "invalid-fields")
    assert (len(refused.json["errors"]), refused.json["more_errors"]) == (20, 2980)
    assert refused.json["detail"].endswith(" 2980 more fields are invalid.")
    assert len(refused.data) < 4000


def test_overlong_names_of_unknown_fields_are_cut(anna: Caller) -> None:
    refused = anna.post("/me/tokens", {"label": "x", **{f"{number}" + "x" * 2500: 1 for number in range(20)}})
    assert (refused.status_code, len(refused.json["errors"])) == (422, 20)
    assert len(refused.data) < 20_000


STRANGE: tuple[Any, ...] = (
    None, True, -1, 0.5, 10**18, "", " ", "x", "x" * 70_000, [], ["x"], [[]], [None] * 500, {}, {"x": 1},
)  # fmt: skip
"""Values of every kind: each field refuses some of them."""

BEGINNINGS = ("must ", "is ", "goes ", "has ")
"""How the rest of a sentence begins of which the name of the field is the subject."""

WORDS_OF_A_LIBRARY = ("missing data", "field", "valid", "invalid", "longer", "shorter", "none", "null value")


def schemas_that_read(base: type[StrictSchema] = StrictSchema) -> Iterator[type[StrictSchema]]:
    for schema in base.__subclasses__():
        if schema.__module__.startswith("api."):
            if schema is not ExactlyOne:
                yield schema
            yield from schemas_that_read(schema)


def refusals(schema: type[ma.Schema], sent: Any) -> list[tuple[str, str]]:
    """Return what is said of ``sent``, field by field."""
    try:
        schema().load(sent)
    except ma.ValidationError as error:
        return [(field, message) for field, found in flattened(error.messages).items() for message in found]
    return []


# Sorted: the order in which modules are imported differs between the processes of a run.
@pytest.mark.parametrize(
    "schema", sorted(schemas_that_read(), key=str), ids=lambda schema: f"{schema.__module__}.{schema.__name__}"
)
def test_every_schema_says_in_words_for_people_what_is_wrong_with_a_field(schema: type[StrictSchema]) -> None:
    names = schema().fields
    sent = [*STRANGE[1:], {"colour": "white"}, *({name: value} for name in names for value in STRANGE)]
    said = [refusal for each in sent for refusal in refusals(schema, each)]
    assert ("colour", "is not known here") in said
    assert {(name, "is missing") for name, field in names.items() if field.required} <= set(said)
    for field, message in said:
        assert message.startswith(BEGINNINGS), f"{field} {message}"
        assert not message.endswith((".", "!", "?")), f"{field} {message}"
        assert not message.lower().startswith(WORDS_OF_A_LIBRARY), f"{field} {message}"
    for name in (name for name, field in names.items() if not field.allow_none):
        assert name in dict(refusals(schema, {name: None}))


def test_the_reason_of_a_refusal_is_made_of_sentences_that_name_the_fields(anna: Caller) -> None:
    refused = anna.post("/matches", {"seats": [ME, {"kind": "opponent", "level": 13}], "colour": "white"}).json
    assert refused["detail"] == (
        "The field game is missing. The field seats.1.level must be 1 to 12. The field colour is not known here."
    )
    assert refused["errors"]["game"] == ["is missing"]
    many = anna.post("/matches", {f"x{number}": 1 for number in range(30)}).json
    assert many["detail"].endswith(" more fields are invalid.")
    query = anna.get("/matches?view=secret&cursor=").json
    assert query["detail"] == (
        "The field cursor must have 1 to 500 characters. The field view must be one of open, recent."
    )
    rules = anna.post("/matches", {"game": "towers", "seats": [ME, OPEN]}).json
    assert rules["detail"].endswith(".")
    assert ".." not in rules["detail"]


def test_the_setup_may_be_left_out_where_the_game_has_one(anna: Caller) -> None:
    made = anna.post("/matches", {"game": "bashni", "seats": [ME, OPEN]})
    assert (made.status_code, made.json["setup"]) == (201, "start")
    refused = anna.post("/matches", {"game": "towers", "seats": [ME, OPEN]})
    assert (refused.status_code, refused.json["code"]) == (422, "unknown-setup")
    assert refused.json["detail"] == "Say which setup of Towers: two-player, four-player or four-player-diagram."
    assert list(refused.json["errors"]) == ["setup"]
