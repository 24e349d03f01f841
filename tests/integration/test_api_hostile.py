"""What a hostile caller tries: addresses that lead elsewhere, numbers without end, more than anybody needs."""

import io
from concurrent.futures import ThreadPoolExecutor

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from api.access.auth import COOKIE
from api.access.limits import EXCEEDED, Limits
from api.live.stream import create_stream_app
from api.services import EXTENSION, Services
from tests.support.callers import API, ME, OPEN, UNLIMITED, Caller, app_on, opponent, settings_for, started
from tests.support.projected import project
from tests.support.server import RealServer
from tests.support.tables import table


@pytest.mark.parametrize("target", table(__file__, "signing in leads nobody to another site"))
def test_signing_in_leads_nobody_to_another_site(anna: Caller, stranger: Caller, target: str) -> None:
    led = anna.client.get("/sign-in", query_string={"next": target})
    assert (led.status_code, led.headers["Location"]) == (302, "/matches")
    assert 'data-next="/matches/new"' in stranger.client.get("/sign-up", query_string={"next": target}).text


@pytest.mark.parametrize("target", ["/lobby", "/matches/m?ply=3", "/players/anna?view=active&cursor=x"])
def test_signing_in_leads_back_to_where_one_came_from(anna: Caller, target: str) -> None:
    assert anna.client.get("/sign-in", query_string={"next": target}).headers["Location"] == target


def test_a_score_beyond_all_numbers_is_refused_at_its_place(app: Flask, anna: Caller, boris: Caller) -> None:
    judge = Caller(app).sign_up("julia")
    app.extensions[EXTENSION].administration.grant(judge.id, "arbiter", "console")
    match_id = started(anna, boris)
    body = {"ruling": "decide", "reason": "Agreed.", "rule": "12", "scores": [10**400, 0]}
    refused = judge.post(f"/matches/{match_id}/rulings", body)
    assert (refused.status_code, refused.json["errors"]) == (422, {"scores.0": ["is too large a number"]})


class BrokenChunks:
    """A body that comes in chunks, the second of which cannot be read."""

    def __init__(self) -> None:
        self._chunks = iter([b"{}"])

    def read(self, _: int) -> bytes:
        """Return the first chunk, then fail as a server does."""
        for chunk in self._chunks:
            return chunk
        raise RuntimeError("Invalid chunk size")


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [(BrokenChunks(), 400, "malformed-json"), (io.BytesIO(b"{}" + b" " * 70_000), 413, "too-large")],
)
def test_a_broken_or_endless_body_in_chunks_is_refused(stranger: Caller, body: object, status: int, code: str) -> None:
    chunked = {"wsgi.input": body, "wsgi.input_terminated": True, "HTTP_TRANSFER_ENCODING": "chunked"}
    refused = stranger.client.post("/api/v1/guests", content_type="application/json", environ_overrides=chunked)
    assert (refused.status_code, refused.json["code"]) == (status, code)


NEW = {"game": "bashni", "setup": "start", "seats": [ME, OPEN]}


def test_nobody_creates_matches_or_talks_without_end(server: RealServer) -> None:
    app = app_on(server.url, Limits(matches="2/hour", all_matches="3/hour", words="1/hour"))
    anna, boris = Caller(app).sign_up("anna"), Caller(app).sign_up("boris")
    match_id = started(anna, boris)
    assert anna.post(f"/matches/{match_id}/resignation").status_code == 201
    assert anna.post(f"/matches/{match_id}/rematches").status_code == 201
    refused = anna.post("/matches", NEW)
    assert (refused.status_code, refused.json["code"]) == (429, "too-many-requests")
    assert refused.json["detail"].startswith("You have created too many matches. Wait ")
    assert 0 < int(refused.headers["Retry-After"]) <= 3600
    assert boris.post("/matches", NEW).status_code == 201
    crowded = boris.post("/matches", NEW)
    assert crowded.json["detail"].startswith("Too many matches have been created from your network address.")
    assert boris.post(f"/matches/{match_id}/chat", {"text": "Thank you."}).status_code == 201
    assert (
        boris.post(f"/matches/{match_id}/chat", {"text": "Again?"})
        .json["detail"]
        .startswith("You have sent too many messages.")
    )


