"""Opponents: one answer for each turn, whichever process is killed; time is shared fairly, cheap answers first."""

from typing import Any

import pytest
from flask import Flask

from api.services import Services
from domain.games import GAMES, find_ruleset
from domain.match import opponents
from domain.match.commands import AcceptDraw, OfferDraw, Resign, SubmitMove
from domain.search import ENGINE_VERSION, LEVELS, accepts_draw, choose, seed_for
from events.runtime.wall_clock import now_ms
from tests.support.callers import ME, OPEN, UNLIMITED, Caller, app_on, opponent
from tests.support.celery_worker import CeleryWorker
from tests.support.eventually import eventually
from tests.support.projected import project
from tests.support.relays import running
from tests.support.server import RealServer
from tests.support.stepped_installation import SteppedInstallation, legal_moves
from workers.composition import make_opponents
from workers.opponents import LONG, QUICK, SLOW, Debt, debts_of, lane_of
from workers.relay import Relay


@pytest.fixture
def shop(server: RealServer) -> SteppedInstallation:
    shop = SteppedInstallation(server.url)
    shop.now = now_ms()  # the workers that join in have the real time, and a match of long ago would be lost on time
    return shop


def plies(shop: SteppedInstallation, match_id: str) -> int:
    """Return how many plies of a match have been played."""
    return len(shop.state(match_id).play.moves)


def move_of_person(shop: SteppedInstallation, match_id: str, player: str) -> None:
    """Play the first legal move for ``player``."""
    state = shop.state(match_id)
    game = find_ruleset(state.game, state.ruleset)
    shop.do(
        match_id, SubmitMove(player=player, move=game.format_move(state.play.position, legal_moves(state)[0])), player
    )


def test_an_opponent_plays_the_move_that_anybody_can_compute_again(shop: SteppedInstallation) -> None:
    match = shop.start("opponent-2", "alice")
    state = shop.state(match)
    make_opponents(shop.parts).answer(match)
    played = shop.store.read(match)[-1]
    game = GAMES["bashni"]
    choice = choose(game, state.play.position, state.play.history, 2, seed_for(state.seed, 1))
    assert played.actor == "opponent-2"
    assert dict(played.data) == {
        "seat": 0, "ply": 1, "move": game.format_move(state.play.position, choice.move), "level": 2,
        "seed": seed_for(state.seed, 1), "engine": str(ENGINE_VERSION), "nodes": LEVELS[2].nodes, "channel": "opponent",
    }  # fmt: skip


def test_an_opponent_that_owes_nothing_does_nothing(shop: SteppedInstallation) -> None:
    theirs, over = shop.start("alice", "opponent-1"), shop.win("alice", "bob")
    assert (
        make_opponents(shop.parts).answer(theirs)
        is make_opponents(shop.parts).answer(over)
        is make_opponents(shop.parts).answer("no-such-match")
        is None
    )
    assert plies(shop, theirs) == 0


def test_opponents_that_follow_each_other_move_one_at_a_time(shop: SteppedInstallation) -> None:
    match = shop.start("opponent-1", "opponent-2", "alice", "opponent-1", game="towers", setup="four-player")
    for ply in (1, 2):
        assert make_opponents(shop.parts).answer(match) is not None
        assert plies(shop, match) == ply
    assert make_opponents(shop.parts).answer(match) is None


def test_a_task_run_twice_makes_no_second_move(shop: SteppedInstallation, monkeypatch: pytest.MonkeyPatch) -> None:
    match = shop.start("opponent-1", "opponent-2")
    twin = SteppedInstallation(shop.settings.redis_url)
    versions: list[int] = []

    def overtaken(*arguments: Any) -> Any:
        if not versions:
            versions.append(0)
            written = make_opponents(twin.parts).answer(match)
            assert written is not None
            versions[0] = written.version
        return choose(*arguments)

    monkeypatch.setattr(opponents, "choose", overtaken)
    written = make_opponents(shop.parts).answer(match)
    assert written is not None
    assert (written.version, written.repeated) == (versions[0], True)
    assert plies(shop, match) == 1


def test_a_draw_offer_in_mid_search_is_answered(shop: SteppedInstallation, monkeypatch: pytest.MonkeyPatch) -> None:
    match = shop.start("opponent-1", "alice")
    twin = SteppedInstallation(shop.settings.redis_url)
    searches: list[int] = []

    def interrupted(*arguments: Any) -> Any:
        if not searches:
            twin.do(match, OfferDraw(player="alice"), "alice")
        searches.append(1)
        return choose(*arguments)

    monkeypatch.setattr(opponents, "choose", interrupted)
    make_opponents(shop.parts).answer(match)
    assert shop.store.read(match)[-1].type == "draw-declined"
    make_opponents(shop.parts).answer(match)
    assert plies(shop, match) == 1


def test_a_match_that_ends_in_mid_search_stays(shop: SteppedInstallation, monkeypatch: pytest.MonkeyPatch) -> None:
    match = shop.start("opponent-1", "alice")
    twin = SteppedInstallation(shop.settings.redis_url)

    def interrupted(*arguments: Any) -> Any:
        twin.do(match, Resign(player="alice"), "alice")
        return choose(*arguments)

    monkeypatch.setattr(opponents, "choose", interrupted)
    assert make_opponents(shop.parts).answer(match) is None
    assert shop.state(match).status == "finished"


