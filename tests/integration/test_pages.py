"""Pages that there are not, and matches that are not shown."""

from flask import Flask

from api.access.auth import session_cookie
from api.services import EXTENSION
from tests.support.callers import Caller, started
from tests.support.projected import project


def test_an_unknown_address_invites_only_visitors_to_sign_in(app: Flask) -> None:
    for reader, invited in ((Caller(app), True), (Caller(app).play_as_guest(), False)):
        answer = reader.client.get("/no-such-page", headers={"Accept": "text/html"})
        assert answer.status_code == 404
        assert ("Sign in" in answer.text) is invited


def test_a_match_that_is_not_shown_invites_a_player_whose_session_has_ended_to_sign_in(app: Flask) -> None:
    reader = Caller(app)
    reader.client.set_cookie(session_cookie(app.extensions[EXTENSION].settings), "ended")
    answer = reader.client.get("/matches/no-such-match", headers={"Accept": "text/html"})
    assert answer.status_code == 404
    assert "Sign in" in answer.text


def test_the_goal_stands_at_the_board_in_the_first_three_matches_that_a_person_plays_of_a_game(app: Flask) -> None:
    anna, boris = Caller(app).sign_up("anna"), Caller(app).sign_up("boris")
    for rated in (True, False, False):
        match = started(anna, boris, rated=rated)
        assert "The goal:" in anna.client.get(f"/matches/{match}").text
        assert "The goal:" not in Caller(app).client.get(f"/matches/{match}").text
        for player in (anna, boris):
            player.move(match)
        assert anna.post(f"/matches/{match}/resignation").status_code == 201
        project(app.extensions[EXTENSION])
        assert "The goal:" not in anna.client.get(f"/matches/{match}").text
    assert "The goal:" not in anna.client.get(f"/matches/{started(anna, boris)}").text
    other = anna.create({"kind": "me"}, {"kind": "open"}, game="towers", setup="two-player")
    boris.post(f"/matches/{other}/joins")
    assert "The goal:" in anna.client.get(f"/matches/{other}").text
