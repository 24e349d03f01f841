"""Whom players let invite them: a setting of theirs, which those with a link to an open match do not need."""

from typing import Any

import pytest
from flask import Flask

from api.services import Services
from tests.support.callers import Caller, invited, started
from tests.support.projected import project


@pytest.fixture
def guest(app: Flask) -> Caller:
    return Caller(app).play_as_guest()


def allow(caller: Caller, who: str) -> None:
    settings = {**caller.get("/me/notice-settings").json, "who_may_invite": who}
    assert caller.put("/me/notice-settings", settings).status_code == 200


def invite(inviter: Caller) -> Any:
    return inviter.post("/matches", {"game": "bashni", "seats": [{"kind": "me"}, invited("anna")]})


def test_guests_invite_by_a_link_and_not_by_name(anna: Caller, boris: Caller, guest: Caller) -> None:
    refused = invite(guest)
    assert (refused.status_code, refused.json["code"]) == (403, "not-invitable")
    assert refused.json["detail"] == (
        "anna takes no invitations from guests. Leave the seat open, and send a link to the match instead."
    )
    assert invite(boris).status_code == 201
    match_id = guest.create({"kind": "me"}, {"kind": "open"})
    assert anna.post(f"/matches/{match_id}/joins").status_code == 201


def test_acquaintances_pass_the_setting(anna: Caller, boris: Caller, guest: Caller, services: Services) -> None:
    allow(anna, "anyone")
    assert invite(guest).status_code == 201
    allow(anna, "acquainted")
    assert invite(boris).json["code"] == "not-invitable"
    match_id = started(anna, boris)
    anna.move(match_id)
    boris.move(match_id)
    assert anna.post(f"/matches/{match_id}/resignation").status_code == 201
    project(services)
    assert invite(boris).status_code == 201
    allow(anna, "nobody")
    assert invite(boris).json["code"] == "not-invitable"
