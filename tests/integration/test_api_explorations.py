"""Explorations: one's own tree of a match, published after the end with a comment, and withdrawn."""

import io
import json
import zipfile

import pytest
from flask import Flask

from api.services import Services
from events.people.administration import ARBITER
from tests.support.callers import Caller, started
from tests.support.projected import project
from tests.support.stored import stored

TREE = [{"move": "c3-d4", "next": [{"move": "b6-a5"}, {"move": "f6-e5", "comment": "Takes the centre."}]}]
COMMENT = {"comment": "The second one is better."}


@pytest.fixture
def match(anna: Caller, boris: Caller, services: Services) -> str:
    """Return a finished match of anna and boris, of which anna has saved an exploration."""
    match = started(anna, boris)
    assert anna.put(f"/matches/{match}/exploration", {"ply": 0, "tree": TREE}).status_code == 200
    anna.move(match)
    boris.post(f"/matches/{match}/resignation")
    project(services)
    return match


def publish(who: Caller, match: str) -> None:
    answer = who.put(f"/matches/{match}/exploration/publication", COMMENT)
    assert answer.status_code == 204, answer.text


def test_a_published_exploration_is_read_by_everybody_as_it_was_then(
    anna: Caller, stranger: Caller, match: str
) -> None:
    path = f"/matches/{match}/explorations"
    assert stranger.get(path).json == {"items": []}
    publish(anna, match)
    anna.put(f"/matches/{match}/exploration", {"ply": 0, "tree": []})
    (listed,) = stranger.get(path).json["items"]
    assert (listed["author"]["name"], listed["moves"], listed["comment"]) == ("anna", 3, COMMENT["comment"])
    shown = stranger.get(f"{path}/{anna.id}").json
    (first,) = shown["tree"]
    assert (first["move"], first["comment"]) == ("c3-d4", "")
    assert [(each["move"], each["comment"]) for each in first["next"]] == [
        ("b6-a5", ""),
        ("f6-e5", "Takes the centre."),
    ]
    assert "Explorations: by anna (3 moves)" in stranger.client.get(f"/matches/{match}").text


def test_nothing_is_published_while_the_match_goes_on_nor_without_a_saved_tree(anna: Caller, boris: Caller) -> None:
    match = started(anna, boris)
    anna.put(f"/matches/{match}/exploration", {"ply": 0, "tree": TREE})
    refused = anna.put(f"/matches/{match}/exploration/publication", COMMENT)
    assert (refused.status_code, refused.json["code"]) == (409, "match-not-over")
    assert boris.get(f"/matches/{match}/explorations").json == {"items": []}
    assert boris.get(f"/matches/{match}/explorations/{anna.id}").json["code"] == "no-such-exploration"
    anna.post(f"/matches/{match}/resignation")
    refused = boris.put(f"/matches/{match}/exploration/publication", COMMENT)
    assert refused.json["code"] == "no-such-exploration"
    assert "save one in Explore first" in refused.json["detail"]


def test_only_players_publish_and_an_exploration_can_be_withdrawn(app: Flask, anna: Caller, match: str) -> None:
    clara = Caller(app).sign_up("clara")
    assert clara.put(f"/matches/{match}/exploration/publication", COMMENT).json["code"] == "not-your-seat"
    publish(anna, match)
    assert anna.delete(f"/matches/{match}/exploration/publication").status_code == 204
    assert clara.get(f"/matches/{match}/explorations").json == {"items": []}
    assert anna.get(f"/matches/{match}/exploration").json["ply"] == 0, "one's own stays"


def test_an_arbiter_without_a_part_withdraws_a_published_exploration_on_record(
    app: Flask, anna: Caller, boris: Caller, services: Services, match: str
) -> None:
    clara = Caller(app).sign_up("clara")
    for arbiter in (clara, boris):
        services.administration.grant(arbiter.id, ARBITER, actor="operator")
    publish(anna, match)
    path = f"/matches/{match}/explorations/{anna.id}"
    button = f"DELETE /api/v1{path}"
    assert button in clara.client.get(f"/matches/{match}").text
    assert button not in boris.client.get(f"/matches/{match}").text
    assert anna.delete(path).json["code"] == "role-required"
    assert boris.delete(path).json["code"] == "conflict-of-interest"
    assert clara.delete(path).status_code == 204
    assert boris.get(f"/matches/{match}/explorations").json == {"items": []}
    assert anna.get(f"/matches/{match}/exploration").json["ply"] == 0, "its author keeps it"
    last = services.administration.acts()[-1]
    assert (last.act, dict(last.facts)) == ("exploration-withdrawn", {"match": match, "author": anna.id})
    assert clara.delete(path).json["code"] == "no-such-exploration"


def test_those_whom_the_reader_blocks_or_mutes_are_left_out(
    anna: Caller, boris: Caller, stranger: Caller, match: str
) -> None:
    publish(anna, match)
    for silencing in ("blocks", "mutes"):
        assert boris.put(f"/me/{silencing}/anna", {}).status_code == 204
        assert boris.get(f"/matches/{match}/explorations").json == {"items": []}
        assert boris.get(f"/matches/{match}/explorations/{anna.id}").status_code == 404
        assert boris.client.get(f"/matches/{match}").text.count("?exploration=") == 0
    assert len(stranger.get(f"/matches/{match}/explorations").json["items"]) == 1


def test_what_is_published_is_exported_and_erased_with_the_person(
    anna: Caller, stranger: Caller, services: Services, match: str
) -> None:
    publish(anna, match)
    archive = zipfile.ZipFile(io.BytesIO(anna.get("/me/archive").data))
    exported = json.loads(archive.read(f"matches/{match}.json"))
    assert json.loads(exported["published_exploration"])["comment"] == COMMENT["comment"]
    assert anna.post("/me/erasure", {"name": "anna"}).status_code == 200
    assert stranger.get(f"/matches/{match}/explorations").json == {"items": []}
    assert not [key for key, text in stored(services.store.client) if b"second one is better" in text]
    assert not [key for key, _ in stored(services.store.client) if "publish" in key]
