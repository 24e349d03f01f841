"""Seeks through the API and their pages: posted, listed with what is hidden, taken, withdrawn, explained when over."""

import re
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from typing import Any

import pytest
from flask import Flask

from api.services import Services
from domain.contest.seek.decide import OPPONENTS_AFTER_MS
from events.contests.seeks import MAX_OPEN_SEEKS
from tests.support.callers import Caller
from tests.support.projected import project

WANTED: dict[str, Any] = {"games": ["bashni/start", "towers/two-player"], "seats": 2, "least_days": 2, "most_days": 5}
FOUR: dict[str, Any] = {"games": ["towers/four-player"], "seats": 4}


@pytest.fixture
def clara(app: Flask) -> Caller:
    return Caller(app).sign_up("clara")


def post(who: Caller, services: Services, **more: Any) -> str:
    """Post a seek and let the relay follow it; return its id."""
    posted = who.post("/seeks", {**WANTED, **more})
    assert posted.status_code == 201, posted.text
    services.seeks.follow(posted.json["id"])
    return str(posted.json["id"])


def test_a_seek_is_listed_for_those_who_can_take_it_and_counted_for_others(
    anna: Caller, boris: Caller, app: Flask, services: Services
) -> None:
    post(anna, services, rated=True)
    post(anna, services, least_rating=1800, most_rating=2000)
    assert [seek["rated"] for seek in boris.get("/seeks").json["items"]] == [True]
    assert boris.get("/seeks").json["hidden"] == {"rating": 1}
    guest = Caller(app).play_as_guest()
    assert guest.get("/seeks").json["hidden"] == {"rated": 1, "rating": 1}
    own = anna.get("/seeks").json
    assert ([seek["obstacle"] for seek in own["items"]], own["hidden"]) == (["same-person"] * 2, {})
    assert len(anna.get("/me/seeks").json["items"]) == 2
    anna.put("/me/blocks/boris", {})
    assert boris.get("/seeks").json["hidden"] == {"blocked": 1, "rating": 1}


def test_pages_of_seeks_are_full_and_each_counts_all_that_cannot_be_taken(
    app: Flask, boris: Caller, services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("api.operations.seeks.MAX_LOOKED_AT", 2)
    authors = [Caller(app).sign_up(name) for name in ("clara", "dora", "emil", "fritz")]
    for place, author in enumerate(authors):
        post(author, services, least_days=10 + 4 * place, most_days=11 + 4 * place)
        post(author, services, least_rating=1800, most_rating=2000)
    boris.put("/me/blocks/dora", {})
    cursor, names = "", []
    while True:
        page = boris.get(f"/seeks?limit=1{cursor}").json
        assert page["hidden"]["rating"] == 4
        names += [seek["author"]["name"] for seek in page["items"]]
        if page["next"] is None:
            break
        cursor = f"&cursor={page['next']}"
    assert names == ["fritz", "emil", "clara"]


def test_a_taken_seek_begins_its_match_at_once_and_a_repetition_takes_it_once(
    anna: Caller, boris: Caller, clara: Caller, services: Services
) -> None:
    seek = post(anna, services)
    taken = boris.post(f"/seeks/{seek}/taking", {"game": "towers/two-player"}, Idempotency_Key="k")
    assert taken.json["status"] == "answered"
    (match,) = taken.json["matches"]
    begun = anna.get(f"/matches/{match}").json
    assert (begun["status"], begun["game"]["id"], begun["terms"]["bank"]) == ("playing", "towers", 5 * 86400)
    again = boris.post(f"/seeks/{seek}/taking", {"game": "towers/two-player"}, Idempotency_Key="k")
    assert again.json["matches"] == [match]
    refused = clara.post(f"/seeks/{seek}/taking")
    assert (refused.status_code, refused.json["code"]) == (409, "seek-over")
    shown = clara.get(f"/seeks/{seek}").json["seek"]
    assert (shown["status"], shown["matches"], shown["games"]) == ("answered", [match], WANTED["games"])


def test_before_taking_one_sees_the_record_of_the_author_and_what_each_result_would_change(
    anna: Caller, boris: Caller, app: Flask, services: Services
) -> None:
    seek = post(anna, services, rated=True)
    lost = boris.post(f"/seeks/{post(anna, services)}/taking").json["matches"][0]
    assert anna.post(f"/matches/{lost}/resignation").status_code == 201
    project(services)
    shown = boris.get(f"/seeks/{seek}").json
    record = shown["author_record"]
    assert (record["finished"], record["losses"], record["lost_on_time"], record["playing"]) == (1, 1, 0, 0)
    win, draw, loss = (outcome["change"] for outcome in shown["stakes"][0]["outcomes"])
    assert [stake["game"] for stake in shown["stakes"]] == WANTED["games"]
    assert win == -loss > 0 == draw
    assert anna.get(f"/seeks/{seek}").json["stakes"] == []


def test_a_person_has_so_many_open_seeks_and_one_is_withdrawn_by_its_author_alone(
    anna: Caller, boris: Caller, services: Services
) -> None:
    ids = [post(anna, services) for _ in range(MAX_OPEN_SEEKS)]
    refused = anna.post("/seeks", WANTED)
    assert (refused.status_code, refused.json["code"]) == (409, "seek-refused")
    assert "withdraw one" in refused.json["detail"]
    assert boris.post(f"/seeks/{ids[0]}/withdrawal").json["code"] == "not-your-seek"
    assert anna.post(f"/seeks/{ids[0]}/withdrawal").json["status"] == "withdrawn"
    services.seeks.follow(ids[0])
    assert anna.post("/seeks", WANTED).status_code == 201


def test_seeks_posted_at_once_are_not_more_than_a_person_may_have_open(anna: Caller) -> None:
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: copy(anna).post("/seeks", WANTED), range(8)))
    assert sorted(answer.status_code for answer in answers) == [201] * MAX_OPEN_SEEKS + [409] * (8 - MAX_OPEN_SEEKS)


