"""Opponents' time is shared fairly by person, cheap answers first: who is served next."""

from typing import Any

import pytest
from flask import Flask

from api.services import Services
from domain.search import LEVELS
from events.runtime.backoff import Backoff
from events.runtime.wall_clock import now_ms
from tests.support.callers import ME, OPEN, UNLIMITED, Caller, app_on, opponent
from tests.support.celery_worker import Broker, CeleryWorker
from tests.support.eventually import eventually
from tests.support.projected import project
from tests.support.relays import running
from tests.support.server import RealServer
from tests.support.stepped_installation import SteppedInstallation
from workers.opponents import OPPONENTS, QUICK, SLOW, add_turn, answer, lane_of
from workers.relay import Relay


def test_opponents_time_is_shared_by_who_created_the_matches(shop: SteppedInstallation) -> None:
    strong = [shop.start("opponent-8", "anna") for _ in range(3)]
    weak = [shop.start("opponent-7", "boris") for _ in range(5)]
    assert {add_turn(shop.parts, match) for match in (*strong, *weak)} == {SLOW}
    claimed = [turn.id for turn in iter(shop.parts.turns.claim, None)]
    answers = LEVELS[8].nodes // LEVELS[7].nodes
    assert set(claimed[: answers + 1]) == {strong[0], *weak[:answers]}


def test_a_match_waits_once_and_again_when_something_is_owed_meanwhile(shop: SteppedInstallation) -> None:
    match = shop.start("opponent-7", "anna")
    for _ in range(3):
        add_turn(shop.parts, match)
    turn = shop.parts.turns.claim()
    assert (turn.id, turn.owner, turn.lane) == (match, "anna", SLOW)
    assert shop.parts.turns.claim() is None
    add_turn(shop.parts, match)
    assert shop.parts.turns.finish(turn)
    assert shop.parts.turns.claim().id == match


def test_cheap_answers_have_a_lane_of_their_own(shop: SteppedInstallation) -> None:
    assert [lane_of(level) for level in LEVELS] == [QUICK] * 4 + [SLOW] * 4
    assert [add_turn(shop.parts, shop.start(f"opponent-{level}", "anna")) for level in (4, 5)] == [QUICK, SLOW]


def test_a_match_that_waits_in_the_wrong_lane_is_left_to_the_other(shop: SteppedInstallation) -> None:
    match = shop.start("opponent-5", "alice")
    assert answer(shop.parts, match, QUICK) is None
    assert shop.state(match).play.moves == ()


def test_quick_answers_are_given_while_strong_opponents_keep_all_others_busy(shop: SteppedInstallation) -> None:
    shop.now = now_ms()
    turns = shop.parts.turns
    crowd = [shop.start("opponent-8", "anna") for _ in range(5)]
    with running(Relay(shop.settings)):
        eventually(lambda: turns.count()[SLOW] == len(crowd), "the crowd that waits")
        alone = shop.start("opponent-1", "boris")
        with CeleryWorker(shop.settings, [OPPONENTS[QUICK]]):
            eventually(lambda: shop.state(alone).play.moves, "the answer of the weak opponent")
    assert turns.count()[SLOW] == len(crowd), "the process for quick answers takes no others"


def test_a_match_whose_hint_was_lost_gets_the_next(shop: SteppedInstallation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workers.retries.DELAYS_MS", Backoff(100, 600_000))
    monkeypatch.setattr("workers.relay.SWEEP_INTERVAL_S", 0.2)
    shop.now = now_ms()
    broker, turns = Broker(shop.settings), shop.parts.turns
    with running(Relay(shop.settings)):
        match = shop.start("opponent-1", "alice")
        eventually(lambda: turns.count()[QUICK] == 1, "the match that waits")
        broker.lose_everything()
        with CeleryWorker(shop.settings):
            eventually(lambda: shop.state(match).play.moves, "the move")


def test_a_guest_plays_three_matches_against_opponents_at_a_time(app: Flask, services: Services) -> None:
    guest = Caller(app).play_as_guest()
    matches = [guest.create(ME, opponent(1)) for _ in range(3)]
    project(services)
    wanted = {"game": "bashni", "setup": "start", "seats": [ME, opponent(1)]}
    refused = guest.post("/matches", wanted)
    assert (refused.status_code, refused.json["code"]) == (409, "too-many-matches")
    assert refused.json["detail"] == (
        "You are playing 3 matches against opponents: end one before you begin another, or sign up to play more."
    )
    assert guest.post("/matches", {**wanted, "seats": [ME, OPEN]}).status_code == 201
    assert guest.post(f"/matches/{matches[0]}/resignation").status_code == 201
    project(services)
    assert guest.post("/matches", wanted).status_code == 201


def test_a_guest_cannot_begin_any_number_of_matches_one_after_the_other(server: RealServer) -> None:
    app = app_on(server.url, UNLIMITED._replace(guest_matches="2/hour"))
    guest = Caller(app).play_as_guest()
    wanted = {"game": "bashni", "setup": "start", "seats": [ME, opponent(1)]}
    assert [guest.post("/matches", wanted).status_code for _ in range(3)] == [201, 201, 429]
    assert guest.post("/matches", {**wanted, "seats": [ME, OPEN]}).status_code == 201


def test_matches_of_a_person_are_limited(anna: Caller, services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.access.admission.MAX_ACTIVE_MATCHES", 2)
    first, _ = anna.create(ME, OPEN), anna.create(ME, OPEN)
    project(services)
    wanted = {"game": "bashni", "setup": "start", "seats": [ME, OPEN]}
    refused = anna.post("/matches", wanted)
    assert (refused.status_code, refused.json["code"]) == (409, "too-many-matches")
    assert refused.json["detail"] == "You have 2 matches going: end one before you begin another."
    assert anna.post(f"/matches/{first}/abortion").status_code == 201
    project(services)
    assert anna.post("/matches", wanted).status_code == 201


def test_a_guest_plays_opponents_up_to_level_five(app: Flask, anna: Caller, services: Services) -> None:
    guest = Caller(app).play_as_guest()
    guest.create(ME, opponent(5))
    wanted: dict[str, Any] = {"game": "bashni", "setup": "start", "seats": [ME, opponent(6)]}
    before = len(list(services.store.all_streams()))
    refused = guest.post("/matches", wanted)
    assert (refused.status_code, refused.json["code"]) == (422, "guests-play-weaker-opponents")
    assert refused.json["errors"] == {"seats": ["guests play opponents up to level 5: sign up to play stronger ones"]}
    assert len(list(services.store.all_streams())) == before
    assert anna.post("/matches", wanted).status_code == 201


def test_the_page_offers_a_guest_the_levels_that_a_guest_may_play(app: Flask, anna: Caller) -> None:
    guest = Caller(app).play_as_guest()
    assert "Level 5:" in (offered := guest.client.get("/matches/new?level=8").text)
    assert "Level 6:" not in offered
    assert "Guests play opponents up to level 5" in offered
    assert "Level 8:" in anna.client.get("/matches/new").text
