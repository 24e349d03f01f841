"""What is kept about a person: one archive with all of it, and an erasure that leaves every chain whole."""

import io
import json
import zipfile
from functools import partial
from typing import Any

import pytest
from flask import Flask

from api.services import Services
from events.operations.personal_data import MAX_MATCHES_PER_REQUEST, erase, forget
from events.runtime.errors import StoreUnavailableError
from events.store.contract import Request
from events.store.envelope import Draft
from events.store.rewriting import SETTLED_AFTER_MS, Rewriting
from tests.support.callers import ME, OPEN, Caller, started
from tests.support.chains import verify_all
from tests.support.jobs import do_next_job
from tests.support.projected import project
from tests.support.stored import stored

WORDS = "Nobody else may ever read this."


@pytest.fixture
def match_id(anna: Caller, boris: Caller, services: Services) -> str:
    """Return a match in which anna has left traces wherever something can be kept."""
    match_id = started(anna, boris)
    anna.move(match_id)
    boris.move(match_id)
    put = anna.client.put
    assert put(f"/api/v1/matches/{match_id}/notes", json={"text": WORDS}).status_code == 200
    assert put(f"/api/v1/matches/{match_id}/lines", json={"lines": [], "forced": True}).status_code == 200
    assert anna.post(f"/matches/{match_id}/chat", {"text": WORDS}).status_code == 201
    assert boris.post(f"/matches/{match_id}/chat", {"text": "Good luck."}).status_code == 201
    raised = {"ply": 1, "ground": "conduct", "statement": WORDS}
    assert anna.post(f"/matches/{match_id}/disputes", raised).status_code == 201
    anna.token()
    services.administration.grant(anna.id, "arbiter", "console")
    project(services)
    return match_id


def everything(services: Services) -> str:
    return "".join(f"{key} {content!r}" for key, content in stored(services.store.client))


def archive(caller: Caller) -> dict[str, Any]:
    answer = caller.get("/me/archive")
    assert (answer.status_code, answer.content_type) == (200, "application/zip")
    with zipfile.ZipFile(io.BytesIO(answer.data)) as files:
        return {name: json.loads(files.read(name)) for name in files.namelist() if name.endswith(".json")}


def test_the_archive_holds_all_about_a_person_and_nothing_of_others(anna: Caller, boris: Caller, match_id: str) -> None:
    own = archive(anna)
    assert own["person.json"]["name"] == "anna"
    assert own["person.json"]["roles"] == ["arbiter"]
    assert [token["label"] for token in own["person.json"]["tokens"]] == ["for a test"]
    part = own[f"matches/{match_id}.json"]
    assert (part["notes"], part["forced"]) == (WORDS, True)
    assert [message["text"] for message in own["chats.json"][match_id]] == [WORDS]
    assert [said["text"] for said in own["statements.json"][match_id]] == [WORDS]
    assert [act["act"] for act in own["administration.json"]] == ["role-granted"]
    assert [event["type"] for event in part["events"]][-1] == "dispute-raised"
    assert "seed" not in part["events"][0]["data"]
    assert WORDS not in json.dumps(archive(boris))


def test_an_erased_person_is_gone(app: Flask, anna: Caller, boris: Caller, services: Services, match_id: str) -> None:
    authorization = anna.token()
    waiting = anna.create(ME, OPEN)
    project(services)
    assert anna.post("/me/erasure", {"name": "Anna"}).json["errors"] == {
        "name": ["must be your own name, letter for letter"]
    }
    assert anna.post("/me/erasure", {"name": "anna"}).status_code == 200
    kept = everything(services)
    assert match_id in kept
    assert WORDS not in kept
    assert Caller(app).get("/me", Authorization=authorization).status_code == 401
    assert anna.get("/me").status_code == 401
    assert services.administration.roles_of(anna.id) == frozenset()
    shown = boris.get(f"/matches/{match_id}").json
    assert shown["seats"][0]["player"]["name"] == "somebody who left"
    assert (shown["status"], shown["result"]["reason"]) == ("finished", "resignation")
    assert boris.get(f"/matches/{waiting}").json["status"] == "aborted"
    chat = boris.get(f"/matches/{match_id}/chat").json["items"]
    assert [message["text"] for message in chat] == ["", "Good luck."]
    assert boris.post(f"/matches/{match_id}/chat", {"text": "And good bye."}).json["id"] == 3
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
        assert refused.json["code"] == "session-required"


