"""Tournaments through the API and on their pages: announced, entered, played, left, and proved."""

import csv
import json
from io import StringIO
from typing import Any
from xml.etree import ElementTree

import pytest
from flask import Flask
from icalendar import Calendar

from api.representations.feeds import NAMESPACE
from api.services import Services
from domain.match.terms import DAY
from events.people.administration import OPERATOR
from events.proof.public_keys import read_key_set
from events.proof.verification import verify
from events.runtime.wall_clock import rfc3339
from tests.support.callers import Answer, Caller, app_on
from tests.support.server import RealServer
from tests.support.watch import Watch


@pytest.fixture
def app(server: RealServer, watch: Watch) -> Flask:
    return app_on(server.url, now=watch)


def terms(watch: Watch, **more: Any) -> dict[str, Any]:
    start = watch()
    return {
        "title": "Winter round",
        "game": "bashni",
        "setup": "start",
        "form": "all-play-all",
        "least": 3,
        "most": 8,
        "starts_at": rfc3339(start + 2 * DAY),
        "latest_end": rfc3339(start + 200 * DAY),
        **more,
    }


@pytest.fixture
def organiser(anna: Caller, services: Services) -> Caller:
    services.administration.grant(anna.id, OPERATOR, "console")
    return anna


def announced(organiser: Caller, watch: Watch, **more: Any) -> str:
    made = organiser.post("/tournaments", terms(watch, **more))
    assert made.status_code == 201, made.text
    assert made.headers["Location"] == f"/api/v1/tournaments/{made.json['id']}"
    return str(made.json["id"])


def enter(app: Flask, id: str, *names: str) -> list[Caller]:
    callers = [Caller(app).sign_up(name) for name in names]
    for caller in callers:
        entered = caller.post(f"/tournaments/{id}/entries")
        assert entered.status_code == 201, entered.text
    return callers


def started(app: Flask, services: Services, watch: Watch, id: str, *names: str) -> list[Caller]:
    callers = enter(app, id, *names)
    watch.now += 2 * DAY
    assert services.tournaments.settle(id)
    services.tournaments.follow(id)
    return callers


def refused(answer: Answer, status: int, code: str) -> str:
    assert (answer.status_code, answer.json["code"]) == (status, code), answer.text
    return str(answer.json["detail"])


def test_a_tournament_is_announced_listed_and_entered(
    app: Flask, organiser: Caller, stranger: Caller, watch: Watch
) -> None:
    id = announced(organiser, watch)
    (listed,) = stranger.get("/tournaments").json["items"]
    assert (listed["id"], listed["title"], listed["organiser"]["name"]) == (id, "Winter round", "anna")
    (cyd,) = enter(app, id, "cyd")
    assert cyd.post(f"/tournaments/{id}/entries").status_code == 201
    shown = stranger.get(f"/tournaments/{id}").json
    assert [player["name"] for player in shown["entries"]] == ["cyd"]
    assert (shown["status"], shown["terms"]["points"], shown["standing"]) == ("entries", "places", None)
    assert "Everybody plays everybody else once." in shown["terms"]["words"]
    left = cyd.delete(f"/tournaments/{id}/entries/me")
    assert (left.status_code, left.json["entries"]) == (200, [])
    refused(cyd.delete(f"/tournaments/{id}/entries/me"), 409, "not-entered")


def test_the_same_request_announces_one_tournament(organiser: Caller, watch: Watch) -> None:
    wanted = terms(watch)
    first, second = (organiser.post("/tournaments", wanted, idempotency_key="once") for _ in range(2))
    assert first.json["id"] == second.json["id"]
    assert second.headers["Idempotency-Replayed"] == "true"
    assert len(organiser.get("/tournaments").json["items"]) == 1


def test_who_has_finished_too_few_matches_or_has_no_account_announces_none(
    app: Flask, boris: Caller, watch: Watch
) -> None:
    detail = refused(boris.post("/tournaments", terms(watch)), 403, "tournament-refused")
    assert "has finished 10 matches; you have 0" in detail
    detail = refused(Caller(app).play_as_guest().post("/tournaments", terms(watch)), 403, "sign-up-required")
    assert "only people with an account announce tournaments" in detail.lower()


