"""Opponents' time is shared fairly by person, cheap answers first: who is served next."""

from typing import Any

import pytest
from flask import Flask

from api.access.limits import Limits
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
from tests.support.stepped_installation import PREFIX, SteppedInstallation
from workers.celery_app import OPPONENTS
from workers.fair_queue import QUICK, SLOW, FairQueue, lane_of
from workers.opponents import answer
from workers.relay import Relay


@pytest.fixture
def queue(shop: SteppedInstallation) -> FairQueue:
    """Return the empty queue of an installation."""
    return FairQueue(shop.client, PREFIX)


def served(queue: FairQueue, lane: str) -> list[str]:
    """Take all matches that wait in a lane; return them in the order in which they are served."""
    return [turn.match_id for turn in iter(lambda: queue.take(lane), None)]


def test_who_has_one_match_is_served_next_although_somebody_else_has_a_hundred_waiting(queue: FairQueue) -> None:
    for number in range(100):
        queue.add(f"many-{number:02d}", "anna", level=8)
    assert queue.take(SLOW).match_id == "many-00"
    queue.add("one", "boris", level=8)
    assert queue.take(SLOW).match_id == "many-01", "both have waited through one answer: the first to come"
    assert queue.take(SLOW).match_id == "one"
    assert len(served(queue, SLOW)) == 98


def test_people_take_turns(queue: FairQueue) -> None:
    for number in range(3):
        for person in ("anna", "boris", "clara"):
            queue.add(f"{number} {person}", person, level=6)
    rounds = served(queue, SLOW)
    assert [sorted(rounds[place : place + 3]) for place in (0, 3, 6)] == [
        [f"{number} anna", f"{number} boris", f"{number} clara"] for number in range(3)
    ]


def test_time_is_shared_and_not_answers(queue: FairQueue) -> None:
    for number in range(20):
        queue.add(f"strong-{number}", "anna", level=8)
        queue.add(f"weak-{number}", "boris", level=5)
    answers = LEVELS[8].nodes // LEVELS[5].nodes
    assert [match.partition("-")[0] for match in served(queue, SLOW)[:answers]].count("weak") >= answers - 1


def test_turns_that_were_not_taken_are_not_saved_up(queue: FairQueue) -> None:
    for number in range(50):
        queue.add(f"first-{number}", "anna", level=8)
        assert queue.take(SLOW).match_id == f"first-{number}"
    queue.add("busy", "anna", level=8)
    for number in range(50):
        queue.add(f"late-{number}", "boris", level=8)
    assert "busy" in served(queue, SLOW)[:2]


def test_a_match_waits_once_and_the_empty_queue_keeps_nothing(shop: SteppedInstallation, queue: FairQueue) -> None:
    for _ in range(3):
        queue.add("m", "anna", level=7)
    assert queue.waiting(SLOW) == 1
    assert served(queue, SLOW) == ["m"]
    assert list(shop.client.scan_iter(f"{PREFIX}{{opponents}}*")) == []


def test_cheap_answers_have_a_lane_of_their_own(queue: FairQueue) -> None:
    assert [lane_of(level) for level in LEVELS] == [QUICK] * 4 + [SLOW] * 4
    queue.add("strong", "anna", level=5)
    queue.add("weak", "anna", level=4)
    assert (served(queue, QUICK), served(queue, SLOW)) == (["weak"], ["strong"])


def test_a_match_that_waits_in_the_wrong_lane_is_left_to_the_other(shop: SteppedInstallation) -> None:
    match = shop.start("opponent-5", "alice")
    assert answer(shop.parts, match, QUICK) is None
    assert shop.state(match).play.moves == ()


def test_the_process_for_quick_answers_answers_while_strong_opponents_keep_all_others_busy(
    shop: SteppedInstallation,
) -> None:
    shop.now = now_ms()
    queue = FairQueue(shop.client, PREFIX)
    crowd = [shop.start("opponent-8", "anna") for _ in range(5)]
    with running(Relay(shop.settings)):
        eventually(lambda: queue.waiting(SLOW) == len(crowd), "the crowd that waits")
        alone = shop.start("opponent-1", "boris")
        with CeleryWorker(shop.settings, [OPPONENTS[QUICK]]):
            eventually(lambda: shop.state(alone).play.moves, "the answer of the weak opponent")
    assert queue.waiting(SLOW) == len(crowd), "the process for quick answers takes no others"


def test_a_match_whose_hint_was_lost_is_answered_with_the_next_one(
    shop: SteppedInstallation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workers.retries.DELAYS_MS", Backoff(100, 600_000))
    monkeypatch.setattr("workers.relay.SWEEP_INTERVAL_S", 0.2)
    shop.now = now_ms()
    broker, queue = Broker(shop.settings), FairQueue(shop.client, PREFIX)
    with running(Relay(shop.settings)):
        match = shop.start("opponent-1", "alice")
        eventually(lambda: queue.waiting(QUICK) == 1, "the match that waits")
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


def test_a_guest_whose_requests_outrun_the_read_models_cannot_begin_any_number_of_matches(server: RealServer) -> None:
    app = app_on(server.url, UNLIMITED._replace(guest_matches=Limits().guest_matches))
    guest = Caller(app).play_as_guest()
    wanted = {"game": "bashni", "setup": "start", "seats": [ME, opponent(1)]}
    assert [guest.post("/matches", wanted).status_code for _ in range(31)] == [201] * 30 + [429]
    assert guest.post("/matches", {**wanted, "seats": [ME, OPEN]}).status_code == 201


def test_the_matches_that_a_person_has_going_are_limited(
    anna: Caller, services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    assert refused.json["errors"] == {
        "seats": ["guests play opponents up to level 5: sign up to play stronger ones"],
    }
    assert len(list(services.store.all_streams())) == before
    assert anna.post("/matches", wanted).status_code == 201


def test_the_page_offers_a_guest_the_levels_that_a_guest_may_play(app: Flask, anna: Caller) -> None:
    guest = Caller(app).play_as_guest()
    assert "Level 5:" in (offered := guest.client.get("/matches/new?level=8").text)
    assert "Level 6:" not in offered
    assert "Guests play opponents up to level 5" in offered
    assert "Level 8:" in anna.client.get("/matches/new").text