def test_a_refused_seek_takes_no_place_and_a_withdrawn_one_gives_it_back(anna: Caller, services: Services) -> None:
    for _ in range(MAX_OPEN_SEEKS):
        assert anna.post("/seeks", {**WANTED, "least_days": 6}).status_code == 422
    ids = [post(anna, services) for _ in range(MAX_OPEN_SEEKS)]
    assert anna.post("/seeks", WANTED).status_code == 409
    anna.post(f"/seeks/{ids[0]}/withdrawal")
    services.seeks.refresh(ids[0])
    assert anna.post("/seeks", WANTED).status_code == 201


def test_one_reads_within_how_many_days_half_of_the_last_seeks_were_answered(
    anna: Caller, boris: Caller, services: Services
) -> None:
    wanted = {"games": ["bashni/start"]}
    for _ in range(3):
        assert anna.get("/seeks").json["usual_days"] == {}
        seek = post(anna, services, **wanted)
        boris.post(f"/seeks/{seek}/taking")
        services.seeks.refresh(seek)
    assert anna.get("/seeks").json["usual_days"] == {"bashni/start": 1}
    seek = post(anna, services, **wanted)
    assert boris.get(f"/seeks/{seek}").json["usual_days"] == 1
    assert "were answered within a day lately" in page(boris, f"/seeks/{seek}")
    assert "answered within: Bashni, 1 day" in page(boris, "/seeks")


def test_at_a_table_of_four_who_takes_the_last_seat_reads_what_each_place_would_change(
    anna: Caller, boris: Caller, clara: Caller, app: Flask, services: Services
) -> None:
    seek = post(anna, services, **FOUR, rated=True)
    assert boris.get(f"/seeks/{seek}").json["stakes"] == []
    assert "is said when one seat is left" in page(boris, f"/seeks/{seek}")
    for who in (boris, clara):
        who.post(f"/seeks/{seek}/taking")
    (stakes,) = Caller(app).sign_up("dora").get(f"/seeks/{seek}").json["stakes"]
    changes = [outcome["change"] for outcome in stakes["outcomes"]]
    assert [outcome["score"] for outcome in stakes["outcomes"]] == pytest.approx([1, 2 / 3, 1 / 3, 0])
    assert changes == sorted(changes, reverse=True)
    assert changes[0] == -changes[3] > changes[1] > 0


