"""Pages: how often they ask the store (each transmission counts, however many commands it has), and unknown ones."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from flask import Flask
from redis.connection import AbstractConnection

from api.access.auth import session_cookie
from api.services import EXTENSION
from tests.support.callers import ME, OPEN, Caller, started
from tests.support.projected import project

MAX_ROUND_TRIPS = {"match": 6, "matches": 8, "lobby": 8}
MATCHES = 30


@pytest.fixture
def transmissions(monkeypatch: pytest.MonkeyPatch) -> Callable[[], Any]:
    """Count what all connections of this process send to a server."""
    send = AbstractConnection.send_packed_command
    sent: list[object] = []

    def count(connection: AbstractConnection, command: Any, check_health: bool = True) -> None:
        sent.append(command)
        send(connection, command, check_health)

    @contextmanager
    def counted() -> Iterator[Callable[[], int]]:
        before = len(sent)
        yield lambda: len(sent) - before

    monkeypatch.setattr(AbstractConnection, "send_packed_command", count)
    return counted


@pytest.mark.parametrize("signed_in", [True, False], ids=["a player", "a visitor"])
def test_pages_ask_the_store_a_few_times(app: Flask, transmissions: Callable[[], Any], signed_in: bool) -> None:
    anna, boris, nobody = Caller(app).play_as_guest(), Caller(app).play_as_guest(), Caller(app)
    played = [started(anna, boris) for _ in range(MATCHES)]
    for match_id in played[::2]:
        assert anna.move(match_id).status_code == 201
    for _ in range(MATCHES):
        boris.create(ME, OPEN)
    project(app.extensions[EXTENSION])
    reader = anna if signed_in else nobody
    pages = {"match": f"/matches/{played[0]}", "matches": "/matches", "lobby": "/lobby"}
    for page, path in pages.items():
        reader.client.get(path)
        with transmissions() as count:
            answer = reader.client.get(path)
        assert answer.status_code == (302 if page == "matches" and not signed_in else 200)
        assert 1 <= count() <= MAX_ROUND_TRIPS[page], page


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
