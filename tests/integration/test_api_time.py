"""Calendars, vacations, claims, gifts of time and forgiveness through the API."""

from typing import Any

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from api.access.limits import Limits
from api.services import Services
from domain.match.terms import DAY, HOUR, MINUTE
from events.runtime.wall_clock import rfc3339
from tests.support.callers import UNLIMITED, Caller, app_on, started
from tests.support.matches import T0
from tests.support.server import RealServer
from tests.support.tables import table
from tests.support.watch import Watch

THREE_DAYS = {"control": "days-per-move", "bank": 3 * 86_400}
CALENDAR = {"time_zone": "Europe/Berlin", "free_days": [5, 6], "auto_vacation": False, "plays_forced": False}


@pytest.fixture
def app(server: RealServer, watch: Watch) -> Flask:
    """Return the product's app on the emptied server, with a clock that stands still."""
    return app_on(server.url, now=watch)


def on(instant: int) -> str:
    return rfc3339(instant)


def under_way(services: Services, anna: Caller, boris: Caller, **terms: Any) -> str:
    """Return a match at three days per move in which both have moved, with its read models."""
    match = started(anna, boris, terms={**THREE_DAYS, **terms})
    anna.move(match)
    boris.move(match)
    projector = services.projector
    assert projector.project([match]) == {}
    return match


def pass_time(services: Services, watch: Watch, instant: int) -> None:
    """Go to ``instant`` as if the clocks had been kept all the time until then."""
    services.store.client.set("rk:{time}:heartbeat", instant)
    watch.now = instant


def forecast(caller: Caller, match_id: str) -> str:
    """Return the instant at which the flag of the seat to move would fall."""
    return str(caller.get(f"/matches/{match_id}").json["clock"]["forecast"]["at"])


def refusal(answer: TestResponse) -> tuple[int, str]:
    assert answer.status_code >= 400, answer.text
    return answer.status_code, answer.json["code"]


def test_who_has_set_nothing_has_automatic_vacation_and_no_free_days(anna: Caller) -> None:
    assert anna.get("/me/calendar").json == {
        "time_zone": "UTC",
        "free_days": [],
        "auto_vacation": True,
        "plays_forced": False,
    }
    assert anna.get("/me/vacations").json == {"items": [], "left": 30 * 86_400, "year": 2023}


def test_guests_have_a_calendar_too(stranger: Caller) -> None:
    assert refusal(stranger.get("/me/calendar")) == (401, "not-signed-in")
    guest = stranger.play_as_guest()
    assert guest.put("/me/calendar", CALENDAR).json == CALENDAR
    assert guest.get("/me/calendar").json == CALENDAR


def test_a_calendar_reaches_the_matches_that_are_being_played(anna: Caller, boris: Caller, services: Services) -> None:
    match_id = under_way(services, anna, boris)
    assert forecast(boris, match_id) == on(T0 + 3 * DAY)  # it is a Tuesday, and Friday is free
    anna.put("/me/calendar", {**CALENDAR, "free_days": [4]})
    assert forecast(boris, match_id) == on(T0 + 4 * DAY)
    events = boris.get(f"/matches/{match_id}/events")
    assert "calendar-set" not in events.text
    assert "clock-paused" not in events.text


def test_lists_show_deadlines_with_the_free_days_to_come(anna: Caller, boris: Caller, services: Services) -> None:
    match = under_way(services, anna, boris)
    anna.put("/me/calendar", {**CALENDAR, "free_days": [4]})
    for path in ("/me/queue", "/me/pending"):
        (item,) = anna.get(path).json["items"]
        assert (item["match"]["id"], item["match"]["deadline"]) == (match, on(T0 + 4 * DAY))
    (item,) = boris.get("/me/matches?view=active").json["items"]
    assert item["deadline"] == forecast(anna, match) == on(T0 + 4 * DAY)