def test_the_terms_say_what_becomes_of_the_results_of_who_leaves(organiser: Caller, watch: Watch) -> None:
    first, second = (announced(organiser, watch, **more) for more in ({}, {"drop_out": "results-stand"}))
    shown = [organiser.get(f"/tournaments/{id}").json["terms"] for id in (first, second)]
    assert [of["drop_out"] for of in shown] == [None, "results-stand"]
    assert any("is struck from the table" in words for words in shown[0]["words"])
    assert any("The results of who leaves stand" in words for words in shown[1]["words"])
    unknown = organiser.post("/tournaments", terms(watch, drop_out="never"))
    assert (unknown.status_code, list(unknown.json["errors"])) == (422, ["drop_out"])


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"most": 40}, "most"),
        ({"form": "perfect"}, "form"),
        ({"setup": "none"}, "setup"),
        ({"latest_end": "2001-01-01T00:00:00Z"}, "latest_end"),
        ({"entry": {"rating_from": 1800, "rating_to": 1700}}, "entry.rating_from"),
        ({"terms": {"control": "days-per-move", "bank": 3600}}, "clock"),
    ],
)
def test_terms_that_cannot_be_played_are_refused_with_the_field(
    organiser: Caller, watch: Watch, change: dict[str, Any], field: str
) -> None:
    answer = organiser.post("/tournaments", terms(watch, **change))
    assert answer.status_code == 422, answer.text
    assert field in answer.json["errors"]


def test_who_does_not_meet_the_terms_reads_why(app: Flask, organiser: Caller, boris: Caller, watch: Watch) -> None:
    id = announced(organiser, watch, entry={"finished": 3})
    assert "must have finished 3" in refused(boris.post(f"/tournaments/{id}/entries"), 403, "entry-refused")
    guest = Caller(app).play_as_guest()
    refused(guest.post(f"/tournaments/{id}/entries"), 403, "sign-up-required")
    for nowhere in ("tournament-none", "-"):
        refused(boris.post(f"/tournaments/{nowhere}/entries"), 404, "no-such-tournament")
        refused(boris.delete(f"/tournaments/{nowhere}/entries/me"), 404, "no-such-tournament")


def test_it_is_called_off_by_who_announced_it_and_nobody_else(organiser: Caller, boris: Caller, watch: Watch) -> None:
    id = announced(organiser, watch)
    refused(boris.delete(f"/tournaments/{id}"), 403, "not-your-tournament")
    assert organiser.delete(f"/tournaments/{id}").json["status"] == "called-off"
    refused(organiser.delete(f"/tournaments/{id}"), 409, "tournament-over")


def test_a_running_tournament_shows_its_pairings_its_table_and_why_matches_wait(
    app: Flask, organiser: Caller, services: Services, stranger: Caller, watch: Watch
) -> None:
    id = announced(organiser, watch, at_once=1)
    callers = {caller.id: caller for caller in started(app, services, watch, id, "cyd", "dan", "eve", "fay")}
    shown = stranger.get(f"/tournaments/{id}").json
    running = [pairing for pairing in shown["pairings"] if pairing["status"] == "running"]
    waiting = [pairing for pairing in shown["pairings"] if pairing["status"] == "waiting"]
    assert (len(running), len(waiting)) == (2, 4)
    assert {pairing["waits"] for pairing in waiting} == {"at-once"}
    assert shown["standing"] == "provisional: 2 running, 4 not started"
    match = running[0]["match"]
    loser = shown["entrants"][running[0]["entrants"][1]]["player"]["id"]
    assert callers[loser].post(f"/matches/{match}/resignation").status_code == 201
    state, head, *_ = services.matches.load(match)
    services.tournaments.record(state.occasion, state, head)
    first = stranger.get(f"/tournaments/{id}").json["table"][0]
    assert (first["place"], first["points"], first["wins"]) == (1, 2, 1)
    rows = list(csv.reader(StringIO(stranger.get(f"/tournaments/{id}/table.csv").text)))
    assert rows[0][:5] == ["place", "player", "points", "played", "wins"]
    assert rows[1][2:5] == ["2", "1", "1"]
    assert len(rows) == 5


