"""Puzzles over the API: the first look fixes what is rated, the server judges the moves, and people have ratings."""

import io
import json
import zipfile
from typing import Any

import pytest
from flask import Flask

from api.access.limits import Limits
from api.operations.puzzles import puzzles_of
from api.services import Services
from domain.games import GAMES
from domain.match.terms import DAY
from domain.puzzles.attempts import MAX_RATED_ATTEMPT_MS
from domain.puzzles.puzzle import Puzzle
from tests.support.callers import UNLIMITED, Caller, app_on
from tests.support.server import RealServer
from tests.support.stored import stored

PUZZLE = next(puzzle for puzzle in puzzles_of("bashni").values() if len(puzzle.line) > 2)
AT = f"/games/bashni/puzzles/{PUZZLE.id}"


def other_move(puzzle: Puzzle) -> str:
    """Return a legal move that is none of the solution."""
    game, position = GAMES[puzzle.game_id], GAMES[puzzle.game_id].parse_position(puzzle.position)
    legal = [game.format_move(position, move) for move in game.legal_moves(position)]
    return next(move for move in legal if move not in (puzzle.line[0], *puzzle.alternatives))


def entry(who: Caller, puzzle: Puzzle = PUZZLE) -> dict[str, Any]:
    listed = who.get("/games/bashni/puzzles").json["items"]
    return next(item for item in listed if item["id"] == puzzle.id)


def attempt(who: Caller, moves: list[str], **more: Any) -> dict[str, Any]:
    answer = who.post(f"{AT}/attempts", {"moves": moves, **more})
    assert answer.status_code == 200, answer.text
    return dict(answer.json)


def test_puzzles_are_listed_without_solutions_and_with_ratings_from_the_trials_of_the_levels(stranger: Caller) -> None:
    listed = stranger.get("/games/bashni/puzzles").json
    assert [item["id"] for item in listed["items"]] == list(puzzles_of("bashni"))
    assert listed["rating"] is None
    assert entry(stranger)["rating"] == {"rating": PUZZLE.prior.rating, "deviation": 150.0, "attempts": 0}
    assert PUZZLE.line[0] not in json.dumps([{**item, "position": ""} for item in listed["items"]])
    assert stranger.get("/games/chess/puzzles").json["code"] == "no-such-game"


def test_the_first_attempt_within_an_hour_of_the_first_look_is_rated_and_no_later_one(anna: Caller) -> None:
    assert anna.post(f"{AT}/looks").json == {"rated": True, "solved": None, "at": None, "due": None}
    first = attempt(anna, list(PUZZLE.solver_moves))
    assert (first["solved"], first["attempt"]["rated"], first["attempt"]["due"]) == (True, True, None)
    assert first["before"]["rating"] == 1500
    assert first["after"]["rating"] > 1500
    assert first["puzzle"]["rating"] < PUZZLE.prior.rating
    assert entry(anna)["rating"] == first["puzzle"]
    assert anna.get("/games/bashni/puzzles").json["rating"] == first["after"]
    again = attempt(anna, [other_move(PUZZLE)])
    assert not again["solved"]
    assert (again["attempt"], again["after"], again["puzzle"]) == (first["attempt"], first["after"], first["puzzle"])


def test_a_wrong_move_giving_up_and_a_hint_are_misses(app: Flask, stranger: Caller) -> None:
    solution = list(PUZZLE.solver_moves)
    for name, moves, hint in (
        ("carl", [other_move(PUZZLE)], False), ("dora", solution[:-1], False), ("egon", [], False),
        ("fred", solution, True),
    ):  # fmt: skip
        before, who = entry(stranger)["rating"], Caller(app).sign_up(name)
        who.post(f"{AT}/looks")
        missed = attempt(who, moves, hint=hint)
        assert not missed["solved"]
        assert missed["after"]["rating"] < 1500
        assert missed["puzzle"]["rating"] > before["rating"]