@pytest.fixture
def arbiter(app: Flask, services: Services) -> Caller:
    """Return an arbiter who has no part in any match."""
    caller = Caller(app).sign_up("carla")
    services.administration.grant(caller.id, "arbiter", "console")
    return caller


def open_a_case(arbiter: Caller, match_id: str) -> None:
    body = {"ply": 1, "ground": "clock", "statement": "Seen by the arbiter."}
    opened = arbiter.post(f"/matches/{match_id}/cases", body)
    assert opened.status_code == 201, opened.text


def test_words_of_arbiters_are_erased(anna: Caller, boris: Caller, arbiter: Caller, services: Services) -> None:
    match_id = started(anna, boris)
    anna.move(match_id)
    open_a_case(arbiter, match_id)
    project(services)
    own = archive(arbiter)
    assert [said["text"] for said in own["statements.json"][match_id]] == ["Seen by the arbiter."]
    assert [act["act"] for act in own["administration.json"]] == ["role-granted", "case-opened"]
    assert arbiter.post("/me/erasure", {"name": "carla"}).status_code == 200
    assert "Seen by the arbiter." not in everything(services)
    (case,) = anna.get(f"/matches/{match_id}/disputes").json["disputes"]
    assert (case["arbiter"]["name"], case["open"]) == ("somebody who left", True)
    assert case["statements"][0]["text"] is None


def test_words_of_bystanders_are_erased(anna: Caller, boris: Caller, arbiter: Caller, services: Services) -> None:
    match_id = started(anna, boris)
    assert boris.post(f"/matches/{match_id}/resignation").status_code == 201
    for player in (anna, boris):
        assert player.put(f"/matches/{match_id}/chat/openness", {}).status_code == 204
    assert arbiter.post(f"/matches/{match_id}/chat", {"text": WORDS}).status_code == 201
    project(services)
    assert [message["text"] for message in archive(arbiter)["chats.json"][match_id]] == [WORDS]
    assert arbiter.post("/me/erasure", {"name": "carla"}).status_code == 200
    assert WORDS not in everything(services)
    assert [message["text"] for message in anna.get(f"/matches/{match_id}/chat").json["items"]] == [""]


def test_words_of_two_stay_when_one_of_them_is_erased(anna: Caller, boris: Caller, services: Services) -> None:
    match_id = started(anna, boris)
    anna.move(match_id)
    same = "We agree."
    raised = {"ply": 1, "ground": "conduct", "statement": same}
    assert anna.post(f"/matches/{match_id}/disputes", raised).status_code == 201
    assert boris.post(f"/matches/{match_id}/statements", {"statement": same}).status_code == 201
    project(services)
    assert boris.post("/me/erasure", {"name": "boris"}).status_code == 200
    (case,) = anna.get(f"/matches/{match_id}/disputes").json["disputes"]
    assert [statement["text"] for statement in case["statements"]] == [same, None]