def test_matches_against_opponents_are_limited(app: Flask, anna: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.access.admission.MAX_MATCHES_AGAINST_OPPONENTS", 1)
    services: Services = app.extensions[EXTENSION]
    wanted = {**NEW, "seats": [ME, opponent(1)]}
    first = anna.post("/matches", wanted, Idempotency_Key="first")
    match_id = first.json["id"]
    services.projector.project([match_id])
    refused = anna.post("/matches", wanted)
    assert (refused.status_code, refused.json["code"]) == (409, "too-many-matches")
    assert refused.json["detail"].startswith("You are playing 1 matches against the computer")
    assert anna.post("/matches", wanted, Idempotency_Key="first").json["id"] == match_id, (
        "a repeated request is no other one"
    )
    assert anna.post("/matches", NEW).status_code == 201, "people may be as busy as they like"
    assert anna.post(f"/matches/{match_id}/resignation").status_code == 201
    services.projector.project([match_id])
    assert anna.post("/matches", wanted).status_code == 201


def test_a_guest_plays_five_matches_against_opponents_however_fast_they_are_begun(app: Flask) -> None:
    services: Services = app.extensions[EXTENSION]
    guest = Caller(app).play_as_guest()
    wanted, cookie = {**NEW, "seats": [ME, opponent(1)]}, guest.client.get_cookie(COOKIE)
    assert cookie is not None

    def begin(_: int) -> TestResponse:
        client = app.test_client()
        client.set_cookie(COOKIE, cookie.value)
        return client.post(f"{API}/matches", json=wanted)

    with ThreadPoolExecutor(12) as threads:
        answers = list(threads.map(begin, range(12)))
    begun = [str(answer.json["id"]) for answer in answers if answer.status_code == 201 and answer.json]
    refused = {answer.json["code"] for answer in answers if answer.status_code != 201 and answer.json}
    assert (len(begun), refused) == (5, {"too-many-matches"})
    assert guest.post(f"/matches/{begun[0]}/resignation").status_code == 201
    project(services)
    assert begin(0).status_code == 201
    assert begin(0).status_code == 409


def test_new_guests_of_the_whole_installation_are_limited(server: RealServer) -> None:
    app = app_on(server.url, UNLIMITED._replace(all_guests="2/minute"))
    answers = [
        app.test_client().post(f"{API}/guests", json={}, environ_base={"REMOTE_ADDR": f"198.51.100.{number}"})
        for number in range(3)
    ]
    assert [answer.status_code for answer in answers] == [201, 201, 429]
    assert answers[2].json
    assert answers[2].json["detail"].startswith("Too many guests are arriving at this moment. Wait ")


def test_every_limit_is_told_in_words() -> None:
    assert EXCEEDED.keys() == set(Limits._fields)


@pytest.mark.parametrize("host", ["a..b", "..", "a" * 64, "a b", ":80", "127.0.0.1, 127.0.0.1"])
@pytest.mark.parametrize("path", ["/", "/nothing", "/api/v1/games"])
def test_an_invalid_host_is_refused(app: Flask, capfd: pytest.CaptureFixture[str], host: str, path: str) -> None:
    refused = app.test_client().get(path, headers={"Host": host, "Accept": "text/html"})
    assert (refused.status_code, refused.json["code"]) in ((400, "bad-request"), (421, "other-host"))
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("path", ["/", "/nothing", "/api/v1/games", "/feeds/public.atom"])
@pytest.mark.parametrize(
    ("page_url", "served", "other"),
    [
        ("http://127.0.0.1:8000", ("localhost", "127.0.0.1:8000", "[::1]:8000"), ("evil.example", "192.0.2.1")),
        ("https://rookery.example", ("rookery.example", "ROOKERY.example:443"), ("localhost", "rookery.example.evil")),
        ("http://192.0.2.7:8000", ("192.0.2.7:8000", "localhost"), ("evil.example", "192.0.2.8")),
    ],
)
def test_only_the_hosts_of_the_public_addresses_are_served(
    app: Flask, path: str, page_url: str, served: tuple[str, ...], other: tuple[str, ...]
) -> None:
    services: Services = app.extensions[EXTENSION]
    services.settings = services.settings._replace(page_url=page_url)
    browser = app.test_client()
    for host in served:
        assert browser.get(path, headers={"Host": host}).status_code in (200, 404), host
    for host in other:
        refused = browser.get(path, headers={"Host": host, "Accept": "text/html"})
        assert (refused.status_code, refused.json and refused.json["code"]) == (421, "other-host"), host
        for probe in ("/healthz", "/readyz", "/metrics"):
            assert browser.get(probe, headers={"Host": host}).status_code == 200, host


def test_the_live_stream_is_served_under_the_same_hosts(server: RealServer) -> None:
    visitor = create_stream_app(settings_for(server.url)).test_client()
    refused = visitor.get(f"{API}/matches/m/stream", headers={"Host": "evil.example"})
    assert (refused.status_code, refused.json and refused.json["code"]) == (421, "other-host")
    assert visitor.get("/healthz", headers={"Host": "evil.example"}).status_code == 200


def test_an_error_whose_page_cannot_be_made_is_told_without_one(app: Flask, capfd: pytest.CaptureFixture[str]) -> None:
    def broken(_: object) -> None:
        raise RuntimeError("out of order")

    app.extensions["rookery-problem-page"] = broken
    refused = app.test_client().get("/nothing", headers={"Accept": "text/html"})
    assert (refused.status_code, refused.json["code"]) == (404, "not-found")
    assert "out of order" in capfd.readouterr().err
