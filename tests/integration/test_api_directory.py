"""Finding people, following them, and the record of a player; blocks and the wish not to be found are honoured."""

import re
from typing import Any

import pytest
from flask import Flask

from api.services import Services
from domain.match.terms import DAY
from events.operations.personal_data import erase
from events.people.follows import MAX_FOLLOWED
from tests.support.callers import Caller, started
from tests.support.projected import project


@pytest.fixture
def people(app: Flask, anna: Caller, boris: Caller) -> dict[str, Caller]:
    """Return people who are here today."""
    callers = {"anna": anna, "boris": boris} | {name: Caller(app).sign_up(name) for name in ("Annette", "clara")}
    for caller in callers.values():
        caller.get("/me")
    Caller(app).play_as_guest().get("/me")
    return callers


def names(who: Caller, query: str = "") -> list[str]:
    answer = who.get(f"/players?{query}")
    assert answer.status_code == 200, answer.text
    return [item["player"]["name"] for item in answer.json["items"]]


def win_rated(services: Services, winner: Caller, loser: Caller) -> str:
    """Let one win a rated match of two moves; return the match."""
    match = started(winner, loser, rated=True)
    for who in (winner, loser):
        who.move(match)
    loser.post(f"/matches/{match}/resignation")
    for changed in project(services):
        services.ratings.rate(changed)
    return match


def test_people_are_found_by_the_beginning_of_the_name_in_any_case_page_by_page(people: dict[str, Caller]) -> None:
    anna = people["anna"]
    assert names(anna) == ["anna", "Annette", "boris", "clara"]
    assert names(anna, "name=ANN") == ["anna", "Annette"]
    assert names(anna, "name=zoe") == []
    first = anna.get("/players?limit=3").json
    assert names(anna, f"limit=3&cursor={first['next']}") == ["clara"]
    assert anna.get("/players?cursor=x").json["code"] == "invalid-fields"


