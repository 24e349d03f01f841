"""What is left to be done after an erasure: late writes, killed processes, and files in which erased text stands."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from api.services import Services
from events.operations.personal_data import continue_erasures, forget
from events.runtime.connections import StoreClient
from events.runtime.errors import StoreCommandError, StoreUnavailableError
from events.store.contract import Request
from events.store.rewriting import MIN_BETWEEN_REWRITES_MS, SETTLED_AFTER_MS, Rewriting
from tests.support.callers import Caller, app_on, started
from tests.support.eventually import eventually
from tests.support.projected import project
from tests.support.server import RealServer
from tests.support.stored import stored
from tests.support.watch import Watch

WORDS = b"nobody-may-read-this-again"


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[RealServer]:
    """Return a server of this test alone, whose files hold text as it is, without compression."""
    server = RealServer(tmp_path, "--rdbcompression", "no")
    yield server
    server.close()


def holding(directory: Path) -> list[str]:
    """Return the files below ``directory`` in which WORDS stand."""
    files = [path for path in directory.rglob("*") if path.is_file()]
    return [path.name for path in files if WORDS in path.read_bytes()]


def say_something(app: Flask) -> Caller:
    """Return anna, who has left words in a case, in notes and in a chat."""
    anna, boris = Caller(app).sign_up("anna"), Caller(app).sign_up("boris")
    match_id, words = started(anna, boris), WORDS.decode()
    for path, body in (("disputes", {"ply": 0, "ground": "conduct", "statement": words}), ("chat", {"text": words})):
        assert anna.post(f"/matches/{match_id}/{path}", body).status_code == 201
    assert anna.put(f"/matches/{match_id}/notes", {"text": words}).status_code == 200
    project(app.extensions["rookery"])
    return anna


def erase(caller: Caller) -> dict[str, Any]:
    answer = caller.post("/me/erasure", {"name": caller.name})
    assert answer.status_code == 200, answer.text
    return dict(answer.json)


def no_rewrite_runs(client: StoreClient) -> bool:
    """Tell whether the server is not rewriting its file, nor about to."""
    progress: Any = client.info("persistence")
    return not progress["aof_rewrite_in_progress"] and not progress["aof_rewrite_scheduled"]


def test_erased_text_is_in_no_file_of_the_store_once_it_is_rewritten(own_server: RealServer, tmp_path: Path) -> None:
    watch = Watch()
    app = app_on(own_server.url, now=watch)
    services: Services = app.extensions["rookery"]
    client, holdings = services.store.client, services
    anna = say_something(app)
    # The first rewrite on a server tells whether it is permitted; it is over before the erasure here.
    client.bgrewriteaof()
    eventually(lambda: no_rewrite_runs(client), "a rewrite that was under way ends")
    assert holding(tmp_path)
    said = erase(anna)
    assert said["files"] == "to-be-rewritten"
    assert "normally within a quarter of an hour" in said["detail"]
    assert anna.id in services.rewriting.erasures.contents("")
    watch.advance(MIN_BETWEEN_REWRITES_MS)
    continue_erasures(holdings)

    def complete() -> bool:
        continue_erasures(holdings)
        return services.rewriting.is_complete()

    eventually(complete, "the erasure is complete")
    eventually(lambda: not holding(tmp_path), "the files that were replaced are gone")
    assert not any(WORDS in content for _, content in stored(client))
    # The rewritten file is whole: the server starts from it with all that was not erased.
    (match,) = services.store.all_streams()
    before = services.store.read(match)
    own_server.kill()
    own_server.start()
    assert services.store.read(match) == before
    assert services.readmodels.summary(match) is not None
    assert not holding(tmp_path)


def test_a_rewrite_that_a_killed_server_did_not_finish_is_asked_for_again(own_server: RealServer) -> None:
    watch = Watch()
    with own_server.client() as client:
        rewriting, forgotten = Rewriting(client, "test:", watch), list[str]()
        assert rewriting.note("p1") == "to-be-rewritten"
        eventually(lambda: no_rewrite_runs(client), "the rewrite that tells whether it is permitted ends")
        watch.advance(SETTLED_AFTER_MS)
        rewriting.follow_up(forgotten.append)
        own_server.kill()
        own_server.start()
        rewriting.follow_up(forgotten.append)
        assert not rewriting.is_complete()
        watch.advance(MIN_BETWEEN_REWRITES_MS)

        def complete() -> bool:
            rewriting.follow_up(forgotten.append)
            return rewriting.is_complete()

        eventually(complete, "the erasure is complete")
        assert forgotten == ["p1"]


def test_many_erasures_share_a_rewrite(server: RealServer, redis: StoreClient) -> None:
    watch = Watch()
    rewriting = Rewriting(redis, "test:", watch)

    def asked() -> int:
        counted: Any = redis.info("commandstats")
        return int(counted.get("cmdstat_bgrewriteaof", {"calls": 0})["calls"])

    rewriting.note("p0")
    eventually(lambda: no_rewrite_runs(redis), "the rewrite that tells whether it is permitted ends")
    before = asked()
    for number in range(20):
        rewriting.note(f"p{number}")
    watch.advance(SETTLED_AFTER_MS)

    def complete() -> bool:
        rewriting.follow_up(lambda _: None)
        return rewriting.is_complete()

    eventually(complete, "all erasures are complete")
    assert asked() == before + 1
    rewriting.note("late")
    watch.advance(SETTLED_AFTER_MS)
    rewriting.follow_up(lambda _: None)
    assert asked() == before + 1
    assert not rewriting.is_complete()


def test_a_person_whose_key_is_damaged_keeps_no_others_in_files(server: RealServer, redis: StoreClient) -> None:
    watch = Watch()
    rewriting = Rewriting(redis, "test:", watch)

    def forget_all_but_p1(person: str) -> None:
        if person == "p1":
            raise StoreCommandError("WRONGTYPE")

    for person in ("p1", "p2"):
        rewriting.note(person)
    watch.advance(MIN_BETWEEN_REWRITES_MS)

    def one_is_left() -> bool:
        rewriting.follow_up(forget_all_but_p1)
        return rewriting._last().wanted == 0 and list(rewriting.erasures.contents("")) == ["p1"]

    eventually(one_is_left, "the other one is gone from the files")


def test_unwritable_files_are_told(server: RealServer, redis: StoreClient, capsys: pytest.CaptureFixture[str]) -> None:
    redis.acl_setuser(
        "limited", enabled=True, passwords=["+pw"], keys=["*"], channels=["*"], commands=["+@all", "-bgrewriteaof"]
    )
    try:
        app = app_on(server.url.replace("redis://", "redis://limited:pw@"))
        said = erase(say_something(app))
    finally:
        redis.acl_deluser("limited")
    assert said["files"] == "not-permitted"
    assert "still contains it" in said["detail"]
    assert "does not permit rewriting its file" in capsys.readouterr().err
    assert not any(WORDS in content for _, content in stored(redis))


def test_a_managed_server_that_does_not_know_the_command_permits_no_rewrite(tmp_path: Path) -> None:
    watch, managed = Watch(), RealServer(tmp_path, "--rename-command", "BGREWRITEAOF", "not-for-you")
    try:
        with managed.client() as client:
            rewriting = Rewriting(client, "test:", watch)
            assert rewriting.note("p1") == "not-permitted"
            watch.advance(MIN_BETWEEN_REWRITES_MS)
            rewriting.follow_up(lambda _: None)
            assert rewriting.is_complete()
    finally:
        managed.close()


def test_a_store_without_a_file_has_none_to_rewrite(tmp_path: Path) -> None:
    watch, fileless = Watch(), RealServer(tmp_path, "--appendonly", "no")
    try:
        with fileless.client() as client:
            rewriting = Rewriting(client, "test:", watch)
            assert rewriting.note("p1") == "none"
            watch.advance(MIN_BETWEEN_REWRITES_MS)
            rewriting.follow_up(lambda _: None)
            assert rewriting.is_complete()
    finally:
        fileless.close()


def test_what_a_request_under_way_leaves_after_the_erasure_is_erased_too(server: RealServer) -> None:
    watch = Watch()
    app = app_on(server.url, now=watch)
    services: Services = app.extensions["rookery"]
    anna = say_something(app)
    (match,) = services.readmodels.matches_of(anna.id)
    erase(anna)
    services.chats.post(match, anna.id, WORDS.decode(), Request("late", ""))
    services.notebooks.write_notes(anna.id, match, WORDS.decode())
    continue_erasures(services)
    assert any(WORDS in content for _, content in stored(services.store.client))
    watch.advance(MIN_BETWEEN_REWRITES_MS)
    continue_erasures(services)
    assert not any(WORDS in content for _, content in stored(services.store.client))


def test_a_killed_erasure_is_finished_unasked(server: RealServer, monkeypatch: pytest.MonkeyPatch) -> None:
    watch = Watch()
    app = app_on(server.url, now=watch)
    services: Services = app.extensions["rookery"]
    anna = say_something(app)

    def killed(*_: object) -> None:
        raise StoreUnavailableError("killed")

    with monkeypatch.context() as patched:
        patched.setattr(services.statements, "erase", killed)
        assert anna.post("/me/erasure", {"name": "anna"}).status_code == 503
    assert anna.get("/me").status_code == 200
    watch.advance(MIN_BETWEEN_REWRITES_MS)
    services.rewriting.follow_up(partial(forget, services))
    assert anna.get("/me").status_code == 401
    assert services.people.find("anna") is None
    assert not any(WORDS in content for _, content in stored(services.store.client))
