"""What the page of a match offers when time is up, with a clock that the tests turn."""

from typing import Any

import pytest
from flask import Flask

from tests.support.callers import ME, Caller, app_on, opponent, started
from tests.support.server import RealServer
from tests.support.watch import Watch

DAY = 86_400_000
CLAIMED = {"control": "days-per-move", "bank": 86_400, "flag": "claim", "vacations": False}
AUTOMATIC = {"control": "days-per-move", "bank": 86_400}
NO_VACATION = {"time_zone": "UTC", "free_days": [], "auto_vacation": False, "plays_forced": False}


@pytest.fixture
def app(server: RealServer, watch: Watch) -> Flask:
    """Return the product's app on the emptied server, with a clock that stands still."""
    return app_on(server.url, now=watch)


def page(caller: Caller, match_id: str) -> str:
    answer = caller.client.get(f"/matches/{match_id}", headers={"Accept": "text/html"})
    assert answer.status_code == 200
    return " ".join(answer.text.split())


def begun(white: Caller, black: Caller, terms: dict[str, Any]) -> str:
    """Return a match in which both have made their first move; it is White's turn."""
    match = started(white, black, terms=terms)
    white.move(match)
    black.move(match)
    return match


def test_time_can_be_claimed_and_forgiven(anna: Caller, boris: Caller, stranger: Caller, watch: Watch) -> None:
    match_id = begun(anna, boris, CLAIMED)
    assert "You must move by" in page(anna, match_id)
    assert "If not, the others may claim that time is up." in page(anna, match_id)
    watch.advance(2 * DAY)
    assert "The time of anna is up.</strong> You may claim the win" in page(boris, match_id)
    assert "time-claims" not in page(anna, match_id)
    assert boris.post(f"/matches/{match_id}/time-claims").status_code == 201
    won = page(boris, match_id)
    assert "On time." in won
    assert "You have won on time.</strong> Until" in won
    assert all("forgiveness" not in page(other, match_id) for other in (anna, stranger))
    assert boris.post(f"/matches/{match_id}/forgiveness").status_code == 201
    assert "You must move by" in page(anna, match_id)


def test_a_move_against_an_opponent_can_be_taken_back_on_the_page(anna: Caller) -> None:
    match_id = anna.create(ME, opponent(1))
    anna.move(match_id)
    assert "takeback-requests" in page(anna, match_id)


def test_who_comes_too_late_has_lost_and_may_be_forgiven(anna: Caller, boris: Caller, watch: Watch) -> None:
    match = begun(anna, boris, AUTOMATIC)
    assert "If not, White loses at that instant." in page(boris, match)
    assert anna.put("/me/calendar", NO_VACATION).status_code == 200
    watch.advance(2 * DAY)
    assert anna.move(match, "c3-d4").json["code"] == "match-over"
    assert "forgiveness" in page(boris, match)
    watch.advance(4 * DAY)
    assert "forgiveness" not in page(boris, match)


def test_a_first_move_that_does_not_come_calls_the_match_off(anna: Caller, boris: Caller, watch: Watch) -> None:
    match = started(anna, boris)
    assert anna.put("/me/calendar", NO_VACATION).status_code == 200
    assert "If not, the match is cancelled without a result." in page(anna, match)
    watch.advance(8 * DAY)
    assert anna.move(match, "c3-d4").status_code == 409
    assert "White did not make the first move in time. The match ended without a result." in page(boris, match)
