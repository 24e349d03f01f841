"""How many bytes a match page takes, in the middle of play of every game, on the first visit and on the next.

Headers count, and so does all that the page names and all that its scripts ask for until it rests.
"""

import re

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from api.services import EXTENSION, Services
from domain.games import GAMES
from events.store.codec import draft_of
from events.store.contract import EMPTY, Request
from tests.support.callers import Caller
from tests.support.long_games import events_of

FIRST_VISIT_BYTES = 60_000
NEXT_VISIT_BYTES = 15_000
PLIES = 40
SERVER_BYTES = 120
"""What the server and the live stream add to the headers of an answer: its name, the time, the connection."""

STREAM_BYTES = 700
"""The headers with which the live stream begins."""

AS_BROWSERS = {"Accept-Encoding": "gzip, deflate, br", "Accept": "text/html"}
AS_SCRIPTS = {"Accept_Encoding": "gzip, deflate, br"}
MATCHES = [(game, setup) for game, each in GAMES.items() for setup in each.setups]


def size_of(answer: TestResponse) -> int:
    return len(answer.data) + sum(len(name) + len(value) + 4 for name, value in answer.headers) + SERVER_BYTES


@pytest.mark.parametrize(("game", "setup"), MATCHES)
def test_the_page_of_a_match_stays_small_in_the_middle_of_play(app: Flask, game: str, setup: str) -> None:
    services: Services = app.extensions[EXTENSION]
    people = [Caller(app).play_as_guest() for _ in GAMES[game].setups[setup].seat_names]
    ids = [person.id for person in people]
    drafts = [draft_of(event, ids[0]) for event in events_of(GAMES[game], setup, PLIES, ids, services.now())]
    services.store.append("mplayed", EMPTY, drafts, Request("all", ""))
    state = services.matches.load("mplayed").state
    mover = people[GAMES[game].to_move(state.play.position)]

    page = mover.client.get("/matches/mplayed", headers=AS_BROWSERS | {"Accept-Encoding": "identity"}).text
    named = set(re.findall(r'(?:src|href)="(/static/[^"]+)"', page))
    assert {path.rpartition(".")[2] for path in named} == {"css", "js", "svg"}
    kept = sum(size_of(mover.client.get(path, headers=AS_BROWSERS)) for path in named)
    first_visit, etag = _asked(mover, "")
    next_visit, _ = _asked(mover, etag)
    sizes = first_visit + kept, next_visit
    assert (sizes[0] <= FIRST_VISIT_BYTES, sizes[1] <= NEXT_VISIT_BYTES) == (True, True), sizes


def _asked(caller: Caller, etag: str) -> tuple[int, str]:
    """Return the bytes of what a page asks for, knowing the legal moves of ``etag``, and the ETag of those it gets."""
    page = caller.client.get("/matches/mplayed", headers=AS_BROWSERS)
    moves = caller.get("/matches/mplayed/legal-moves", **AS_SCRIPTS, If_None_Match=etag)
    chat = caller.get("/matches/mplayed/chat?after=0", **AS_SCRIPTS)
    assert [answer.status_code for answer in (page, moves, chat)] == [200, 304 if etag else 200, 200]
    return sum(map(size_of, (page, moves, chat))) + STREAM_BYTES, moves.headers["ETag"]
