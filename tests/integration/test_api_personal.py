"""What is kept about a person: one archive with all of it, and an erasure that leaves every chain whole."""

import io
import json
import zipfile
from typing import Any

import pytest
from flask import Flask

from api.services import EXTENSION, Services
from events.chain import verify_all
from events.readmodels import Keys
from tests.support.callers import ME, OPEN, Caller, started
from workers.projector import Projector, projected_by

WORDS = "Nobody else may ever read this."


@pytest.fixture
def services(app: Flask) -> Services:
    """Return the services of the app."""
    found: Services = app.extensions[EXTENSION]
    return found


@pytest.fixture
def match(anna: Caller, boris: Caller, services: Services) -> str:
    """Return a match in which anna has left traces wherever something can be kept."""
    match = started(anna, boris)
    anna.move(match)
    boris.move(match)
    put = anna.client.put
    assert put(f"/api/v1/matches/{match}/notes", json={"text": WORDS}).status_code == 200
    assert put(f"/api/v1/matches/{match}/lines", json={"lines": [], "forced": True}).status_code == 200
    assert anna.post(f"/matches/{match}/chat", {"text": WORDS}).status_code == 201
    assert boris.post(f"/matches/{match}/chat", {"text": "Good luck."}).status_code == 201
    raised = {"ply": 1, "ground": "conduct", "statement": WORDS}
    assert anna.post(f"/matches/{match}/disputes", raised).status_code == 201
    anna.token()
    services.administration.grant(anna.id, "arbiter", "console")
    project(services)
    return match


def project(services: Services) -> None:
    """Bring the read models up to the streams."""
    projector = Projector(
        services.store.client,
        Keys(services.settings.prefix, services.store.shards),
        projected_by(services.matches),
    )
    for shard in range(services.store.shards):
        if streams := list(services.store.streams(shard)):
            projector.project(streams)


def everything(services: Services) -> str:
    """Return all that the store holds, as text."""
    client: Any = services.store.client
    read = {
        "string": client.get,
        "hash": client.hgetall,
        "stream": client.xrange,
        "set": client.smembers,
        "zset": lambda key: client.zrange(key, 0, -1),
        "list": lambda key: client.lrange(key, 0, -1),
    }
    return "".join(str(read[client.type(key).decode()](key)) for key in client.scan_iter("*"))


def archive(caller: Caller) -> dict[str, Any]:
    """Return the files of the caller's archive."""
    answer = caller.get("/me/archive")
    assert (answer.status_code, answer.content_type) == (200, "application/zip")
    with zipfile.ZipFile(io.BytesIO(answer.data)) as files:
        return {name: json.loads(files.read(name)) for name in files.namelist() if name.endswith(".json")}


def test_the_archive_holds_all_that_is_kept_about_a_person_and_nothing_of_others(
    anna: Caller, boris: Caller, match: str
) -> None:
    own = archive(anna)
    assert own["person.json"]["name"] == "anna"
    assert own["person.json"]["roles"] == ["arbiter"]
    assert [token["label"] for token in own["person.json"]["tokens"]] == ["for a test"]
    part = own[f"matches/{match}.json"]
    assert (part["notes"], part["forced"], part["statements"]) == (WORDS, True, [WORDS])
    assert [message["text"] for message in part["chat"]] == [WORDS]
    assert [event["type"] for event in part["events"]][-1] == "dispute-raised"
    assert "seed" not in part["events"][0]["data"]
    assert WORDS not in json.dumps(archive(boris))


def test_an_erased_person_is_gone_everywhere_and_every_chain_is_whole(
    app: Flask, anna: Caller, boris: Caller, services: Services, match: str
) -> None:
    authorization = anna.token()
    waiting = anna.create(ME, OPEN)
    project(services)
    assert anna.post("/me/erasure", {"name": "Anna"}).json["errors"] == {
        "name": ["must be your own name, letter for letter"]
    }
    assert anna.post("/me/erasure", {"name": "anna"}).status_code == 204
    kept = everything(services)
    assert match in kept
    assert WORDS not in kept
    assert Caller(app).get("/me", Authorization=authorization).status_code == 401
    assert anna.get("/me").status_code == 401
    assert services.administration.roles_of(anna.id) == frozenset()
    shown = boris.get(f"/matches/{match}").json
    assert shown["seats"][0]["player"]["name"] == "somebody who left"
    assert (shown["status"], shown["result"]["reason"]) == ("finished", "resignation")
    assert boris.get(f"/matches/{waiting}").json["status"] == "aborted"
    chat = boris.get(f"/matches/{match}/chat").json["items"]
    assert [message["text"] for message in chat] == ["", "Good luck."]
    assert boris.post(f"/matches/{match}/chat", {"text": "And good bye."}).json["id"] == 3
    assert verify_all(services.store) == []
    assert services.administration.verify() == 3
    assert Caller(app).sign_up("anna").id != anna.id


def test_only_a_session_hands_out_or_erases_a_person(anna: Caller) -> None:
    authorization = anna.token()
    fresh = anna.client.application.test_client()
    for method, path in (("get", "/me/archive"), ("post", "/me/erasure")):
        call = getattr(fresh, method)
        body = {"json": {"name": "anna"}} if method == "post" else {}
        refused = call(f"/api/v1{path}", headers={"Authorization": authorization}, **body)
        assert refused.json["code"] == "session-needed"
