"""How often a request asks the store, and waits for its answer."""

import pytest

from api.services import EXTENSION
from tests.support.callers import ME, OPEN, Caller, app_on
from tests.support.projected import project
from tests.support.round_trips import record_round_trips
from tests.support.server import RealServer

ROUND_TRIPS_OF_MOVE = 2
MAX_ROUND_TRIPS = {"/matches/{}": 6, "/matches": 8, "/lobby": 8}
"""By page; {} is the match that is played."""


class Table:
    """A match between two guests, in which each has moved, and further matches of theirs and open ones."""

    def __init__(self, server: RealServer) -> None:
        self.app = app_on(server.url)
        self.white, self.black = Caller(self.app).play_as_guest(), Caller(self.app).play_as_guest()
        self.match, *_ = [self._begin() for _ in range(3)]
        for player in (self.white, self.black):
            player.move(self.match)
        for _ in range(2):
            self.black.create(ME, OPEN)
        project(self.app.extensions[EXTENSION])

    def _begin(self) -> str:
        match = self.white.create(ME, OPEN)
        self.black.post(f"/matches/{match}/joins")
        return match


@pytest.fixture
def table(server: RealServer) -> Table:
    return Table(server)


def test_a_move_asks_twice_who_moves_and_to_append(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    move = table.white.legal_move(table.match)
    round_trips = record_round_trips(monkeypatch)
    table.white.move(table.match, move)
    assert len(round_trips) == ROUND_TRIPS_OF_MOVE, [sent[:200] for sent in round_trips]


@pytest.mark.parametrize("path", MAX_ROUND_TRIPS)
def test_a_page_asks_few_times(table: Table, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    page = path.format(table.match)
    assert table.white.client.get(page).status_code == 200  # scripts are loaded now
    round_trips = record_round_trips(monkeypatch)
    assert table.white.client.get(page).status_code == 200
    assert len(round_trips) <= MAX_ROUND_TRIPS[path], [sent[:200] for sent in round_trips]