@pytest.mark.parametrize(("change", "code", "field"), table(__file__, "an invalid calendar is refused by place"))
def test_an_invalid_calendar_is_refused_by_place(anna: Caller, change: dict[str, Any], code: str, field: str) -> None:
    refused = anna.put("/me/calendar", {**CALENDAR, **change})
    assert refusal(refused) == (422, code)
    assert list(refused.json["errors"]) == [field]
    assert anna.get("/me/calendar").json["time_zone"] == "UTC"


def test_a_vacation_stops_the_clocks_of_two_matches(anna: Caller, boris: Caller, services: Services) -> None:
    matches = [under_way(services, anna, boris), under_way(services, boris, anna)]
    taken = anna.post("/me/vacations", {"since": on(T0 + DAY), "until": on(T0 + 8 * DAY)})
    assert taken.status_code == 201
    vacation = {"since": on(T0 + DAY), "until": on(T0 + 8 * DAY), "automatic": False}
    assert taken.json == {"items": [vacation], "left": 23 * 86_400, "year": 2023}
    assert anna.get("/me/vacations").json == taken.json
    for match_id, seat in zip(matches, (0, 1), strict=True):
        (announced,) = boris.get(f"/matches/{match_id}").json["clock"]["seats"][seat]["announced"]
        assert announced == {"reason": "vacation", "since": vacation["since"], "until": vacation["until"]}
    assert forecast(boris, matches[0]) == on(T0 + 10 * DAY)


def test_a_vacation_can_begin_now_and_end_early(anna: Caller, boris: Caller, services: Services, watch: Watch) -> None:
    match_id = under_way(services, anna, boris)
    assert anna.post("/me/vacations", {"until": on(T0 + 8 * DAY)}).status_code == 201
    assert boris.get(f"/matches/{match_id}").json["clock"]["seats"][0]["on_vacation"]
    pass_time(services, watch, T0 + 2 * DAY)
    assert anna.delete("/me/vacations/current").status_code == 204
    assert not boris.get(f"/matches/{match_id}").json["clock"]["seats"][0]["on_vacation"]
    assert anna.get("/me/vacations").json["left"] == 28 * 86_400
    assert refusal(anna.delete("/me/vacations/current")) == (404, "no-vacation")


def test_a_vacation_that_lies_ahead_can_be_cancelled(anna: Caller, boris: Caller, services: Services) -> None:
    match = under_way(services, anna, boris)
    anna.post("/me/vacations", {"since": on(T0 + DAY), "until": on(T0 + 8 * DAY)})
    for unknown in (on(T0 + 2 * DAY), "tomorrow", "2023-13-40T00:00:00Z"):
        assert refusal(anna.delete(f"/me/vacations/{unknown}")) == (404, "no-vacation")
    assert anna.delete(f"/me/vacations/{on(T0 + DAY)}").status_code == 204
    assert anna.get("/me/vacations").json["items"] == []
    assert forecast(boris, match) == on(T0 + 3 * DAY)


def test_the_same_vacation_asked_for_again_is_the_one_there_is(anna: Caller) -> None:
    wanted = {"since": "2023-12-24T00:00:00+01:00", "until": "2023-12-27T00:00:00.000Z"}
    first = anna.post("/me/vacations", wanted)
    assert anna.post("/me/vacations", wanted).json == first.json
    assert first.json["items"][0]["since"] == "2023-12-23T23:00:00.000Z"


@pytest.mark.parametrize(("since", "until", "status", "code", "words"), table(__file__, "a refused vacation says why"))
def test_a_refused_vacation_says_why(anna: Caller, since: int, until: int, status: int, code: str, words: str) -> None:
    refused = anna.post("/me/vacations", {"since": on(T0 + since), "until": on(T0 + until)})
    assert refusal(refused) == (status, code)
    assert words in refused.json["detail"]
    assert anna.get("/me/vacations").json["items"] == []


