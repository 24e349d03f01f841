"""Signing up and in, guests, tokens, cookies."""

import re
from itertools import count
from typing import Literal

import pytest
from argon2 import PasswordHasher
from flask import Flask

from api.access.auth import COOKIE, SECURE_COOKIE
from api.access.headers import behind_proxies
from api.access.limits import Limits
from api.app import create_app
from api.services import EXTENSION
from events.people.accounts import NameTakenError, People
from events.people.passwords import Passwords
from events.people.person import UnknownPersonError
from events.runtime.connections import StoreClient
from tests.support.callers import ME, OPEN, QUICK_HASHES, REQUEST_ID, Caller, app_on, settings_for
from tests.support.proxy import LossyProxy
from tests.support.server import RealServer
from tests.support.tables import table


def test_who_signs_up_is_signed_in(anna: Caller) -> None:
    me = anna.get("/me")
    assert me.status_code == 200
    assert (me.json["name"], me.json["kind"], me.json["level"]) == ("anna", "person", None)
    assert re.fullmatch("p[a-z2-7]{16}", me.json["id"])


def test_the_session_cookie_is_hidden_from_scripts_and_other_sites(app: Flask) -> None:
    answer = Caller(app).post("/guests")
    cookie = answer.headers["Set-Cookie"]
    assert cookie.startswith(f"{COOKIE}=")
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie


def test_a_name_is_taken_in_any_case(anna: Caller, stranger: Caller) -> None:
    refused = stranger.post("/players", {"name": "ANNA", "password": "long enough"})
    assert (refused.status_code, refused.json["code"]) == (409, "name-taken")
    assert refused.json["errors"] == {"name": ["is taken"]}


@pytest.mark.parametrize("name", ["opponent-3", "guest-me", "Arbiter", "x", "with space", "Ünal"])
def test_a_name_that_nobody_may_have_is_refused_with_its_field(stranger: Caller, name: str) -> None:
    refused = stranger.post("/players", {"name": name, "password": "long enough"})
    assert (refused.status_code, refused.json["code"]) == (422, "invalid-fields")
    assert list(refused.json["errors"]) == ["name"]


def test_signing_in_needs_name_and_password_to_fit(anna: Caller, stranger: Caller) -> None:
    wrong = stranger.post("/sessions", {"name": "anna", "password": "not the secret"}, **REQUEST_ID)
    unknown = stranger.post("/sessions", {"name": "nobody", "password": "not the secret"}, **REQUEST_ID)
    assert wrong.status_code == unknown.status_code == 401
    assert wrong.json == unknown.json, "the answer must not tell which names exist"
    right = stranger.post("/sessions", {"name": "Anna", "password": "the secret of anna"})
    assert (right.status_code, right.json["id"]) == (201, anna.id)


def test_an_unknown_name_costs_as_much_as_a_wrong_password(redis: StoreClient, monkeypatch: pytest.MonkeyPatch) -> None:
    verified: list[str] = []

    class Counting(PasswordHasher):
        def verify(self, hash: str | bytes, password: str | bytes) -> Literal[True]:
            verified.append(str(hash).rpartition("$")[0].rpartition("$")[0])
            return super().verify(hash, password)

    hasher = Counting(time_cost=1, memory_cost=8, parallelism=1)
    people = People(redis, "rk:", lambda: 0, Passwords(hasher))
    people.sign_up("anna", "long enough")
    assert people.sign_in("anna", "not the secret") is None
    assert people.sign_in("nobody", "not the secret") is None
    assert len(verified) == 2
    assert verified[0] == verified[1], "both hashes have the same kind and cost"


def test_signing_out_ends_the_session_for_all_who_have_its_cookie(app: Flask, anna: Caller) -> None:
    cookie = anna.client.get_cookie(COOKIE)
    assert cookie is not None
    assert anna.delete("/sessions/current").status_code == 204
    assert anna.get("/me").status_code == 401
    thief = Caller(app)
    thief.client.set_cookie(COOKIE, cookie.value)
    assert thief.get("/me").json["code"] == "not-signed-in"


