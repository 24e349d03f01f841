"""The steps between the boards of a match; a game with several rulesets."""

import json
import re
from typing import Any

import pytest
from flask import Flask

from api.pages.board_steps import MAX_PLIES, NEARBY_PLIES
from api.services import EXTENSION, Services
from tests.support.callers import ME, OPEN, Caller, invited, started

MOVES = ("c3-d4", "b6-a5", "d4-c5", "d6xb4", "a3xc5", "a5xc3")


@pytest.fixture
def match_id(anna: Caller, boris: Caller) -> str:
    """Return a match of six plies."""
    match = started(anna, boris)
    for ply, move in enumerate(MOVES):
        assert (anna, boris)[ply % 2].move(match, move).status_code == 201
    return match


def plies_of(steps: dict[str, Any]) -> list[int]:
    return [step["ply"] for step in steps["steps"]]


def on_page(caller: Caller, match_id: str, query: str = "") -> dict[str, Any]:
    page = caller.client.get(f"/matches/{match_id}{query}", headers={"Accept": "text/html"}).text
    found = re.search(r'<script type="application/json" id="steps" data-live>(.*?)</script>', page)
    assert found is not None
    steps: dict[str, Any] = json.loads(found[1])
    return steps


def test_a_step_names_what_differs_on_the_board_before_and_after_the_ply(anna: Caller, match_id: str) -> None:
    (step,) = anna.client.get(f"/matches/{match_id}/plies?from=3&to=4").json["steps"]
    assert step["ply"] == 4
    assert set(step["columns"]) == {"b4", "c5", "d6"}
    before, after = step["columns"]["b4"]
    assert before == ""
    assert after.count("<use ") == 2, "the man and what it has captured"
    assert step["squares"]["d6"] == [["d6: black man", ""], ["d6: empty", ""]]
    assert [square for square, _ in step["marks"][1]] == ["d6", "c5", "b4"]
    assert step["links"] is None


def test_a_page_brings_the_steps_around_the_ply_that_it_shows(anna: Caller, match_id: str) -> None:
    assert plies_of(on_page(anna, match_id)) == list(range(len(MOVES) - NEARBY_PLIES + 1, len(MOVES) + 1))
    assert plies_of(on_page(anna, match_id, "?ply=1")) == [1, 2, 3]
    told = anna.client.get(f"/matches/{match_id}/plies?from=2&to=6&turned=1").json
    assert on_page(anna, match_id, "?ply=4&turned=1") == {"faces": {}, "steps": told["steps"]}, (
        "the board has the faces"
    )


def test_everybody_is_told_the_steps_as_seen_from_the_own_seat(anna: Caller, boris: Caller, match_id: str) -> None:
    asked = f"/matches/{match_id}/plies?from=0&to=6"
    seen = {who: caller.client.get(asked).json["steps"] for who, caller in (("anna", anna), ("boris", boris))}
    assert seen["anna"] != seen["boris"] == anna.client.get(f"{asked}&turned=1").json["steps"]


def test_steps_of_the_version_that_is_asked_for_may_be_kept(anna: Caller, boris: Caller, match_id: str) -> None:
    tag = anna.get(f"/matches/{match_id}").json["version_tag"]
    asked = f"/matches/{match_id}/plies?from=0&to=2"
    kept = anna.client.get(f"{asked}&version={tag}")
    assert (kept.json["version_tag"], kept.headers["Cache-Control"]) == (tag, "private, max-age=3600")
    anna.move(match_id)
    for path in (asked, f"{asked}&version={tag}"):
        answer = anna.client.get(path)
        assert answer.json["version_tag"] != tag
        assert answer.json["steps"] == kept.json["steps"]
        assert answer.headers["Cache-Control"] == "private, no-cache"


@pytest.mark.parametrize("query", ["from=5&to=4", "to=7", "from=x", "from=-1", "to=4.0", "from=9999999", "to=²"])
def test_plies_that_a_match_has_not_come_to_are_refused(anna: Caller, match_id: str, query: str) -> None:
    refused = anna.client.get(f"/matches/{match_id}/plies?{query}")
    assert refused.status_code == 422
    ((field, (reason,)),) = refused.json["errors"].items()
    assert query.startswith(field)
    assert re.fullmatch("must be a move from 0 to [46]", reason)


def test_only_so_many_plies_are_told_at_once(anna: Caller, monkeypatch: pytest.MonkeyPatch, match_id: str) -> None:
    monkeypatch.setattr("api.pages.board_steps.MAX_PLIES", 3)
    assert plies_of(anna.client.get(f"/matches/{match_id}/plies").json) == [4, 5, 6]
    assert plies_of(anna.client.get(f"/matches/{match_id}/plies?to=4").json) == [2, 3, 4]
    refused = anna.client.get(f"/matches/{match_id}/plies?from=0&to=4")
    assert refused.status_code == 422
    assert refused.json["errors"] == {"from": ["at most 3 moves at once"]}
    assert MAX_PLIES >= 2 * NEARBY_PLIES


def test_a_private_match_keeps_its_plies_to_its_players(anna: Caller, boris: Caller, stranger: Caller) -> None:
    match_id = anna.create(ME, invited(boris.name), private=True)
    assert anna.client.get(f"/matches/{match_id}/plies").json["steps"] == []
    assert stranger.client.get(f"/matches/{match_id}/plies").status_code == 404


