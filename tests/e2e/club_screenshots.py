"""Take the pictures of tournaments, seeks and people for the documents: ``python -m tests.e2e.club_screenshots``.

Of tournaments one that takes entries, two that are being played, of two and of four seats, and one that is over. An
argument names another directory.
"""

import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from random import Random

from playwright.sync_api import Page, ViewportSize

from domain.contest.schedules import Form
from domain.contest.seek.commands import PostSeek
from domain.contest.tournament import commands as c
from domain.contest.tournament.state import PairingStatus
from domain.contest.tournament.terms import TournamentTerms
from domain.contest.wishes import MAX_RATING, Interval, SeekTerms
from domain.games import find_ruleset
from domain.match.commands import Resign
from domain.match.enums import Status
from domain.match.terms import DAY, HOUR
from events.people.person import Person
from events.store.contract import Request
from events.store.kinds import StreamKind, stream_id
from tests.e2e.png import shrunk
from tests.e2e.visitors import chromium
from tests.support.callers import app_on
from tests.support.served_app import served
from tests.support.server import RealServer
from tests.support.stepped_installation import SteppedInstallation, drain
from tests.support.stored_tournaments import NAMES
from tests.support.tournaments import FOUR_SEATS, TWO_SEATS

WINDOWS: Sequence[ViewportSize] = ({"width": 380, "height": 800}, {"width": 1366, "height": 768})
PREFIX, SHARDS = "rk:", 16

_KEYS = count(1)


class Stage:
    """Tournaments of people with names on a server whose time goes on by itself."""

    def __init__(self, shop: SteppedInstallation) -> None:
        self._shop = shop
        self._random = Random("pictures")
        for name in NAMES:
            person = Person(name.lower(), name, "person", shop.now)
            shop.parts.people.enrol(person, "")
            shop.parts.directory.record(person)

    def announce(self, terms: TournamentTerms, people: int) -> str:
        """Announce a tournament that starts in ten days, with entries of ``people``; return its id."""
        shop, organiser = self._shop, NAMES[0].lower()
        id = stream_id(StreamKind.TOURNAMENT, organiser, terms.title)
        dated = replace(terms, starts_at=shop.now + 10 * DAY, latest_end=shop.now + 200 * DAY)
        self._execute(id, c.AnnounceTournament(organiser=organiser, terms=dated), organiser)
        for name in self._random.sample(NAMES, people):
            shop.now += DAY // 12
            self._execute(id, c.EnterTournament(player=name.lower(), facts=None), name.lower())
        self._follow()
        return id

    def seek(self, name: str, terms: SeekTerms) -> None:
        """Post a seek of ``name`` an hour after the one before."""
        shop, author = self._shop, name.lower()
        shop.now += HOUR
        id = stream_id(StreamKind.SEEK, author, f"stage:{next(_KEYS)}")
        shop.parts.seeks.contests.execute(id, PostSeek(author, terms), author, Request("post", ""))
        self._follow()

    def begin(self, id: str) -> None:
        """Let the time of the start come."""
        state = self._shop.parts.tournaments.contests.load(id).state
        self._shop.now = max(self._shop.now, state.starts_at)
        self._shop.parts.tournaments.settle(id)
        self._follow()

    def play(self, id: str, results: int) -> None:
        """Let matches end one after the other, until ``results`` have ended or none runs."""
        shop = self._shop
        for _ in range(results):
            state = shop.parts.tournaments.contests.load(id).state
            running = state.numbers(PairingStatus.RUNNING)
            if not running:
                return
            shop.now += DAY // 3
            self._end(state.pairings[self._random.choice(running) - 1].match or "")
            self._follow()

    def _end(self, match: str) -> None:
        """Let all seats resign but one."""
        state = self._shop.state(match)
        for seat in self._random.sample(range(len(state.seats)), len(state.seats)):
            now = self._shop.state(match)
            gone = find_ruleset(now.game, now.ruleset).eliminated(now.play.position)
            if now.status == Status.PLAYING and seat not in gone:
                self._shop.do(match, Resign(player=now.seats[seat].player))

    def _execute(self, id: str, command: c.Command, actor: str) -> None:
        self._shop.parts.tournaments.contests.execute(id, command, actor, Request(f"stage:{next(_KEYS)}", ""))

    def _follow(self) -> None:
        self._shop.heartbeat.beat(self._shop.now, self._shop.now)
        drain(self._shop.projections(), self._shop.contests())


def scenes(shop: SteppedInstallation) -> dict[str, str]:
    """Return the paths of the pages by the names of their pictures."""
    stage = Stage(shop)
    over = stage.announce(replace(FOUR_SEATS, title="Five at one table", form=Form.PERFECT, most=5), 5)
    stage.begin(over)
    stage.play(over, 20)
    four = stage.announce(replace(FOUR_SEATS, title="Winter fourplay", least=5, most=12, at_once=3), 9)
    two = stage.announce(replace(TWO_SEATS, title="Autumn round of Bashni", least=4, most=8, at_once=2), 10)
    for id, results in ((four, 4), (two, 14)):
        stage.begin(id)
        stage.play(id, results)
    entries = stage.announce(
        replace(TWO_SEATS, title="Towers in spring", game="towers", setup="two-player", most=12, repeat_weeks=13), 7
    )
    two_seats = SeekTerms(games=("bashni/start",), seats=2, days=Interval(2, 5), rated=True)
    stage.seek("Klara", two_seats)
    stage.seek("Hugo", replace(two_seats, games=("bashni/start", "four-towers/standard"), days=Interval(6, 10)))
    stage.seek("Irene", replace(two_seats, games=("tower-game/original",), rating=Interval(1700, MAX_RATING)))
    stage.seek("Leo", replace(two_seats, games=("towers/four-player",), seats=4, rated=False))
    tournaments = {"entries": entries, "two-seats": two, "four-seats": four, "over": over}
    paths = {f"tournament-{name}": f"/tournaments/{id}" for name, id in tournaments.items()}
    return {**paths, "seeks": "/seeks", "people": "/people", "profile": "/players/Leo"}


def take(target: Path) -> None:
    """Write the pictures to ``target``."""
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as directory:
        server = RealServer(Path(directory))
        shop = SteppedInstallation(server.url, prefix=PREFIX, shards=SHARDS)
        paths = scenes(shop)
        with served(app_on(server.url, now=lambda: shop.now)) as url, chromium() as browser:
            for window in WINDOWS:
                page = browser.new_page(viewport=window, base_url=url, reduced_motion="reduce")
                size = f"{window['width']}x{window['height']}"
                _sign_up(page, url, f"visitor-{size}")
                for name, path in paths.items():
                    _take_one(page, path, target / f"{name}-{size}.png")
        server.close()


def _sign_up(page: Page, url: str, name: str) -> None:
    answer = page.request.post(
        f"{url}/api/v1/players", data={"name": name, "password": "a tower of words"}, headers={"Origin": url}
    )
    assert answer.ok, answer.text()


def _take_one(page: Page, path: str, target: Path) -> None:
    page.goto(path)
    page.wait_for_load_state("load")
    target.write_bytes(shrunk(page.screenshot()))


if __name__ == "__main__":
    take(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/screenshots/windows"))
