"""The live stream of an account, and how clients come from the address of the API to where streams are served."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import pytest
from flask import Flask
from flask.testing import FlaskClient

from api.live import stream_hub
from api.live.stream import create_stream_app
from api.services import Services
from tests.support.callers import ME, Caller, app_on, invited, settings_for, started
from tests.support.projected import project
from tests.support.server import RealServer
from tests.support.streams import seen

PATH = "/api/v1/me/stream"


@pytest.fixture
def streams(server: RealServer) -> FlaskClient:
    """Return a client without cookies of the process that serves streams."""
    return create_stream_app(settings_for(server.url)).test_client()


Told = tuple[str, Any]


@contextmanager
def watching(streams: FlaskClient, token: str) -> Iterator[Iterator[Told]]:
    """Open the stream of the account of ``token``; yield its messages, without what only keeps it open."""
    answer = streams.get(PATH, headers={"Authorization": token})
    assert answer.status_code == 200, answer.text
    try:
        yield (told for text in answer.iter_encoded() for told in parsed(text.decode()))
    finally:
        answer.close()


def parsed(text: str) -> Iterator[Told]:
    """Yield kind and content of the message, if it is one."""
    fields = dict(line.split(": ", 1) for line in text.strip().splitlines() if not line.startswith(":"))
    if "event" in fields:
        yield fields["event"], json.loads(fields["data"])


def test_an_account_hears_of_its_matches(streams: FlaskClient, anna: Caller, boris: Caller, services: Services) -> None:
    first, other = started(anna, boris), started(boris, Caller(anna.client.application).sign_up("clara"))
    project(services)

    def item(match_id: str, owed: str | None, status: str = "playing") -> dict[str, Any]:
        tag = seen(anna, match_id)
        return {
            "match": match_id, "version": int(tag.partition("-")[0]), "version_tag": tag, "status": status,
            "owed": owed,
        }  # fmt: skip

    with watching(streams, anna.token()) as told:
        assert next(told) == ("pending", {"items": [item(first, "move")], "more": False})

        def heard() -> Told:
            return next(each for each in told if each[0] != "pending")

        anna.move(first)
        assert heard() == ("match", {**item(first, None), "events": ["move-submitted"]})
        boris.move(other)
        boris.move(first)
        assert heard() == ("match", {**item(first, "move"), "events": ["move-submitted"]})
        anna.move(first)
        heard()
        anna.post(f"/matches/{first}/draw-offers")
        assert heard() == ("match", {**item(first, None), "events": ["draw-offered"]})
        boris.post(f"/matches/{first}/chat", {"text": "THE CHAT"})
        assert heard() == ("chat", {"match": first})
        invitation = boris.create(ME, invited("anna"), private=True)
        assert heard() == ("match", {**item(invitation, "invitation", "open"), "events": ["match-created"]})
        boris.post(f"/matches/{first}/resignation")
        kind, content = heard()
        assert (kind, content["status"], content["owed"]) == ("match", "finished", None)
        assert "match-finished" in content["events"]


def test_what_the_read_models_learn_late_is_told_when_they_know_it(
    streams: FlaskClient, anna: Caller, boris: Caller, services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream_hub, "HEARTBEAT_S", 0.01)
    match = started(anna, boris)
    with watching(streams, anna.token()) as told:
        assert next(told) == ("pending", {"items": [], "more": False})
        project(services)
        found = next(content for kind, content in told if kind == "pending" and content["items"])
        assert [(item["match"], item["owed"]) for item in found["items"]] == [(match, "move")]


@pytest.mark.parametrize("kind", ["person", "guest"])
def test_a_stream_ends_with_its_token(
    server: RealServer, streams: FlaskClient, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(stream_hub, "HEARTBEAT_S", 0.01)
    caller = Caller(app_on(server.url))
    caller = caller.sign_up("anna") if kind == "person" else caller.play_as_guest()
    made = caller.post("/me/tokens", {"label": "for a test"}).json
    with watching(streams, f"Bearer {made['secret']}") as told:
        assert next(told)[0] == "pending"
        assert caller.delete(f"/me/tokens/{made['id']}").status_code == 204
        assert {told_kind for told_kind, _ in told} <= {"pending"}
    assert streams.get(PATH).status_code == 401
    assert streams.get(PATH, headers={"Authorization": f"Bearer {made['secret']}"}).status_code == 401


def test_an_account_has_a_limit_of_its_own_and_room_again_when_a_stream_is_closed(
    streams: FlaskClient, anna: Caller, boris: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream_hub, "MAX_STREAMS_PER_ACCOUNT", 2)
    token = anna.token()
    with watching(streams, token), watching(streams, token):
        refused = streams.get(PATH, headers={"Authorization": token})
        assert (refused.status_code, refused.json["code"]) == (503, "too-many-streams")
        assert refused.json["detail"] == "Your account has 2 live streams open: close some first."
        with watching(streams, boris.token()):
            pass
    with watching(streams, token):
        pass


def test_the_address_of_the_api_leads_to_the_stream_with_a_ticket_that_is_good_once(
    app: Flask, streams: FlaskClient, anna: Caller, boris: Caller, stranger: Caller
) -> None:
    match_id = started(anna, boris, private=True)
    bot = Caller(app)
    token = anna.token()
    for path in (f"/matches/{match_id}/stream?after=0", "/me/stream"):
        led = bot.get(path, Authorization=token)
        assert (led.status_code, led.headers["Cache-Control"]) == (307, "no-store")
        place = urlsplit(led.headers["Location"])
        assert (place.netloc, place.path) == ("localhost:8001", f"/api/v1{path.partition('?')[0]}")
        assert ("after=0" in place.query) == ("after" in path)
        opened = streams.get(f"{place.path}?{place.query}")
        assert opened.status_code == 200
        opened.close()
        again = streams.get(f"{place.path}?{place.query}")
        assert (again.status_code, again.json["code"]) == (401, "invalid-token")
    public = started(anna, boris)
    assert stranger.get(f"/matches/{public}/stream").headers["Location"].endswith(f"/matches/{public}/stream")
    assert stranger.get(f"/matches/{match_id}/stream").status_code == 404
    assert stranger.get("/me/stream").status_code == 401


def test_a_ticket_ends_with_its_session(streams: FlaskClient, anna: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    place = urlsplit(anna.get("/me/stream").headers["Location"])
    assert anna.delete("/sessions/current").status_code == 204
    assert streams.get(f"{place.path}?{place.query}").status_code == 401


def test_a_server_in_front_that_does_not_pass_streams_on_is_named(app: Flask, anna: Caller, services: Services) -> None:
    services.settings = services.settings._replace(stream_url="http://localhost")
    refused = anna.get("/me/stream")
    assert (refused.status_code, refused.json["code"]) == (503, "no-stream")


def test_accounts_catch_up_after_an_outage(server: RealServer, anna: Caller, boris: Caller, services: Services) -> None:
    app = create_stream_app(settings_for(server.url))
    started(anna, boris)
    project(services)
    with watching(app.test_client(), anna.token()) as told:
        assert next(told)[0] == "pending"
        server.client().client_kill_filter(_type="normal", skipme=True)
        assert [item["owed"] for item in next(told)[1]["items"]] == ["move"]