def test_moves_that_a_player_has_not_seen_can_be_replayed_at_once(app: Flask) -> None:
    people = [Caller(app).play_as_guest() for _ in range(4)]
    others = [invited(person.name) for person in people[1:]]
    match_id = people[0].create(ME, *others, game="towers", setup="four-player")
    for person in people[1:]:
        person.post(f"/matches/{match_id}/joins")
    services: Services = app.extensions[EXTENSION]
    for person in (*people, *people):
        page = people[0].client.get(f"/matches/{match_id}", headers={"Accept": "text/html"}).text
        plies = len(services.matches.load(match_id).state.play.moves)
        assert ('data-replay="' in page) == (plies == 4)
        person.move(match_id)
        if plies == 4:
            assert 'data-replay="1"' in page


ROUND_TRIP = "8/8/8/8/3b1b2/2w5/3(bb)1b2/8%20w%200"
PARTING = "c3-b4 b6-c5 b4-a5 c7-b6 a5xc7xe5 f6xd4 e3-f4 b8-c7"
"""After these moves the rulesets of Bashni part."""


def test_a_game_tells_its_rulesets_and_which_one_a_match_gets(stranger: Caller) -> None:
    bashni = stranger.get("/games/bashni").json
    assert bashni["ruleset"] == 1
    assert [each["ruleset"] for each in bashni["rulesets"]] == [1, 2]
    assert all(each["distinction"] for each in bashni["rulesets"])
    assert stranger.get("/games/towers").json["rulesets"] == [{"ruleset": 1, "distinction": ""}]


def test_a_position_is_looked_at_by_the_ruleset_that_is_asked_for(stranger: Caller) -> None:
    asked = f"/games/bashni/positions?position={ROUND_TRIP}"
    assert stranger.get(asked).json == stranger.get(f"{asked}&ruleset=1").json
    assert stranger.get(f"{asked}&ruleset=2").json["legal_moves"] == ["c3xe1xg3xe5xc3xe1", "c3xe5xg3xe1xc3"]
    refused = stranger.get(f"{asked}&ruleset=7")
    assert (refused.status_code, refused.json["code"]) == (422, "unknown-ruleset")
    assert refused.json["errors"] == {"ruleset": ["Bashni has no ruleset 7, only 1, 2"]}


@pytest.mark.parametrize(("ruleset", "legal"), [(1, "f4xd6xb8"), (2, "f4xd6xb8xf4")])
def test_a_match_is_played_by_its_first_ruleset(anna: Caller, boris: Caller, ruleset: int, legal: str) -> None:
    match_id = anna.create(ME, invited(boris.name), ruleset=ruleset)
    boris.post(f"/matches/{match_id}/joins")
    for number, move in enumerate(PARTING.split()):
        assert (anna, boris)[number % 2].move(match_id, move).status_code == 201
    offered = anna.get(f"/matches/{match_id}/legal-moves").json
    assert offered["legal_moves"] == ["f4xd6xb4", legal]
    assert [hint["move"] for hint in offered["hints"]["f4"]] == offered["legal_moves"]
    assert anna.move(match_id, legal).status_code == 201
    shown = boris.get(f"/matches/{match_id}").json
    assert (shown["game"]["ruleset"], shown["spelled"][-1]) == (ruleset, legal)


def test_a_match_that_asks_for_no_ruleset_gets_the_one_that_the_game_names(anna: Caller) -> None:
    match_id = anna.create(ME, OPEN)
    assert anna.get(f"/matches/{match_id}").json["game"]["ruleset"] == 1
    assert anna.get(f"/matches/{match_id}/events").json["items"][0]["data"]["ruleset"] == 1


def test_the_pages_say_by_which_ruleset_a_match_is_played(app: Flask, anna: Caller) -> None:
    usual, other = anna.create(ME, OPEN), anna.create(ME, OPEN, ruleset=2)
    towers = anna.create(ME, OPEN, game="towers", setup="two-player")
    said = {match_id: anna.client.get(f"/matches/{match_id}").text for match_id in (usual, other, towers)}
    assert ">ruleset 1</a>" in said[usual]
    assert ">ruleset 2</a>" in said[other]
    assert "ruleset" not in said[towers]
    assert 'href="/games/bashni/rules#rulesets" title="In one move a column may be jumped again' in said[other]


def test_the_form_for_a_new_match_offers_the_rulesets_of_a_game_that_has_several(anna: Caller) -> None:
    form = anna.client.get("/matches/new?game=bashni&ruleset=2").text
    assert 'name="ruleset-bashni" value="2" checked' in form
    assert 'name="ruleset-bashni" value="1">' in form
    assert 'name="ruleset-towers"' not in form
    assert 'value="1" checked' in anna.client.get("/matches/new?game=bashni&ruleset=9").text
    assert '<fieldset data-of="bashni" hidden disabled>' in anna.client.get("/matches/new?game=towers").text
    about = anna.client.get("/games/bashni").text
    assert "Ruleset 2</dt>" in about
    assert "Rulesets" not in anna.client.get("/games/towers").text
