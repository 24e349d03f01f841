"""How much anybody may keep, how long guests are kept, and how often reads are served."""

from typing import Any

import pytest

from api.access.limits import RateLimits
from api.pages.static_files import VERSION
from api.services import EXTENSION, Services
from domain.match.enums import Status
from events.operations.personal_data import MAX_GUEST_IDLE_MS, expire_guests
from events.people.notebooks import MAX_BYTES, MAX_GUEST_BYTES, QuotaExceededError
from events.runtime.errors import StoreUnavailableError
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
    return expire_guests(services, now)


def test_notes_trees_and_lines_have_one_quota(anna: Caller, boris: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("events.people.notebooks.MAX_BYTES", 400)
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
    monkeypatch.setattr("events.people.notebooks.MAX_BYTES", 400)
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
            patched.setattr("events.people.notebooks.Notebooks.erase", None)
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


FEW = UNLIMITED._replace(reads="2/hour", computations="1/hour")


def codes(caller: Caller, *paths: str, address: str = "192.0.2.1") -> list[int]:
    """Return the status of the answer to each path, asked from ``address``."""
    found = []
    for path in paths:
        with caller.client.get(path, environ_base={"REMOTE_ADDR": address}) as answer:
            found.append(answer.status_code)
    return found


def test_an_address_may_look_so_often_and_hears_when_it_may_again(server: RealServer) -> None:
    visitor = Caller(app_on(server.url, FEW))
    assert codes(visitor, *["/api/v1/games"] * 3) == [200, 200, 429]
    refused = visitor.client.get("/api/v1/terms", environ_base={"REMOTE_ADDR": "192.0.2.1"})
    assert (refused.status_code, refused.json["code"]) == (429, "too-many-requests")
    assert 0 < int(refused.headers["Retry-After"]) <= 3600
    assert "Too many pages were read" in refused.json["detail"]
    assert codes(visitor, "/api/v1/games", address="192.0.2.2") == [200]


def test_answers_tell_what_remains_of_the_limit_that_counted_them(server: RealServer) -> None:
    app = app_on(server.url, UNLIMITED._replace(reads="5/minute", writes="3/minute"))
    anna = Caller(app).sign_up("anna")
    program = {"Authorization": anna.token()}
    assert "RateLimit" not in anna.get("/games").headers, "pages do not plan by it"
    anna.client.delete_cookie("rookery_session")
    read = anna.get("/games", **program).headers
    assert (read["RateLimit-Policy"], read["RateLimit"]) == ('"reads";q=5;w=60', '"reads";r=3')
    written = [anna.put("/me/presence", {}, **program) for _ in range(3)]
    assert [answer.status_code for answer in written] == [422, 422, 429]
    assert [answer.headers["RateLimit"].partition(";t=")[0] for answer in written] == [
        f'"writes";r={remaining}' for remaining in (1, 0, 0)
    ]
    assert all(0 < int(answer.headers["RateLimit"].partition(";t=")[2]) <= 60 for answer in written)


def test_addresses_of_one_ipv6_network_count_as_one(server: RealServer) -> None:
    visitor = Caller(app_on(server.url, FEW))
    asked = [codes(visitor, "/api/v1/games", address=f"2001:db8::{number}")[0] for number in (1, 2, 3)]
    assert asked == [200, 200, 429]
    assert codes(visitor, "/api/v1/games", address="2001:db8:0:1::1") == [200]


def test_what_is_computed_has_a_limit_of_its_own(server: RealServer) -> None:
    app = app_on(server.url, UNLIMITED._replace(computations="1/hour"))
    anna, boris, visitor = Caller(app).sign_up("anna"), Caller(app).sign_up("boris"), Caller(app)
    match_id = started(anna, boris)
    assert codes(visitor, f"/matches/{match_id}", f"/api/v1/matches/{match_id}/bundle", "/games/bashni") == [
        200,
        429,
        200,
    ]


def test_people_count_each_for_themselves_behind_one_address(server: RealServer) -> None:
    app = app_on(server.url, FEW)
    anna, boris, visitor = Caller(app).sign_up("anna"), Caller(app).sign_up("boris"), Caller(app)
    # Signing up is looked at by the limits of its own and by this one.
    assert codes(anna, *["/api/v1/games"] * 3) == [200, 200, 429]
    assert codes(boris, *["/api/v1/games"] * 3) == [200, 200, 429]
    assert codes(visitor, "/api/v1/games", address="192.0.2.9") == [200]


def test_an_unknown_token_counts_as_its_address(server: RealServer) -> None:
    app = app_on(server.url, FEW)
    visitor = Caller(app)
    asked = [visitor.get("/games", Authorization=f"Bearer {number}").status_code for number in range(3)]
    assert asked == [200, 200, 429]


def test_what_belongs_to_every_page_is_not_counted(server: RealServer) -> None:
    visitor = Caller(app_on(server.url, FEW))
    style = f"/static/{VERSION}/style.css"
    assert codes(visitor, *[style, "/healthz"] * 4, "/api/v1/games") == [200] * 9


def test_looking_goes_on_when_nothing_can_be_counted(server: RealServer, monkeypatch: pytest.MonkeyPatch) -> None:
    visitor, asked = Caller(app_on(server.url, FEW)), []

    def away(*_: Any, **__: Any) -> None:
        asked.append(1)
        raise StoreUnavailableError("away")

    monkeypatch.setattr(RateLimits, "spend", away)
    assert codes(visitor, *["/api/v1/games"] * 5) == [200] * 5
    assert len(asked) == 1, "reads do not wait for a store that was just found to be away"
