"""A guest who signs up: the same player with a name and a password, whatever else happens at the same time."""

from typing import Any

import pytest
from flask import Flask

from api.services import Services
from events.operations.personal_data import MAX_GUEST_IDLE_MS, erase, expire_guests
from events.people.accounts import NameTakenError
from events.people.person import Person, Suspension, UnknownPersonError
from tests.support.callers import ME, OPEN, Caller, opponent

PASSWORD = "a tower of words"
NEW_NAME = {"name": "Greta", "password": PASSWORD}


@pytest.fixture
def guest(app: Flask) -> Caller:
    return Caller(app).play_as_guest()


def person_of(services: Services, caller: Caller) -> Person:
    person = services.people.person(caller.id)
    assert person is not None
    return person


def names_of(services: Services, caller: Caller) -> list[str]:
    """Return the keys of names that lead to ``caller``."""
    client: Any = services.store.client
    keys = [*client.scan_iter("*{people}:name:*"), *client.scan_iter("*{people}:look:*")]
    return sorted(key.decode().rsplit("}:", 1)[1] for key in keys if client.get(key).decode() == caller.id)


def test_a_guest_who_signs_up_keeps_everything(app: Flask, services: Services, guest: Caller, anna: Caller) -> None:
    match_id, token = guest.create(ME, OPEN), guest.token()
    assert anna.post(f"/matches/{match_id}/joins").status_code == 201
    guest.move(match_id, "c3-d4")
    guest.put(f"/matches/{match_id}/notes", {"text": "a note"})
    calendar = {"time_zone": "Asia/Tokyo", "free_days": [6], "auto_vacation": False, "plays_forced": True}
    assert guest.put("/me/calendar", calendar).status_code == 200
    signed_up = guest.post("/players", {**NEW_NAME, "time_zone": "Europe/Rome"})
    assert (signed_up.status_code, signed_up.json["id"], signed_up.json["kind"]) == (201, guest.id, "person")
    for headers in ({}, {"Authorization": token}):
        assert guest.get("/me", **headers).json["name"] == "Greta"
    assert guest.get(f"/matches/{match_id}/notes").json == {"text": "a note"}
    assert guest.get("/me/calendar").json["time_zone"] == "Asia/Tokyo"
    assert anna.get(f"/matches/{match_id}").json["seats"][0]["player"]["name"] == "Greta"
    anna.move(match_id, "b6-a5")
    assert guest.move(match_id, "d4-c5").status_code == 201
    assert guest.create(ME, OPEN, rated=True), "what guests cannot do, a person can"
    assert guest.create(ME, opponent(8))
    again = Caller(app)
    assert again.post("/sessions", NEW_NAME).json["id"] == guest.id
    assert names_of(services, guest) == ["look:greta", "name:greta"]
    assert services.people.find(guest.name) is None


def test_a_guest_who_has_signed_up_is_not_forgotten_like_one_who_stays_away(services: Services, guest: Caller) -> None:
    later = services.now() + 2 * MAX_GUEST_IDLE_MS
    assert guest.post("/players", NEW_NAME).status_code == 201
    assert services.people.guests.contents("") == {}
    services.people.guests.add(guest.id, "", 0)  # as a round does that has begun before
    assert expire_guests(services, later) == 0
    assert services.people.guests.contents("") == {}
    assert person_of(services, guest).name == "Greta"


def test_a_name_that_is_taken_changes_nothing(services: Services, guest: Caller, anna: Caller) -> None:
    for name in ("anna", "4nna"):
        refused = guest.post("/players", {"name": name, "password": PASSWORD})
        assert (refused.status_code, refused.json["code"]) == (409, "name-taken")
    with pytest.raises(NameTakenError):  # taken after the look whether it is
        services.people._make_person(person_of(services, guest), "4nna", "a hash")
    assert guest.get("/me").json["kind"] == "guest"
    assert names_of(services, guest) == [f"name:{guest.name}"]
    assert names_of(services, anna) == ["look:anna", "name:anna"]


def test_of_two_requests_at_once_one_makes_the_person_and_takes_the_name(services: Services, guest: Caller) -> None:
    before = person_of(services, guest)
    services.people.sign_up("Greta", PASSWORD, before)
    with pytest.raises(UnknownPersonError):
        services.people.sign_up("Hilde", PASSWORD, before)
    assert names_of(services, guest) == ["look:greta", "name:greta"]
    assert services.people.find("Hilde") is None


def test_a_step_whose_answer_was_lost_is_the_same_when_it_is_repeated(services: Services, guest: Caller) -> None:
    before = person_of(services, guest)
    made = services.people._make_person(before, "Greta", "a hash")
    assert services.people._make_person(before, "Greta", "a hash") == made == person_of(services, guest)


def test_a_kill_keeps_the_old_session(services: Services, guest: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("api.access.auth.begin_session", lambda *_: 1 // 0)
        assert guest.post("/players", NEW_NAME).status_code == 500
    assert guest.get("/me").json["name"] == "Greta"
    assert guest.get("/me").json["kind"] == "person"


def test_an_erasure_and_a_sign_up_at_once_leave_one_of_them_undone(services: Services, app: Flask) -> None:
    erased, stays = Caller(app).play_as_guest(), Caller(app).play_as_guest()
    leaving, signing_up = person_of(services, erased), person_of(services, stays)
    assert services.people.begin_erasure(leaving)
    with pytest.raises(UnknownPersonError):
        services.people.sign_up("Greta", PASSWORD, leaving)
    assert erased.post("/players", NEW_NAME).json["code"] == "not-signed-in"
    erase(services, leaving)
    assert names_of(services, erased) == []
    services.people.sign_up("Greta", PASSWORD, signing_up)
    with pytest.raises(UnknownPersonError):
        erase(services, signing_up)
    assert person_of(services, stays).name == "Greta"
    assert services.people.find("Greta") is not None


def test_a_program_with_the_token_of_a_guest_signs_somebody_else_up(app: Flask, guest: Caller) -> None:
    made = Caller(app).post("/players", NEW_NAME, Authorization=guest.token())
    assert made.status_code == 201
    assert made.json["id"] != guest.id
    assert guest.get("/me").json["kind"] == "guest"


def test_a_suspended_guest_does_not_sign_up(services: Services, guest: Caller) -> None:
    services.people.suspend(person_of(services, guest), Suspension("spam", None))
    secret = services.people.sessions.open(person_of(services, guest), 60)
    guest.client.set_cookie("rookery_session", secret)
    assert guest.post("/players", NEW_NAME).json["code"] == "suspended"
    assert person_of(services, guest).kind == "guest"


@pytest.mark.parametrize(
    ("wanted", "zone"),
    [({"time_zone": "Europe/Rome"}, "Europe/Rome"), ({"time_zone": "Mars/Olympus"}, "UTC"), ({}, "UTC")],
    ids=["known", "unknown", "absent"],
)
def test_a_new_account_has_the_time_zone_of_its_browser(app: Flask, wanted: dict[str, str], zone: str) -> None:
    guest, person = Caller(app), Caller(app)
    assert guest.post("/guests", wanted).status_code == 201
    assert person.post("/players", {**NEW_NAME, **wanted}).status_code == 201
    assert [each.get("/me/calendar").json["time_zone"] for each in (guest, person)] == [zone, zone]
    assert guest.get("/me/calendar").json["free_days"] == []
