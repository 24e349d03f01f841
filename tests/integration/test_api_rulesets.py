"""A game with several rulesets: they are told, chosen, kept by the match, shown, and played by."""

import pytest
from flask import Flask

from tests.support.callers import ME, OPEN, Caller, invited

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
    assert "ruleset 1" in said[towers]
    assert 'href="/games/bashni/rules#rulesets" title="In one move a column may be jumped again' in said[other]


def test_the_form_for_a_new_match_offers_the_rulesets_of_a_game_that_has_several(anna: Caller) -> None:
    form = anna.client.get("/matches/new?game=bashni&ruleset=2").text
    assert 'name="ruleset-bashni" value="2" checked' in form
    assert 'name="ruleset-bashni" value="1">' in form
    assert 'name="ruleset-towers"' not in form
    assert 'value="1" checked' in anna.client.get("/matches/new?game=bashni&ruleset=9").text
    assert '<fieldset data-rulesets="bashni" hidden disabled>' in anna.client.get("/matches/new?game=towers").text
    about = anna.client.get("/games/bashni").text
    assert "Ruleset 2</dt>" in about
    assert "Rulesets" not in anna.client.get("/games/towers").text
