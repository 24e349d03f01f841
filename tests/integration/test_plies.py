"""The steps between the boards of a match: for the page that shows it, and in pieces for those who step further."""

import json
import re
from typing import Any

import pytest
from flask import Flask

from api.pages.board_steps import MAX_PLIES, NEARBY_PLIES
from api.services import EXTENSION, Services
from tests.support.callers import ME, Caller, invited, started

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
    """Return the steps that the page brings along."""
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
    assert [square for square, _ in step["marks"][1]] == ["d6", "b4"]
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
    assert re.fullmatch("must be a ply from 0 to [46]", reason)


def test_only_so_many_plies_are_told_at_once(anna: Caller, monkeypatch: pytest.MonkeyPatch, match_id: str) -> None:
    monkeypatch.setattr("api.pages.board_steps.MAX_PLIES", 3)
    assert plies_of(anna.client.get(f"/matches/{match_id}/plies").json) == [4, 5, 6]
    assert plies_of(anna.client.get(f"/matches/{match_id}/plies?to=4").json) == [2, 3, 4]
    refused = anna.client.get(f"/matches/{match_id}/plies?from=0&to=4")
    assert refused.status_code == 422
    assert refused.json["errors"] == {"from": ["at most 3 plies at once"]}
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
