"""Pages that there are not, and matches that are not shown."""

from flask import Flask

from api.access.auth import session_cookie
from api.services import EXTENSION
from tests.support.callers import Caller


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
