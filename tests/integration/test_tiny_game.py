"""A game that the product does not know plays everywhere once it is registered: nothing asks which game it is."""

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from flask import Flask

from api.services import Services
from deploy.cli import main
from events.proof.bundle import read_bundle
from tests.support.callers import ME, Caller, invited, opponent
from tests.support.rulesets import register
from tests.support.server import RealServer
from tests.support.tiny_game import TINY
from workers.composition import make_opponents

Audit = Callable[..., Result]


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch, TINY)


@pytest.fixture
def audit(server: RealServer, monkeypatch: pytest.MonkeyPatch) -> Audit:
    """Return what runs the commands of ``rookery audit`` on the store of the app."""
    monkeypatch.setenv("REDIS_URL", server.url)
    monkeypatch.setenv("ROOKERY_PREFIX", "rk:")
    return lambda *arguments: CliRunner().invoke(main, ["audit", *map(str, arguments)])


def begun(*people: Caller, setup: str = "start") -> str:
    """Return a match of the game between ``people``, in the order of their seats."""
    host, *others = people
    match_id = host.create(ME, *(invited(each.name) for each in others), game="tiny", setup=setup, rated=True)
    for each in others:
        assert each.post(f"/matches/{match_id}/joins").status_code == 201
    return match_id


def play(match_id: str, people: tuple[Caller, ...], moves: str) -> None:
    """Play ``moves`` in turn."""
    for number, move in enumerate(moves.split()):
        assert people[number % len(people)].move(match_id, move).status_code == 201


def test_two_play_it_to_a_result_that_is_proved(anna: Caller, boris: Caller, audit: Audit, tmp_path: Path) -> None:
    match_id = begun(anna, boris)
    assert anna.get(f"/matches/{match_id}/legal-moves").json["legal_moves"] == ["1", "2"]
    assert anna.move(match_id, "3").json["code"] == "malformed-move"
    play(match_id, (anna, boris), "2 2")
    assert anna.move(match_id, "2").json["detail"] == "The heap has only one piece left."
    assert anna.move(match_id, " 1 ").status_code == 201
    assert anna.get(f"/matches/{match_id}").json["result"] == {"scores": [1, 0], "reason": "empty"}

    bundle = tmp_path / "bundle.json"
    bundle.write_bytes(anna.get(f"/matches/{match_id}/bundle").data)
    assert read_bundle(bundle.read_bytes()).facts.reason == "empty"
    proved = audit("verify", bundle).output
    assert "proved  replay: 3 plies, all legal under ruleset 1 of tiny" in proved
    assert "proved  result: 1 - 0 by empty: it follows from the position after ply 3, 0 b" in proved
    assert audit("replay", match_id, "--boards").output.endswith("events, all according to the rules\n")
    examined = audit("all", "--processes", 1)
    assert (examined.exit_code, "3 plies" in examined.output) == (0, True)


def test_three_play_it_and_share_when_one_resigns(anna: Caller, boris: Caller, app: Flask) -> None:
    people = (anna, boris, Caller(app).sign_up("clara"))
    match_id = begun(*people, setup="three")
    play(match_id, people, "1 2 1 1 2")
    assert anna.get(f"/matches/{match_id}").json["result"] == {"scores": [0, 1, 0], "reason": "empty"}
    resigned = begun(*people, setup="three")
    assert boris.post(f"/matches/{resigned}/resignation").status_code == 201
    assert anna.get(f"/matches/{resigned}").json["result"] == {"scores": [0.5, 0, 0.5], "reason": "resignation"}


def test_its_pages_show_the_board_its_colours_and_its_words(anna: Caller, boris: Caller, app: Flask) -> None:
    people = (anna, boris, Caller(app).sign_up("clara"))
    match_id = begun(*people, setup="three")
    page = anna.client.get(f"/matches/{match_id}").text
    assert 'class="swatch piece piece-green"' in page
    assert "Pieces left" in page
    play(match_id, people, "1 2 1 1 2")
    assert "The heap is empty." in anna.client.get(f"/matches/{match_id}").text
    assert "the heap is empty" in anna.client.get(f"/matches/{match_id}/record").text
    assert anna.client.get(f"/matches/{match_id}/board.svg").status_code == 200
    assert anna.client.get(f"/matches/{match_id}/board.png").status_code == 200
    for path in ("/", "/games/tiny", "/matches/new?game=tiny"):
        assert "Tiny Nim" in anna.client.get(path).text
    assert anna.client.get("/games/tiny/rules").status_code == 404, "its rules page is what it lacks"


@pytest.mark.parametrize(("setup", "seats"), [("start", 2), ("three", 3)])
def test_opponents_play_it_to_the_end(services: Services, anna: Caller, setup: str, seats: int) -> None:
    match_id = anna.create(*[opponent(4)] * seats, game="tiny", setup=setup)
    while make_opponents(services).answer(match_id) is not None:
        pass
    assert anna.get(f"/matches/{match_id}").json["result"]["reason"] == "empty"
