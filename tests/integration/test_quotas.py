"""How much anybody may keep beside matches, and how long guests are kept who finish none."""

from typing import Any

import pytest

from api.services import EXTENSION, Services
from domain.match.enums import Status
from events.operations.personal_data import MAX_GUEST_IDLE_MS, GuestRound
from events.private.notebooks import MAX_BYTES, MAX_GUEST_BYTES, QuotaExceededError
from events.runtime.keys import PeopleKeys
from events.runtime.work_list import LEASE_MS, Repeats, WorkList
from tests.support.callers import ME, OPEN, UNLIMITED, Caller, app_on, started
from tests.support.projected import project
from tests.support.server import RealServer

LINES = {"lines": [{"move": "b6-a5", "next": [{"move": "d4-e5"}]}]}


def rounds(services: Services, now: int) -> int:
    """Look after guests at ``now``; return how many were erased."""
    project(services)
    services.people.guests = WorkList(services.client, [PeopleKeys(services.prefix).guests], lambda: now)
    return GuestRound(services, lambda: now)()


def test_notes_trees_and_lines_have_one_quota(anna: Caller, boris: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.resources.notes.MAX_BYTES", 400)
    match_id, other = started(anna, boris), started(anna, boris)
    anna.move(match_id, "c3-d4")
    assert anna.put(f"/matches/{match_id}/notes", {"text": "x" * 250}).status_code == 200
    assert anna.put(f"/matches/{match_id}/lines", LINES).status_code == 200
    refused = anna.put(f"/matches/{other}/notes", {"text": "ä" * 40})
    assert (refused.status_code, refused.json["code"]) == (409, "quota-exceeded")
    assert refused.json["bytes_allowed"] == 400
    assert "bytes for notes, analysis trees and conditional moves are used: delete some" in refused.json["detail"]
    tree = {"ply": 0, "tree": [{"move": "c3-d4"}]}
    assert anna.put(f"/matches/{other}/exploration", tree).json["code"] == "quota-exceeded"
    assert anna.get(f"/matches/{other}/notes").json == {"text": ""}
    assert boris.put(f"/matches/{other}/notes", {"text": "x" * 250}).status_code == 200


def test_what_makes_it_less_is_never_refused(anna: Caller, boris: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    match_id, other = started(anna, boris), started(anna, boris)
    anna.move(match_id, "c3-d4")
    assert anna.put(f"/matches/{match_id}/notes", {"text": "x" * 500}).status_code == 200
    assert anna.put(f"/matches/{match_id}/lines", LINES).status_code == 200
    monkeypatch.setattr("api.resources.notes.MAX_BYTES", 400)
    assert anna.put(f"/matches/{match_id}/notes", {"text": "x" * 450}).status_code == 200
    assert anna.put(f"/matches/{other}/notes", {"text": "x"}).status_code == 409
    assert anna.put(f"/matches/{match_id}/notes", {"text": "x" * 200}).status_code == 200
    assert anna.put(f"/matches/{other}/notes", {"text": "x" * 150}).status_code == 409
    assert anna.delete(f"/matches/{match_id}/lines").status_code == 204
    assert anna.put(f"/matches/{other}/notes", {"text": "x" * 150}).status_code == 200


def test_lines_that_are_refused_take_no_room(anna: Caller, boris: Caller, services: Services) -> None:
    match_id = started(anna, boris)
    anna.move(match_id, "c3-d4")
    assert anna.put(f"/matches/{match_id}/lines", LINES).status_code == 200
    kept = services.store.client.get(f"{services.settings.prefix}{{people}}:bytes-kept:{anna.id}")
    refused = anna.put(
        f"/matches/{match_id}/lines", {"lines": [{"move": "a1-a1"}, {"move": "b6-a5"}, {"move": "b6-c5"}]}
    )
    assert refused.status_code == 422
    assert services.store.client.get(f"{services.settings.prefix}{{people}}:bytes-kept:{anna.id}") == kept


def test_guests_may_keep_less(services: Services, app: Any) -> None:
    assert MAX_GUEST_BYTES < MAX_BYTES
    guest = Caller(app).play_as_guest()
    match_id = guest.create(ME, OPEN)
    services.notebooks.count_conditional_moves(guest.id, "elsewhere", MAX_GUEST_BYTES - 5)
    assert guest.put(f"/matches/{match_id}/notes", {"text": "123456"}).json["code"] == "quota-exceeded"
    assert guest.put(f"/matches/{match_id}/notes", {"text": "12345"}).status_code == 200


def test_what_was_kept_before_there_was_a_quota_counts(services: Services) -> None:
    books, prefix = services.notebooks, services.settings.prefix
    services.store.client.hset(f"{prefix}{{people}}:notes:p", "m1", "x" * 60)
    services.store.client.hset(f"{prefix}{{people}}:explorations:p", "m1", "x" * 30)
    with pytest.raises(QuotaExceededError, match="90 of 100 bytes are used"):
        books.write_notes("p", "m2", "x" * 11, 100)
    books.write_notes("p", "m2", "x" * 10, 100)
    books.erase("p")
    assert not services.store.client.keys("*:p")


def test_what_is_said_in_chats_is_bounded_in_bytes(server: RealServer) -> None:
    app = app_on(server.url, UNLIMITED._replace(chat_bytes="10/30 day"))
    anna, boris = Caller(app).sign_up("anna"), Caller(app).sign_up("boris")
    match_id = started(anna, boris)
    assert anna.post(f"/matches/{match_id}/chat", {"text": "123456"}).status_code == 201
    refused = anna.post(f"/matches/{match_id}/chat", {"text": "äää"})
    assert refused.status_code == 429
    assert refused.json["detail"].startswith("You have written as much as one person may in 30 days. Wait ")
    assert boris.post(f"/matches/{match_id}/chat", {"text": "123456"}).status_code == 201


class TestGuests:
    def test_a_guest_who_has_finished_no_match_goes_with_all_that_is_kept(self, app: Any, anna: Caller) -> None:
        services: Services = app.extensions[EXTENSION]
        guest = Caller(app).play_as_guest()
        playing, waiting = started(anna, guest), guest.create(ME, OPEN)
        guest.put(f"/matches/{playing}/notes", {"text": "a note"})
        now = services.now() + MAX_GUEST_IDLE_MS
        assert rounds(services, now - 60_000) == 0
        assert services.people.person(guest.id) is not None
        assert rounds(services, now) == 1
        assert services.people.person(guest.id) is None
        assert services.notebooks.notes(guest.id, playing) == ""
        states = [services.matches.load(match).state for match in (playing, waiting)]
        assert [(state.status, state.result.reason) for state in states] == [
            (Status.FINISHED, "resignation"),
            (Status.ABORTED, "aborted"),
        ]
        assert rounds(services, now) == 0

    def test_a_guest_who_has_finished_a_match_stays(self, app: Any, anna: Caller) -> None:
        services: Services = app.extensions[EXTENSION]
        guest = Caller(app).play_as_guest()
        match_id = started(anna, guest)
        guest.post(f"/matches/{match_id}/resignation")
        assert rounds(services, services.now() + 10 * MAX_GUEST_IDLE_MS) == 0
        assert services.people.person(guest.id) is not None

    def test_a_match_that_goes_on_keeps_a_guest(self, app: Any, anna: Caller) -> None:
        services: Services = app.extensions[EXTENSION]
        guest = Caller(app).play_as_guest()
        match = started(anna, guest)
        day = 24 * 3600 * 1000
        services.people.guests.add(guest.id, "", services.now() - MAX_GUEST_IDLE_MS, repeats=Repeats.MOVED)
        first = services.people.person(guest.id)
        assert first is not None
        services.store.client.hset(
            f"{services.settings.prefix}{{people}}:person:{guest.id}", "created_at", first.created_at - 29 * day
        )
        assert rounds(services, services.now() + 2 * day) == 0, "created long ago, but the match has just begun"
        assert services.people.person(guest.id) is not None
        assert rounds(services, services.now() + MAX_GUEST_IDLE_MS) == 1
        assert services.matches.load(match).state.status == Status.FINISHED

    def test_an_expiry_cut_off_is_done_again(self, app: Any, anna: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
        services: Services = app.extensions[EXTENSION]
        guest = Caller(app).play_as_guest()
        now = services.now() + MAX_GUEST_IDLE_MS
        with monkeypatch.context() as patched:
            patched.setattr("events.private.notebooks.Notebooks.erase", None)
            with pytest.raises(TypeError):
                rounds(services, now)
        assert rounds(services, now + LEASE_MS) == 1
        assert services.people.person(guest.id) is None

    def test_people_and_guests_from_before_are_told_apart(self, app: Any, anna: Caller) -> None:
        services: Services = app.extensions[EXTENSION]
        guest = Caller(app).play_as_guest()
        services.store.client.delete(f"{services.settings.prefix}{{people}}:guests")
        assert rounds(services, services.now() + MAX_GUEST_IDLE_MS) == 1
        assert services.people.person(anna.id) is not None
        assert services.people.person(guest.id) is None