def test_a_person_in_unreadable_matches_is_erased_too(anna: Caller, boris: Caller, services: Services) -> None:
    frozen, damaged = started(anna, boris), started(anna, boris)
    anna.move(frozen)
    body = {"ply": 1, "ground": "clock", "statement": WORDS}
    assert anna.post(f"/matches/{frozen}/disputes", body).status_code == 201
    project(services)
    loaded = services.matches.load(damaged)
    unknown = Draft("from-the-future", 1, loaded.state.updated_at, anna.id, {})
    services.store.append(damaged, loaded.head, [unknown], Request("a newer server", ""))
    assert archive(anna)[f"matches/{damaged}.json"]["events"][-1]["type"] == "from-the-future"
    assert anna.post("/me/erasure", {"name": "anna"}).status_code == 200
    assert WORDS not in everything(services)
    left = boris.get(f"/matches/{frozen}").json
    assert (left["status"], left["result"]["scores"], left["result"]["reason"]) == ("finished", [0, 1], "resignation")
    resigned = boris.get(f"/matches/{frozen}/events").json["items"][-2]
    assert (resigned["type"], resigned["data"]["channel"]) == ("player-resigned", "erasure")


def test_an_erasure_that_was_cut_short_is_finished_by_asking_again(
    anna: Caller, boris: Caller, services: Services, match_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut(*_: object) -> None:
        raise StoreUnavailableError("the server was killed")

    for owner, act in ((services.notebooks, "erase"), (services.people, "erase")):
        with monkeypatch.context() as patched:
            patched.setattr(owner, act, cut)
            assert anna.post("/me/erasure", {"name": "anna"}).status_code == 503
    assert anna.post("/me/erasure", {"name": "anna"}).status_code == 200
    assert WORDS not in everything(services)
    assert boris.get(f"/matches/{match_id}").json["result"]["reason"] == "resignation"
    assert services.administration.verify() == len(services.administration.acts())


def test_a_name_that_was_taken_anew_stays_with_its_new_owner(app: Flask, anna: Caller, services: Services) -> None:
    first = services.people.find("anna")
    assert first is not None
    services.people.erase(first)
    second = Caller(app).sign_up("anna")
    services.people.erase(first)
    found = services.people.find("anna")
    assert found is not None
    assert found.id == second.id


def test_a_large_archive_is_made_by_a_worker(anna: Caller, boris: Caller, services: Services, match_id: str) -> None:
    small = archive(anna)
    for _ in range(MAX_MATCHES_PER_REQUEST):
        anna.create(ME, OPEN)
    project(services)
    refused = anna.get("/me/archive")
    assert (refused.status_code, refused.json["code"]) == (409, "not-ready")
    assert "Request it" in anna.client.get("/settings").text
    assert anna.post("/me/archive").json == {"state": "asked"}
    assert anna.get("/me/archive").json["code"] == "not-ready"
    assert "is being prepared" in anna.client.get("/settings").text
    assert do_next_job(services) == (anna.id, "archive")
    assert "Download all of it" in anna.client.get("/settings").text
    large = archive(anna)
    assert {**large, **small, "person.json": large["person.json"]} == large
    assert len(large) == len(small) + MAX_MATCHES_PER_REQUEST
    assert boris.get("/me/archive").status_code == 200
    erase(services, services.people.find("anna"))
    forget(services, anna.id)
    assert WORDS not in everything(services)
    assert services.jobs.archive(anna.id) is None


def test_large_erasures_are_relayed(app: Flask, anna: Caller, boris: Caller, services: Services, match_id: str) -> None:
    waiting = [anna.create(ME, OPEN) for _ in range(MAX_MATCHES_PER_REQUEST)]
    project(services)
    answer = anna.post("/me/erasure", {"name": "anna"})
    assert answer.status_code == 200
    assert answer.json["detail"].startswith("Your account is gone. To leave your matches ")
    assert services.people.find("anna") is None
    assert anna.post(f"/matches/{match_id}/resignation").status_code == 401
    assert boris.get(f"/matches/{match_id}").json["status"] == "playing"
    assert list(services.rewriting.erasures.contents("")) == [anna.id]
    later = services.now() + SETTLED_AFTER_MS + 1000
    Rewriting(services.store.client, "rk:", lambda: later).follow_up(partial(forget, services))
    assert {boris.get(f"/matches/{each}").json["status"] for each in waiting} == {"aborted"}
    assert WORDS not in everything(services)