def test_an_attempt_long_after_the_first_look_or_without_one_is_not_rated(
    anna: Caller, boris: Caller, services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not attempt(boris, list(PUZZLE.solver_moves))["attempt"]["rated"]
    anna.post(f"{AT}/looks")
    later = services.now() + MAX_RATED_ATTEMPT_MS + 60_000
    monkeypatch.setattr(services.puzzle_attempts, "_now", lambda: later)
    assert anna.post(f"{AT}/looks").json["rated"], "a second look changes nothing"
    late = attempt(anna, list(PUZZLE.solver_moves))
    assert (late["solved"], late["attempt"]["rated"], late["after"]) == (True, False, late["before"])
    assert entry(anna)["rating"]["attempts"] == 0


def test_a_repeat_is_never_rated_and_comes_again_later(
    anna: Caller, services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    anna.post(f"{AT}/looks")
    first = attempt(anna, [])
    begun = services.now()
    monkeypatch.setattr(services.puzzle_attempts, "_now", lambda: begun + 4 * DAY)
    repeated = attempt(anna, list(PUZZLE.solver_moves))
    assert (repeated["solved"], repeated["after"], repeated["puzzle"]) == (True, first["after"], first["puzzle"])
    assert repeated["attempt"]["due"] > first["attempt"]["due"]
    assert repeated["attempt"]["solved"] is False, "the first result stays"


def test_moves_that_are_not_legal_are_refused_and_change_nothing(anna: Caller) -> None:
    anna.post(f"{AT}/looks")
    refused = anna.post(f"{AT}/attempts", {"moves": ["a1-h8"]})
    assert (refused.status_code, refused.json["code"]) == (422, "illegal-move")
    assert entry(anna)["attempt"]["solved"] is None
    assert attempt(anna, list(PUZZLE.solver_moves))["solved"]


def test_guests_keep_their_attempts_in_the_browser_and_bots_are_not_rated(app: Flask, anna: Caller) -> None:
    guest = Caller(app).play_as_guest()
    assert guest.post(f"{AT}/looks").json["code"] == "sign-up-required"
    assert guest.post(f"{AT}/attempts", {"moves": []}).json["code"] == "sign-up-required"
    anna.put("/me/bot", {"games": ["bashni"], "concurrent": 1})
    assert not anna.post(f"{AT}/looks").json["rated"]
    assert anna.post("/games/bashni/puzzles/none/looks").json["code"] == "no-such-puzzle"


def test_attempts_made_before_signing_in_are_taken_over_as_history(anna: Caller, services: Services) -> None:
    other = next(puzzle for puzzle in puzzles_of("bashni").values() if puzzle != PUZZLE)
    anna.post(f"/games/bashni/puzzles/{other.id}/looks")
    sent = [{"puzzle": id, "solved": False, "at": "2026-01-01T00:00:00Z"} for id in (PUZZLE.id, other.id, "none")]
    assert anna.post("/games/bashni/puzzles/attempts", {"attempts": sent}).status_code == 204
    taken = {"rated": False, "solved": False, "at": "2026-01-01T00:00:00.000Z", "due": "2026-01-04T00:00:00.000Z"}
    assert entry(anna)["attempt"] == taken
    assert entry(anna, other)["attempt"]["solved"] is None, "it was opened here before"
    assert anna.get("/games/bashni/puzzles").json["rating"] is None
    assert set(services.puzzle_attempts.exported(anna.id)) == {f"bashni/{PUZZLE.id}", f"bashni/{other.id}"}


def test_a_person_begins_a_limited_number_of_puzzles_a_day(server: RealServer) -> None:
    limits = UNLIMITED._replace(puzzles="1/day")
    anna = Caller(app_on(server.url, limits)).sign_up("anna")
    assert Limits().puzzles == "100/day"
    assert anna.post(f"{AT}/looks").status_code == 200
    assert anna.post(f"{AT}/looks").status_code == 200, "it has begun already"
    other = next(puzzle for puzzle in puzzles_of("bashni").values() if puzzle != PUZZLE)
    assert anna.post(f"/games/bashni/puzzles/{other.id}/looks").json["code"] == "too-many-requests"


def test_attempts_are_exported_and_erased_with_the_person_and_ratings_of_puzzles_stay(
    anna: Caller, stranger: Caller, services: Services
) -> None:
    anna.post(f"{AT}/looks")
    rated = attempt(anna, list(PUZZLE.solver_moves))
    archive = zipfile.ZipFile(io.BytesIO(anna.get("/me/archive").data))
    exported = json.loads(archive.read("puzzles.json"))
    assert exported["bashni"]["attempts"] == 1
    assert exported[f"bashni/{PUZZLE.id}"]["solved"]
    assert anna.post("/me/erasure", {"name": "anna"}).status_code == 200
    assert services.puzzle_attempts.exported(anna.id) == {}
    assert not [key for key in stored(services.store.client) if anna.id.encode() in key and b"puzzle" in key]
    assert entry(stranger)["rating"] == rated["puzzle"]