def test_people_are_found_by_rating_room_and_when_they_were_here(
    people: dict[str, Caller], services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    anna, boris, clara = people["anna"], people["boris"], people["clara"]
    win_rated(services, anna, boris)
    assert names(clara, "pool=bashni-2") == ["anna", "boris"]
    assert names(clara, "pool=bashni-2&least_rating=1500") == ["anna"]
    assert names(clara, "pool=bashni-2&most_rating=1500") == ["boris"]
    assert names(clara, "pool=bashni-2&name=b") == ["boris"]
    (top,) = clara.get("/players?pool=bashni-2&least_rating=1500").json["items"]
    assert (top["provisional"], top["free"], top["rating"] > 1500) == (True, 10, True)
    boris.put("/me/room", {"concurrent": 0, "starts": "yes"})
    assert names(clara, "room=true") == ["anna", "Annette", "clara"]
    later = services.now() + 40 * DAY
    monkeypatch.setattr(services.directory, "_now", lambda: later)
    monkeypatch.setattr(services, "now", lambda: later)
    services.directory.record(services.people.person(anna.id))
    assert names(clara, "seen_days=30") == ["anna", "clara"], "who asks is here"


def test_who_leaves_the_directory_is_not_found_and_the_last_visit_is_forgotten(
    people: dict[str, Caller], services: Services
) -> None:
    anna, boris = people["anna"], people["boris"]
    win_rated(services, anna, boris)
    assert boris.put("/me/listing", {"listed": False}).json == {"listed": False}
    boris.get("/me")
    assert "boris" not in names(anna) + names(anna, "pool=bashni-2")
    assert services.directory.seen([boris.id]) == {}
    assert "You are not among the people" in boris.client.get("/settings").text
    boris.put("/me/listing", {"listed": True})
    boris.get("/me")
    assert "boris" in names(anna)


def test_a_new_name_is_found_and_the_old_one_is_not(people: dict[str, Caller], services: Services) -> None:
    person = services.people.person(people["clara"].id)
    assert person is not None
    services.people.rename(person, "dora")
    people["clara"].get("/me")
    assert names(people["anna"]) == ["anna", "Annette", "boris", "dora"]


def test_people_who_block_each_other_do_not_find_or_follow_each_other(people: dict[str, Caller]) -> None:
    anna, boris = people["anna"], people["boris"]
    boris.put("/me/follows/anna", {})
    anna.put("/me/blocks/boris", {})
    assert "boris" not in names(anna)
    assert "anna" not in names(boris)
    assert boris.get("/me/follows").json == {"items": [], "next": None}
    assert boris.put("/me/follows/anna", {}).json["code"] == "blocked"


def test_one_follows_people_privately_up_to_a_limit(
    people: dict[str, Caller], services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    anna = people["anna"]
    for name in ("boris", "clara"):
        assert anna.put(f"/me/follows/{name}", {}).status_code == 204
    assert [item["player"]["name"] for item in anna.get("/me/follows").json["items"]] == ["clara", "boris"]
    first = anna.get("/me/follows?limit=1").json
    second = anna.get(f"/me/follows?limit=1&cursor={first['next']}").json
    assert [page["items"][0]["player"]["name"] for page in (first, second)] == ["clara", "boris"]
    assert second["next"] is None
    assert anna.get("/me/follows?cursor=nothing").json["code"] == "invalid-fields"
    page = anna.client.get("/people").text
    assert re.search("You follow.*clara.*boris", page, re.DOTALL)
    assert "You follow" not in people["boris"].client.get("/people").text
    assert "Follow no more" in anna.client.get("/players/boris").text
    assert anna.delete("/me/follows/boris").status_code == 204
    assert anna.delete("/me/follows/boris").json["code"] == "not-followed"
    for nobody in ("anna", "opponent-3"):
        assert anna.put(f"/me/follows/{nobody}", {}).json["code"] == "not-followable"
    monkeypatch.setattr("events.people.follows.MAX_FOLLOWED", 1)
    assert anna.put("/me/follows/boris", {}).json["code"] == "too-many-follows"
    assert MAX_FOLLOWED == 500


def test_all_of_it_is_erased_with_the_account(people: dict[str, Caller], services: Services) -> None:
    anna, boris = people["anna"], people["boris"]
    anna.put("/me/follows/boris", {})
    boris.put("/me/follows/anna", {})
    person = services.people.person(anna.id)
    assert person is not None
    erase(services, person)
    assert names(boris) == ["Annette", "boris", "clara"]
    assert boris.get("/me/follows").json == {"items": [], "next": None}
    services.directory.record(person)
    client: Any = services.client
    held = {key: client.type(key) for key in client.scan_iter("*{people}*")}
    assert not any(anna.id.encode() in key for key in held if b"erasures" not in key)
    assert not any(
        client.zscore(key, anna.id)
        for key, kind in held.items()
        if kind == b"zset" and not {b"follows", b"erasures"} & {*key.split(b":")}
    )


def test_the_record_of_a_player_counts_results_by_game_and_opponent_without_private_matches(
    people: dict[str, Caller], services: Services
) -> None:
    anna, boris, clara = people["anna"], people["boris"], people["clara"]
    win_rated(services, anna, boris)
    private = started(anna, clara, private=True)
    anna.post(f"/matches/{private}/resignation")
    project(services)
    record = boris.get("/players/anna/record").json
    assert (record["finished"], record["lost_on_time"], record["pace"]) == (2, 0, None)
    assert record["games"] == [{"pool": "bashni-2", "wins": 1, "draws": 0, "losses": 0}]
    assert [(met["player"]["name"], met["wins"]) for met in record["opponents"]] == [("boris", 1)]
    own = anna.get("/players/anna/record").json
    assert own["games"] == [{"pool": "bashni-2", "wins": 1, "draws": 0, "losses": 1}]
    page = clara.client.get("/players/anna").text
    assert "Record by game" in page
    assert "2 finished matches" in re.sub(r"\s+", " ", page)
    assert clara.get("/players/anna/tournaments").json == {"items": [], "next": None}


def test_the_page_of_people_finds_them_by_its_form(people: dict[str, Caller], stranger: Caller) -> None:
    found = stranger.client.get("/people?name=ann&seen_days=7&room=true").text
    assert "Annette" in found
    assert "boris" not in found
    assert stranger.client.get("/people?name=nobody").status_code == 200
    assert stranger.client.get("/people?cursor=x").status_code == 404
    assert stranger.client.get("/people?least_rating=x&seen_days=5&pool=none").status_code == 200