def test_its_bundle_proves_lots_and_pairings_to_anybody(
    app: Flask, organiser: Caller, services: Services, stranger: Caller, watch: Watch
) -> None:
    id = announced(organiser, watch)
    started(app, services, watch, id, "cyd", "dan", "eve")
    packed = stranger.get(f"/tournaments/{id}/bundle").data
    keys = read_key_set(stranger.client.get("/.well-known/rookery-keys.json").data)
    steps = {step.name: step.proved for step in verify(packed, keys)}
    assert steps == {"well-formed": True, "chain": True, "signature": True, "tournament": True, "checkpoint": False}
    assert json.loads(packed)["match"] == id


def test_its_page_says_the_contract_and_who_plays(
    app: Flask, organiser: Caller, services: Services, stranger: Caller, watch: Watch
) -> None:
    id = announced(organiser, watch)
    services.tournaments.follow(id)
    assert "Winter round" in stranger.client.get("/tournaments").text
    before = organiser.client.get(f"/tournaments/{id}").text
    assert f'data-api="POST /api/v1/tournaments/{id}/entries"' in before
    started(app, services, watch, id, "cyd", "dan", "eve")
    page = stranger.client.get(f"/tournaments/{id}").text
    for words in ("The contract", "Everybody plays everybody else once.", "provisional: 3 running", ">cyd<", "running"):
        assert words in page
    assert stranger.client.get("/tournaments/tournament-none").status_code == 404


def test_its_page_says_what_keeps_its_reader_from_entering(
    app: Flask, organiser: Caller, boris: Caller, services: Services, watch: Watch
) -> None:
    id = announced(organiser, watch, entry={"finished": 3})
    services.tournaments.follow(id)
    of_boris, of_organiser = (caller.client.get(f"/tournaments/{id}").text for caller in (boris, organiser))
    assert "who enters must have finished 3 matches; you have finished 0." in of_boris
    assert "Cancel the tournament" in of_organiser
    assert "Cancel the tournament" not in of_boris


def test_who_has_the_version_that_stands_gets_no_tournament(
    app: Flask, organiser: Caller, stranger: Caller, watch: Watch
) -> None:
    id = announced(organiser, watch)
    tag = stranger.get(f"/tournaments/{id}").headers["ETag"]
    assert stranger.get(f"/tournaments/{id}", If_None_Match=tag).status_code == 304
    enter(app, id, "cyd")
    assert stranger.get(f"/tournaments/{id}", If_None_Match=tag).status_code == 200


def test_its_feed_and_its_calendar_say_what_has_happened_and_what_comes(
    app: Flask, organiser: Caller, services: Services, stranger: Caller, watch: Watch
) -> None:
    id = announced(organiser, watch)
    starts, ends = Calendar.from_ical(stranger.client.get(f"/tournaments/{id}/dates.ics").data).walk("VEVENT")
    assert (str(starts["summary"]), str(ends["summary"])) == ("Start: Winter round", "Latest end: Winter round")
    callers = {caller.id: caller for caller in started(app, services, watch, id, "cyd", "dan", "eve")}
    leaver = next(iter(callers.values()))
    assert leaver.delete(f"/tournaments/{id}/entries/me").status_code == 200
    feed = ElementTree.fromstring(stranger.client.get(f"/tournaments/{id}/feed.atom").data)  # noqa: S314 - our own
    titles = [title.text for title in feed.findall(f"{{{NAMESPACE}}}entry/{{{NAMESPACE}}}title")]
    assert titles[-1] == "The tournament was announced."
    assert {"cyd entered.", "It started with 3 people.", "cyd left, and is struck from the table."} <= set(titles)
    (ends,) = Calendar.from_ical(stranger.client.get(f"/tournaments/{id}/dates.ics").data).walk("VEVENT")
    assert str(ends["summary"]) == "Latest end: Winter round"


def test_the_form_is_for_those_who_may_announce_a_tournament(organiser: Caller, boris: Caller) -> None:
    assert 'id="new-tournament"' in organiser.client.get("/tournaments/new").text
    refused_page = boris.client.get("/tournaments/new").text
    assert "has finished 10 matches; you have 0" in refused_page
    assert 'id="new-tournament"' not in refused_page