def test_vacations_do_not_overlap(anna: Caller) -> None:
    anna.post("/me/vacations", {"since": on(T0 + DAY), "until": on(T0 + 8 * DAY)})
    refused = anna.post("/me/vacations", {"since": on(T0 + 7 * DAY), "until": on(T0 + 9 * DAY)})
    assert refusal(refused) == (409, "vacation-overlaps")


def test_what_is_no_instant_is_refused_with_its_place(anna: Caller) -> None:
    refused = anna.post("/me/vacations", {"since": "24.12.2023", "until": None})
    assert refusal(refused) == (422, "invalid-fields")
    assert set(refused.json["errors"]) == {"since", "until"}


def test_changes_of_the_calendar_are_limited(server: RealServer, watch: Watch) -> None:
    limits: Limits = UNLIMITED._replace(calendars="1/hour")
    anna = Caller(app_on(server.url, limits, watch)).sign_up("anna")
    assert anna.put("/me/calendar", CALENDAR).status_code == 200
    assert refusal(anna.put("/me/calendar", CALENDAR)) == (429, "too-many-requests")


def test_a_late_move_is_refused_after_the_flag(anna: Caller, boris: Caller, services: Services, watch: Watch) -> None:
    match_id = under_way(services, anna, boris)
    anna.put("/me/calendar", {**CALENDAR, "free_days": []})
    move = anna.legal_move(match_id)
    pass_time(services, watch, T0 + 3 * DAY)
    refused = anna.move(match_id, move)
    assert refusal(refused) == (409, "match-over")
    assert boris.get(f"/matches/{match_id}").json["result"] == {"scores": [0.0, 1.0], "reason": "flag"}


def test_lines_may_follow_an_unnoticed_outage(anna: Caller, boris: Caller, services: Services, watch: Watch) -> None:
    match_id = under_way(services, anna, boris)
    anna.put("/me/calendar", {**CALENDAR, "free_days": []})
    move = anna.legal_move(match_id)
    pass_time(services, watch, T0 + DAY)
    watch.now = T0 + 3 * DAY
    laid = anna.put(f"/matches/{match_id}/lines", {"lines": [{"move": move}]})
    assert laid.status_code == 200, laid.text
    assert forecast(boris, match_id) == on(T0 + 5 * DAY)


def test_automatic_vacation_saves_a_late_move(anna: Caller, boris: Caller, services: Services, watch: Watch) -> None:
    match_id = under_way(services, anna, boris)
    move = anna.legal_move(match_id)
    pass_time(services, watch, T0 + 3 * DAY + HOUR)
    version = anna.get(f"/matches/{match_id}").json["version_tag"]
    assert anna.move(match_id, move, If_Match=f'"{version}"').status_code == 201
    taken = {"since": on(T0 + 3 * DAY), "until": on(T0 + 4 * DAY), "automatic": True}
    assert anna.get("/me/vacations").json["items"] == [taken]


def test_time_is_claimed_by_another_seat(anna: Caller, boris: Caller, services: Services, watch: Watch) -> None:
    match_id = under_way(services, anna, boris, flag="claim")
    anna.put("/me/calendar", {**CALENDAR, "free_days": []})
    early = boris.post(f"/matches/{match_id}/time-claims")
    assert refusal(early) == (409, "time-not-up")
    assert early.json["detail"] == "There are 3 days left."
    pass_time(services, watch, T0 + 3 * DAY + MINUTE)
    assert refusal(anna.post(f"/matches/{match_id}/time-claims")) == (409, "time-not-up")
    claimed = boris.post(f"/matches/{match_id}/time-claims", Idempotency_Key="claim")
    assert [event["type"] for event in claimed.json["events"]] == ["flag-fell", "match-finished"]
    again = boris.post(f"/matches/{match_id}/time-claims", Idempotency_Key="claim")
    assert (again.status_code, again.json) == (201, claimed.json)