def test_an_opponent_that_stands_well_declines_a_draw_and_one_that_is_lost_accepts(shop: SteppedInstallation) -> None:
    match = shop.start("alice", "opponent-1")
    shop.do(match, OfferDraw(player="alice"), "alice")
    make_opponents(shop.parts).answer(match)
    assert shop.state(match).offers.draw_agreed == ()
    lost = lost_for_opponent(shop)
    shop.do(lost, OfferDraw(player="alice"), "alice")
    make_opponents(shop.parts).answer(lost)
    accepted = next(each for each in shop.store.read(lost) if each.type == "draw-accepted")
    assert accepted.data == {"seat": 1, "engine": str(ENGINE_VERSION), "nodes": LEVELS[1].nodes}
    state = shop.state(lost)
    assert (state.status, state.result.reason, state.result.scores) == ("finished", "draw-agreed", (0.5, 0.5))


def lost_for_opponent(shop: SteppedInstallation) -> str:
    """Return a match of alice against an opponent that is to move and stands clearly worse."""
    for seed in range(40):
        match = shop.start("alice", "opponent-1")
        while (state := shop.play(match, 2, seed)).status == "playing" and len(state.play.moves) < 60:
            if accepts_draw(GAMES["bashni"], state.play.position, state.play.history, 1, 1):
                return match
    raise AssertionError("no random play went badly for the opponent")


def test_an_opponent_on_several_seats_declines_for_all_of_them(shop: SteppedInstallation) -> None:
    match = shop.start("alice", "opponent-1", "opponent-1", "bob", game="towers", setup="four-player")
    shop.do(match, OfferDraw(player="alice"), "alice")
    shop.do(match, AcceptDraw(player="bob"), "bob")
    make_opponents(shop.parts).answer(match)
    assert shop.state(match).offers.draw_agreed == ()
    assert debts_of(shop.state(match)) == []


def test_a_worker_answers_for_opponents_and_rates_what_has_ended(shop: SteppedInstallation) -> None:
    with running(Relay(shop.settings)), CeleryWorker(shop.settings):
        match = shop.start("alice", "opponent-1")
        shop.do(match, OfferDraw(player="alice"), "alice")
        eventually(lambda: shop.store.read(match)[-1].type == "draw-declined", "the word on the draw")
        move_of_person(shop, match, "alice")
        eventually(lambda: plies(shop, match) == 2, "the answer of the opponent")
        shop.do(match, Resign(player="alice"), "alice")
        changes = eventually(lambda: shop.readmodels.rating_change(match), "the rating")
    assert changes["opponent-1"][1] > 1500 > changes["alice"][1]


def test_opponents_time_is_shared_by_who_created_the_matches(shop: SteppedInstallation) -> None:
    strong = [shop.start("opponent-8", "anna") for _ in range(3)]
    weak = [shop.start("opponent-7", "boris") for _ in range(5)]
    assert {make_opponents(shop.parts).add_turn(match) for match in (*strong, *weak)} == {SLOW}
    claimed = [turn.id for turn in iter(shop.parts.turns.claim, None)]
    answers = LEVELS[8].nodes // LEVELS[7].nodes
    assert set(claimed[: answers + 1]) == {strong[0], *weak[:answers]}


def test_a_match_waits_once_and_again_when_something_is_owed_meanwhile(shop: SteppedInstallation) -> None:
    match = shop.start("opponent-7", "anna")
    for _ in range(3):
        make_opponents(shop.parts).add_turn(match)
    turn = shop.parts.turns.claim()
    assert (turn.id, turn.owner, turn.lane) == (match, "anna", SLOW)
    assert shop.parts.turns.claim() is None
    make_opponents(shop.parts).add_turn(match)
    assert shop.parts.turns.finish(turn)
    assert shop.parts.turns.claim().id == match


def test_cheap_answers_have_a_lane_of_their_own(shop: SteppedInstallation) -> None:
    debts = [Debt(0, f"opponent-{level}", level, draw=False) for level in LEVELS]
    assert [lane_of(debt) for debt in debts] == [QUICK] * 4 + [SLOW] * 4 + [LONG] * 4
    assert [lane_of(debt._replace(draw=True)) for debt in debts] == [QUICK] * 4 + [SLOW] * 8
    assert [make_opponents(shop.parts).add_turn(shop.start(f"opponent-{level}", "anna")) for level in (4, 5)] == [
        QUICK,
        SLOW,
    ]


def test_a_match_that_waits_in_the_wrong_lane_is_left_to_the_other(shop: SteppedInstallation) -> None:
    match = shop.start("opponent-5", "alice")
    assert make_opponents(shop.parts).answer(match, QUICK) is None
    assert shop.state(match).play.moves == ()


def test_a_guest_plays_five_matches_against_opponents_at_a_time(app: Flask, services: Services) -> None:
    guest = Caller(app).play_as_guest()
    matches = [guest.create(ME, opponent(1)) for _ in range(5)]
    project(services)
    wanted = {"game": "bashni", "setup": "start", "seats": [ME, opponent(1)]}
    refused = guest.post("/matches", wanted)
    assert (refused.status_code, refused.json["code"]) == (409, "too-many-matches")
    assert refused.json["detail"] == (
        "You are playing 5 matches against the computer: end one before you begin another, or sign up to play more."
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
    assert "Guests play the computer up to level 5" in offered
    assert "Level 8:" in anna.client.get("/matches/new").text