def test_seats_at_a_table_of_four_are_taken_given_back_and_filled_with_opponents_after_a_week(
    anna: Caller, boris: Caller, services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    seek = post(anna, services, **FOUR)
    assert [each["name"] for each in boris.post(f"/seeks/{seek}/taking").json["table"]["takers"]] == ["boris"]
    assert boris.post(f"/seeks/{seek}/leaving").json["table"]["takers"] == []
    opponents = {"level": 1, "game": "towers/four-player"}
    assert anna.post(f"/seeks/{seek}/opponents", opponents).json["code"] == "seek-refused"
    monkeypatch.setattr("domain.contest.seek.decide.OPPONENTS_AFTER_MS", 0)
    assert OPPONENTS_AFTER_MS > 0
    assert anna.post(f"/seeks/{seek}/opponents", opponents).json["status"] == "full"
    services.seeks.follow(seek)
    assert len(anna.get(f"/seeks/{seek}").json["seek"]["matches"]) == 1


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"games": ["chess/start"]}, "games.0"),
        ({"games": ["fourplay/standard"]}, "games"),
        ({"seats": 3}, "seats"),
        ({"least_days": 6}, "days"),
        ({"least_rating": 2000, "most_rating": 1000}, "rating"),
        ({"count": 11}, "count"),
    ],
)
def test_terms_of_which_nothing_can_come_are_refused_with_their_place(
    anna: Caller, change: dict[str, Any], place: str
) -> None:
    refused = anna.post("/seeks", {**WANTED, **change})
    assert refused.status_code == 422
    assert list(refused.json["errors"]) == [place]


def test_what_is_no_seek_is_not_there(anna: Caller) -> None:
    for id in ("seek-aaaaaaaaaaaaaaaa", "tournament-aaaaaaaaaaaaaaaa", "m2"):
        assert anna.get(f"/seeks/{id}").json["code"] == "no-such-seek"
        assert anna.post(f"/seeks/{id}/taking").json["code"] == "no-such-seek"
    assert anna.get("/seeks?cursor=x").json["code"] == "invalid-fields"


def test_guests_seek_unrated_matches_only(app: Flask, services: Services) -> None:
    guest = Caller(app).play_as_guest()
    assert guest.post("/seeks", {**WANTED, "rated": True}).json["code"] == "guests-play-unrated"
    assert guest.post("/seeks", WANTED).status_code == 201


def page(who: Caller, path: str) -> str:
    answer = who.client.get(path)
    assert answer.status_code == 200, answer.text
    return re.sub(r"\s+", " ", answer.get_data(as_text=True))


def test_the_page_has_one_form_lists_seeks_and_says_how_many_are_hidden_and_why(
    anna: Caller, boris: Caller, app: Flask, services: Services
) -> None:
    post(anna, services)
    post(anna, services, least_rating=1800, most_rating=2000)
    text = page(boris, "/seeks")
    assert text.count('data-api="POST /api/v1/seeks"') == 2, "one form for each number of seats"
    assert "1 more that you cannot take: your rating is not the one sought (1)." in text
    assert "Your seeks" in page(anna, "/seeks")
    assert "Sign in" in page(Caller(app), "/seeks")


def test_the_page_of_a_seek_says_what_it_is_about_and_later_what_became_of_it(
    anna: Caller, boris: Caller, services: Services
) -> None:
    seek = post(anna, services, rated=True)
    text = page(boris, f"/seeks/{seek}")
    assert "2 to 5 days a move" in text
    assert f"POST /api/v1/seeks/{seek}/taking" in text
    match = boris.post(f"/seeks/{seek}/taking").json["matches"][0]
    over = page(boris, f"/seeks/{seek}")
    assert "This seek has been answered." in over
    assert f"/matches/{match}" in over
    assert re.search(r'href="[^"]*least_days=2&amp;most_days=5&amp;rated=true[^"]*count=1">Seek the same', over)
    assert anna.client.get("/seeks/seek-none").status_code == 404


def test_the_lobby_leads_to_the_seeks(anna: Caller) -> None:
    assert "Find me an opponent" in page(anna, "/lobby")