def signed_in_again(app: Flask, name: str, password: str) -> Caller:
    """Return somebody who has signed in on another device."""
    caller = Caller(app)
    assert caller.post("/sessions", {"name": name, "password": password}).status_code == 201
    return caller


def test_signing_out_everywhere_ends_all_sessions_and_no_token(app: Flask, anna: Caller, boris: Caller) -> None:
    elsewhere, token = signed_in_again(app, "anna", "the secret of anna"), anna.token()
    assert anna.delete("/sessions").status_code == 204
    assert [caller.get("/me").status_code for caller in (anna, elsewhere, boris)] == [401, 401, 200]
    assert Caller(app).get("/me", Authorization=token).json["id"] == anna.id


def test_a_new_password_ends_all_sessions_but_the_one_that_set_it(app: Flask, anna: Caller) -> None:
    elsewhere = signed_in_again(app, "anna", "the secret of anna")
    wrong = anna.put("/me/password", {"current": "not the secret", "password": "another secret"})
    assert (wrong.status_code, wrong.json["errors"]) == (422, {"current": ["is not your password"]})
    short = anna.put("/me/password", {"current": "the secret of anna", "password": "short"})
    assert (short.status_code, list(short.json["errors"])) == (422, ["password"])
    assert elsewhere.get("/me").status_code == 200, "what is refused changes nothing"
    cookie = anna.client.get_cookie(COOKIE)
    assert anna.put("/me/password", {"current": "the secret of anna", "password": "another secret"}).status_code == 204
    assert [caller.get("/me").status_code for caller in (anna, elsewhere)] == [200, 401]
    assert anna.client.get_cookie(COOKIE) != cookie, "the session is another one"
    assert signed_in_again(app, "anna", "another secret").get("/me").json["id"] == anna.id
    old = Caller(app).post("/sessions", {"name": "anna", "password": "the secret of anna"})
    assert old.json["code"] == "wrong-password"


def test_a_guest_has_no_password_to_change(anna: Caller, stranger: Caller) -> None:
    stranger.play_as_guest()
    assert "Change the password" not in stranger.client.get("/settings").text
    assert "Change the password" in anna.client.get("/settings").text
    refused = stranger.put("/me/password", {"current": "anything at all", "password": "another secret"})
    assert refused.json["code"] == "sign-up-required"


