"""Opponents that think for long: one search after the other, given up when not wanted, in time for every flag."""

from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask

from api.services import Services
from domain.match import opponents
from domain.match.clock import falls_at
from domain.match.commands import OfferDraw, Resign
from domain.match.enums import Control
from domain.match.terms import DAY, HOUR, STANDARD
from domain.search import LEVELS, budgets, choose, node_budget
from domain.search.budgets import Pace, offered_levels
from events.matches import thoughts
from events.matches.match_service import MatchService
from events.runtime.errors import StoreUnavailableError
from tests.support.callers import ME, Caller, opponent
from tests.support.projected import project
from tests.support.server import RealServer
from tests.support.stepped_installation import SteppedInstallation
from workers import long_searches
from workers.composition import make_long_thinker, make_opponents
from workers.long_searches import LongThinker
from workers.opponents import LONG, SLOW
from workers.sweeper import LONG_ANSWER_MS

SHORT = LEVELS[8].nodes


@pytest.fixture
def shop(server: RealServer, monkeypatch: pytest.MonkeyPatch) -> SteppedInstallation:
    """Return an installation in which the long searches of Bashni take a second, and report at every chance."""
    monkeypatch.setitem(budgets.PACES, "bashni", Pace(10_000, 10_000, (30_000, 36_000, 42_000, 48_000)))
    monkeypatch.setattr(long_searches, "MIN_INTERVAL_S", 0.0)
    shop = SteppedInstallation(server.url)
    shop.parts.turns.lease_ms = 1
    return shop


def going() -> bool:
    return False


def long_thinker(shop: SteppedInstallation, is_stopping: Callable[[], bool] = going) -> LongThinker:
    return make_long_thinker(shop.parts, is_stopping)


def claim(shop: SteppedInstallation) -> Any:
    turn = shop.parts.turns.claim([LONG])
    assert turn is not None
    return turn


def test_an_opponent_that_thinks_for_long_visits_the_nodes_of_its_level(shop: SteppedInstallation) -> None:
    match = shop.start("opponent-12", "alice")
    assert make_opponents(shop.parts).add_turn(match) == LONG
    assert long_thinker(shop).answer(claim(shop)) is not None
    (played,) = [event for event in shop.store.read(match) if event.type == "move-submitted"]
    assert (played.data["level"], played.data["nodes"]) == (12, 48_000)


def test_other_lanes_leave_a_long_search_alone(shop: SteppedInstallation) -> None:
    match = shop.start("opponent-9", "alice")
    assert make_opponents(shop.parts).answer(match, SLOW) is None
    assert shop.state(match).play.moves == ()


def test_of_the_matches_of_a_person_the_one_whose_flag_falls_first_is_searched_first(shop: SteppedInstallation) -> None:
    hurried = STANDARD._replace(control=Control.DAYS_PER_MOVE, bank=HOUR, cap=HOUR, increment=0, first_move=HOUR)
    for terms in (STANDARD, hurried):
        make_opponents(shop.parts).add_turn(shop.start("opponent-9", "alice", terms=terms))
    assert shop.state(thoughts.match_of(claim(shop).id)).terms == hurried


def test_a_choice_that_was_not_stored_is_not_searched_for_again(
    shop: SteppedInstallation, monkeypatch: pytest.MonkeyPatch
) -> None:
    match, searches, execute = shop.start("opponent-9", "alice"), list[int](), MatchService.execute

    def counted(*arguments: Any) -> Any:
        searches.append(1)
        return choose(*arguments)

    def unavailable(*_: Any) -> Any:
        monkeypatch.setattr(MatchService, "execute", execute)
        raise StoreUnavailableError("away")

    monkeypatch.setattr(opponents, "choose", counted)
    monkeypatch.setattr(MatchService, "execute", unavailable)
    make_opponents(shop.parts).add_turn(match)
    with pytest.raises(StoreUnavailableError):
        long_thinker(shop).answer(claim(shop))
    shop.now += 1000
    assert long_thinker(shop).answer(claim(shop)) is not None
    assert len(searches) == 1


def test_a_search_ends_when_the_match_does(shop: SteppedInstallation, monkeypatch: pytest.MonkeyPatch) -> None:
    match, visited = shop.start("opponent-12", "alice"), list[int]()
    twin = SteppedInstallation(shop.settings.redis_url)

    def resigned(*arguments: Any) -> Any:
        *others, on_progress = arguments

        def counted(nodes: int) -> None:
            visited.append(nodes)
            on_progress(nodes)

        twin.do(match, Resign(player="alice"), "alice")
        return choose(*others, counted)  # type: ignore[call-arg]

    monkeypatch.setattr(opponents, "choose", resigned)
    make_opponents(shop.parts).add_turn(match)
    assert long_thinker(shop).answer(claim(shop)) is None
    assert len(visited) == 1


def test_a_search_goes_on_over_a_draw_offer_which_is_answered_meanwhile(
    shop: SteppedInstallation, monkeypatch: pytest.MonkeyPatch
) -> None:
    match, searches = shop.start("opponent-9", "alice"), list[int]()
    twin = SteppedInstallation(shop.settings.redis_url)

    def interrupted(*arguments: Any) -> Any:
        searches.append(1)
        twin.do(match, OfferDraw(player="alice"), "alice")
        assert make_opponents(twin.parts).add_turn(match) == SLOW
        assert make_opponents(twin.parts).answer(match, SLOW) is not None
        return choose(*arguments)

    monkeypatch.setattr(opponents, "choose", interrupted)
    make_opponents(shop.parts).add_turn(match)
    assert long_thinker(shop).answer(claim(shop)) is not None
    types = [event.type for event in shop.store.read(match)][-3:]
    assert (types, len(searches)) == (["draw-offered", "draw-declined", "move-submitted"], 1)