def test_strangers_claim_nothing_and_hear_nothing_of_private_matches(anna: Caller, boris: Caller, app: Flask) -> None:
    match_id = started(anna, boris, private=True)
    carol = Caller(app).sign_up("carol")
    for act in ("time-claims", "forgiveness"):
        assert refusal(carol.post(f"/matches/{match_id}/{act}")) == (404, "no-such-match")
    assert refusal(carol.post(f"/matches/{match_id}/time-gifts", {"seat": 0, "seconds": 3600})) == (
        404,
        "no-such-match",
    )


def test_time_is_given_to_another_seat(anna: Caller, boris: Caller, services: Services) -> None:
    match_id = under_way(services, anna, boris)
    given = boris.post(f"/matches/{match_id}/time-gifts", {"seat": 0, "seconds": 86_400})
    assert given.json["events"][0]["data"] == {"seat": 1, "time": DAY, "to": 0}
    assert forecast(anna, match_id) == on(T0 + 4 * DAY)


@pytest.mark.parametrize(("body", "code", "field"), table(__file__, "an invalid gift is refused with its place"))
def test_an_invalid_gift_is_refused_with_its_place(
    anna: Caller, boris: Caller, services: Services, body: dict[str, Any], code: str, field: str
) -> None:
    refused = boris.post(f"/matches/{under_way(services, anna, boris)}/time-gifts", body)
    assert refusal(refused) == (422, code)
    assert list(refused.json["errors"]) == [field]


def test_the_winner_may_forgive_a_flag(anna: Caller, boris: Caller, services: Services, watch: Watch) -> None:
    match_id = under_way(services, anna, boris)
    anna.put("/me/calendar", {**CALENDAR, "free_days": []})
    assert refusal(boris.post(f"/matches/{match_id}/forgiveness")) == (409, "nothing-to-forgive")
    pass_time(services, watch, T0 + 3 * DAY)
    services.timekeeper.settle(match_id, watch.now)
    assert refusal(anna.post(f"/matches/{match_id}/forgiveness")) == (409, "nothing-to-forgive")
    assert boris.post(f"/matches/{match_id}/forgiveness").json["events"][0]["type"] == "flag-forgiven"
    assert anna.move(match_id).status_code == 201


def test_readiness_says_when_the_clocks_were_last_kept(app: Flask, services: Services, watch: Watch) -> None:
    client = app.test_client()
    assert client.get("/readyz").json["clocks_kept_at"] is None
    services.heartbeat.beat(T0, 0)
    assert client.get("/readyz").json["clocks_kept_at"] == on(T0)
    watch.advance(90_000)
    metrics = client.get("/metrics").text
    assert "rookery_heartbeat_age_seconds 90.0" in metrics
    assert "rookery_overdue_deadlines 0.0" in metrics


def test_neglected_deadlines_are_counted(anna: Caller, boris: Caller, services: Services, watch: Watch) -> None:
    under_way(services, anna, boris)
    watch.now = T0 + 3 * DAY + MINUTE
    assert "rookery_overdue_deadlines 1.0" in anna.client.get("/metrics").text


def test_free_days_change_once_in_a_week_so_that_no_clock_stands_still_without_end(anna: Caller, watch: Watch) -> None:
    days = [{**CALENDAR, "free_days": [day]} for day in (1, 2, 3)]
    assert anna.put("/me/calendar", days[0]).status_code == 200
    assert anna.put("/me/calendar", days[1]).status_code == 200, "a mistake is put right at once"
    refused = anna.put("/me/calendar", days[2])
    assert refusal(refused) == (422, "invalid-calendar")
    assert list(refused.json["errors"]) == ["free_days"]
    assert on(watch.now + 7 * DAY) in refused.json["detail"], "it says from when on they can be changed again"
    assert anna.put("/me/calendar", {**days[1], "plays_forced": True}).status_code == 200, "all else may change"
    assert anna.put("/me/calendar", {**CALENDAR, "free_days": []}).status_code == 200, "they can always be given up"
    assert refusal(anna.put("/me/calendar", days[2])) == (422, "invalid-calendar")
    watch.now += 7 * DAY
    assert anna.put("/me/calendar", days[2]).status_code == 200