def test_who_signs_in_again_and_again_ends_the_oldest_sessions(
    server: RealServer, redis: StoreClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("events.people.credentials.MAX_SESSIONS_PER_PERSON", 2)
    seconds = count(1_800_000_000)
    app = app_on(server.url, now=lambda: next(seconds) * 1000)
    anna = Caller(app).sign_up("anna")
    second, third = (signed_in_again(app, "anna", "the secret of anna") for _ in range(2))
    assert [caller.get("/me").status_code for caller in (anna, second, third)] == [401, 200, 200]
    assert third.delete("/sessions/current").status_code == 204
    fourth = signed_in_again(app, "anna", "the secret of anna")
    assert [caller.get("/me").status_code for caller in (second, fourth)] == [200, 200]
    assert redis.zcard(f"rk:{{people}}:signed-in:{anna.id}") == 2, "one that was ended is not kept"


def test_nobody_comes_in_for_somebody_who_has_just_been_erased(app: Flask, anna: Caller) -> None:
    people: People = app.extensions[EXTENSION].people
    person = people.person(anna.id)
    assert person is not None
    people.erase(person)
    with pytest.raises(UnknownPersonError):
        people.sessions.open(person, 60)
    with pytest.raises(UnknownPersonError):
        people.tokens.create(person, "too late")
    assert people.tokens.of(person) == []


def test_a_guest_has_a_name_and_no_password(stranger: Caller) -> None:
    stranger.play_as_guest()
    assert re.fullmatch("guest-[a-z2-7]{6}", stranger.name)
    refused = stranger.post("/sessions", {"name": stranger.name, "password": "anything at all"})
    assert (refused.status_code, refused.json["code"]) == (401, "wrong-password")


def test_a_guest_plays_unrated_only(stranger: Caller) -> None:
    stranger.play_as_guest()
    seats = [ME, OPEN]
    refused = stranger.post("/matches", {"game": "bashni", "setup": "start", "seats": seats, "rated": True})
    assert (refused.status_code, refused.json["code"]) == (422, "guests-play-unrated")
    assert stranger.create(*seats, rated=False)


def test_a_token_speaks_for_its_owner_until_it_is_revoked(anna: Caller, stranger: Caller) -> None:
    made = anna.post("/me/tokens", {"label": "laptop"})
    token, secret = made.json["id"], made.json["secret"]
    assert stranger.get("/me", Authorization=f"Bearer {secret}").json["id"] == anna.id
    listed = anna.get("/me/tokens").json["items"]
    assert [(each["id"], each["label"]) for each in listed] == [(token, "laptop")]
    assert "secret" not in listed[0]
    assert anna.delete(f"/me/tokens/{token}").status_code == 204
    refused = stranger.get("/me", Authorization=f"Bearer {secret}")
    assert (refused.status_code, refused.json["code"]) == (401, "invalid-token")
    assert anna.delete(f"/me/tokens/{token}").json["code"] == "no-such-token"


def test_nobody_revokes_the_token_of_another(anna: Caller, boris: Caller) -> None:
    made = anna.post("/me/tokens", {"label": "laptop"})
    assert boris.delete(f"/me/tokens/{made.json['id']}").status_code == 404
    assert boris.get("/me", Authorization=f"Bearer {made.json['secret']}").json["id"] == anna.id


def test_a_token_cannot_make_other_tokens(anna: Caller, stranger: Caller) -> None:
    refused = stranger.post("/me/tokens", {"label": "more"}, Authorization=anna.token())
    assert (refused.status_code, refused.json["code"]) == (403, "session-required")
    assert len(anna.get("/me/tokens").json["items"]) == 1


def test_nobody_has_more_than_twenty_tokens(anna: Caller) -> None:
    for _ in range(20):
        anna.token()
    refused = anna.post("/me/tokens", {"label": "one more"})
    assert (refused.status_code, refused.json["code"]) == (409, "too-many-tokens")


@pytest.mark.parametrize("header", ["Bearer nonsense", "Bearer ", "Basic YTpi", "nonsense", "Bearer ünïcode"])
def test_a_wrong_token_is_refused_not_ignored(anna: Caller, header: str) -> None:
    refused = anna.get("/me", Authorization=header)
    assert (refused.status_code, refused.json["code"]) == (401, "invalid-token")
    assert refused.headers["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize("headers", table(__file__, "a page of another site cannot act with the cookie"))
def test_a_page_of_another_site_cannot_act_with_the_cookie(anna: Caller, headers: dict[str, str]) -> None:
    refused = anna.post("/matches", {"game": "bashni", "setup": "start", "seats": [ME, OPEN]}, **headers)
    assert (refused.status_code, refused.json["code"]) == (403, "cross-origin")
    assert anna.delete("/sessions/current", **headers).status_code == 403
    assert anna.get("/me").status_code == 200


@pytest.mark.parametrize("headers", [{"Origin": "http://localhost"}, {"Sec_Fetch_Site": "same-origin"}, {}])
def test_a_page_of_this_site_acts_with_the_cookie(anna: Caller, headers: dict[str, str]) -> None:
    body = {"game": "bashni", "setup": "start", "seats": [ME, OPEN]}
    assert anna.post("/matches", body, **headers).status_code == 201


def test_behind_tls_the_session_is_in_a_cookie_of_this_host_alone_and_the_origin_is_https(server: RealServer) -> None:
    app = create_app(settings_for(server.url)._replace(secure_cookies=True))
    anna = Caller(app)
    made = anna.post("/guests", Origin="https://localhost")
    assert made.status_code == 201
    cookie = made.headers["Set-Cookie"]
    assert cookie.startswith(f"{SECURE_COOKIE}=")
    assert {"Secure", "HttpOnly", "Path=/"} <= set(cookie.split("; "))
    assert "Domain" not in cookie
    secret = cookie.partition("=")[2].partition(";")[0]
    assert anna.get("/me").status_code == 200
    thief = Caller(app)
    thief.client.set_cookie(COOKIE, secret)
    assert thief.get("/me").status_code == 401
    assert anna.post("/guests", Origin="http://localhost").json["code"] == "cross-origin"
    schemes = app.test_client().get("/openapi.json").json["components"]["securitySchemes"]
    assert schemes["session"]["name"] == SECURE_COOKIE


def test_a_form_of_another_site_cannot_act_because_only_json_is_read(anna: Caller) -> None:
    refused = anna.client.post("/api/v1/guests", data="{}", content_type="text/plain")
    assert (refused.status_code, refused.json["code"]) == (415, "not-json")


def test_sign_in_is_limited_per_name_and_address(server: RealServer) -> None:
    visitor = Caller(app_on(server.url, Limits(sign_in="2/hour")))
    guess = {"name": "anna", "password": "not the secret"}
    assert [visitor.post("/sessions", guess).status_code for _ in range(2)] == [401, 401]
    refused = visitor.post("/sessions", {**guess, "name": "ANNA"})
    assert (refused.status_code, refused.json["code"]) == (429, "too-many-requests")
    assert 0 < int(refused.headers["Retry-After"]) <= 3600
    assert visitor.post("/sessions", {**guess, "name": "boris"}).status_code == 401


def test_sign_up_and_guests_are_limited_per_address(server: RealServer) -> None:
    visitor = Caller(app_on(server.url, Limits(sign_up="1/hour", guests="1/hour")))
    visitor.sign_up("anna")
    assert visitor.post("/players", {"name": "boris", "password": "long enough"}).status_code == 429
    visitor.play_as_guest()
    assert visitor.post("/guests").status_code == 429


def test_writes_are_limited_per_person_whatever_they_sign_in_with(server: RealServer) -> None:
    app = app_on(server.url, Limits(writes="3/hour"))
    anna, boris = Caller(app).sign_up("anna"), Caller(app).sign_up("boris")
    token = anna.token()
    assert anna.post("/me/tokens", {"label": "second"}).status_code == 201
    assert Caller(app).post("/matches/m/moves", {"move": "x"}, Authorization=token).status_code == 404
    refused = Caller(app).post("/matches/m/moves", {"move": "x"}, Authorization=token)
    assert (refused.status_code, refused.json["code"]) == (429, "too-many-requests")
    assert 0 < int(refused.headers["Retry-After"]) <= 3600
    assert anna.get("/me").status_code == 200, "reading goes on"
    assert boris.post("/me/tokens", {"label": "mine"}).status_code == 201


def test_a_sign_up_whose_reply_was_lost_is_no_conflict(server: RealServer, redis: StoreClient) -> None:
    proxy = LossyProxy(server.port)
    try:
        with_losses = app_on(proxy.url)
        Caller(with_losses).get("/me")
        proxy.lose_reply_to(b"EVALSHA")
        assert Caller(with_losses).sign_up("anna").id
        assert proxy.lost.is_set()
    finally:
        proxy.close()
    people = People(redis, "rk:", lambda: 0, QUICK_HASHES)
    with pytest.raises(NameTakenError):
        people.sign_up("anna", "long enough")


def test_the_store_knows_no_secret(app: Flask, redis: StoreClient, anna: Caller) -> None:
    secret = anna.token().removeprefix("Bearer ")
    session = anna.client.get_cookie(COOKIE)
    assert session is not None
    redis.config_set("rdbcompression", "no")
    kept = b"".join(key + (redis.dump(key) or b"") for key in redis.scan_iter())
    assert b"anna" in kept
    for hidden in (secret, session.value, "the secret of anna"):
        assert hidden.encode() not in kept


@pytest.mark.parametrize(("proxies", "counted_apart"), [(0, False), (1, True)])
def test_only_known_proxies_are_believed(server: RealServer, proxies: int, counted_apart: bool) -> None:
    visitor = Caller(behind_proxies(app_on(server.url, Limits(guests="1/hour")), proxies))
    answers = [visitor.post("/guests", X_Forwarded_For=f"made-up, 192.0.2.{last}") for last in (1, 2)]
    assert [answer.status_code for answer in answers] == [201, 201 if counted_apart else 429]
    assert visitor.post("/guests", X_Forwarded_For="something-else, 192.0.2.1").status_code == 429