def test_a_move_waits_for_the_answer_to_a_draw_offer(shop: SteppedInstallation) -> None:
    match = shop.start("opponent-9", "alice")
    make_opponents(shop.parts).add_turn(match)
    shop.do(match, OfferDraw(player="alice"), "alice")
    assert long_thinker(shop).answer(claim(shop)) is None
    assert make_opponents(shop.parts).answer(match, SLOW) is not None
    shop.now += long_searches.DRAW_WAIT_MS
    assert long_thinker(shop).answer(claim(shop)) is not None


def test_a_worker_that_stops_leaves_its_search_to_the_next(shop: SteppedInstallation) -> None:
    match = shop.start("opponent-12", "alice")
    make_opponents(shop.parts).add_turn(match)
    assert long_thinker(shop, lambda: True).answer(claim(shop)) is None
    assert shop.state(match).play.moves == ()
    assert claim(shop).attempts == 1


def test_an_answer_comes_well_before_the_flag_though_nobody_searches(shop: SteppedInstallation) -> None:
    match = shop.start("opponent-12", "alice")
    make_opponents(shop.parts).add_turn(match)
    urgent_at, flag = thoughts.urgent_at(shop.state(match)), falls_at(shop.state(match).clock)
    assert urgent_at is not None
    assert flag is not None
    assert flag - urgent_at > DAY
    assert make_opponents(shop.parts).answer_urgently(match) is None
    assert shop.parts.turns.claim([SLOW]) is None
    shop.now = urgent_at
    turn = shop.parts.turns.claim([SLOW])
    assert turn is not None
    assert thoughts.is_urgent(turn.id)
    assert make_opponents(shop.parts).answer_urgently(thoughts.match_of(turn.id)) is not None
    assert shop.store.read(match)[-1].data["nodes"] == SHORT
    # The search is not begun any more.
    assert long_thinker(shop).answer(claim(shop)) is None


def test_a_search_that_begins_late_has_fewer_nodes(shop: SteppedInstallation) -> None:
    match = shop.start("opponent-12", "alice")
    make_opponents(shop.parts).add_turn(match)
    urgent_at = thoughts.urgent_at(shop.state(match))
    assert urgent_at is not None
    shop.now = urgent_at - 4_000
    assert long_thinker(shop).answer(claim(shop)) is not None
    nodes = shop.store.read(match)[-1].data["nodes"]
    assert SHORT < nodes <= 40_000


def test_the_page_tells_how_long_an_opponent_still_thinks(
    app: Flask, anna: Caller, services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(budgets.PACES, "bashni", Pace(10_000, 10_000, (1_200_000, 2_400_000, 3_600_000, 4_800_000)))
    match = anna.create(opponent(10), ME)
    make_opponents(services).add_turn(match)
    page = anna.client.get(f"/matches/{match}").text
    assert "Computer, level 10 (White) is going to think for about 4 minutes: other searches come first." in page
    assert "Computer, level 10 visits up to 2,400,000 positions for a move: it thinks about 4 minutes." in page
    turn = services.turns.claim([LONG])
    assert turn is not None
    thought = thoughts.Thought("", until=services.now() + 150_000)
    assert services.turns.renew(turn, thoughts.packed(thought))
    assert "Computer, level 10 (White) is thinking, about 2 minutes left." in anna.client.get(f"/matches/{match}").text


def test_the_strongest_opponents_are_played_by_accounts_few_at_a_time(
    app: Flask, anna: Caller, services: Services
) -> None:
    wanted = {"game": "bashni", "setup": "start", "seats": [ME, opponent(9)]}
    refused = Caller(app).play_as_guest().post("/matches", wanted)
    assert (refused.status_code, refused.json["code"]) == (422, "guests-play-weaker-opponents")
    for _ in range(3):
        anna.create(ME, opponent(9))
    project(services)
    refused = anna.post("/matches", wanted)
    assert (refused.status_code, refused.json["code"]) == (409, "too-many-matches")
    assert refused.json["detail"] == (
        "You are playing 3 matches against levels 9 and above, which think for long: end one before you begin another."
    )
    assert anna.post("/matches", {**wanted, "seats": [ME, opponent(8)]}).status_code == 201


def test_a_level_that_would_think_too_long_here_is_refused_and_not_offered(
    anna: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(budgets.PACES, "bashni", Pace(10_000, 10_000, (90_000, 6_000_000, 12_000_000, 24_000_000)))
    assert offered_levels("bashni") == list(range(1, 11))
    refused = anna.post("/matches", {"game": "bashni", "setup": "start", "seats": [ME, opponent(12)]})
    assert (refused.status_code, refused.json["code"]) == (422, "level-not-offered")
    reason = "level 12 would think for 40 minutes about a move on this server, which runs plain Python"
    assert refused.json["errors"] == {"seats.1.level": [f"{reason}: the strongest here is 10"]}
    game = anna.client.get("/api/v1/games/bashni").json
    assert (game["levels"][-1], game["level_nodes"][-1]) == (10, node_budget("bashni", 10))
    form = anna.client.get("/matches/new?game=bashni&level=10").text
    assert "Level 10: thinks about 10 minutes about a move" in form


def test_the_sweeper_is_patient_with_opponents_that_think_for_long(shop: SteppedInstallation) -> None:
    shop.start("opponent-9", "alice")
    sweeper = shop.sweeper()
    shop.project_all()
    shop.now += 60_000
    assert sweeper.remind_opponents() == 0
    shop.now += LONG_ANSWER_MS
    assert sweeper.remind_opponents() == 1
