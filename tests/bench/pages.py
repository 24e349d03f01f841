"""Page weight: requests and bytes that a browser transfers for each kind of page, headers included.

The first visit is that of a browser with an empty cache, the second that of one that has seen the page before. Messages
of the live stream are not counted, its headers are.
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page

from deploy.local.installation import LocalInstallation
from domain.games import GAMES
from tests.bench.measure import Table, verdict
from tests.e2e.visitors import Visitor, chromium
from tests.support.long_games import long_game

FIRST_VISIT_KB = 60.0
SECOND_VISIT_KB = 15.0
PLIES = 40
QUIET_MS = 1500
"""A page is loaded when its browser has requested nothing for this long."""

MATCHES = (
    ("bashni", "start", 2),
    ("towers", "two-player", 2),
    ("towers", "four-player", 4),
    ("tower-game", "original", 2),
    ("fourplay", "standard", 4),
    ("four-towers", "standard", 2),
)
PAGES = (
    "/", "/lobby", "/matches", "/matches/new", "/games/bashni", "/games/four-towers/rules", "/leaderboards", "/help",
)  # fmt: skip


class Transfers:
    """The requests of a page and the bytes transferred for them."""

    def __init__(self, page: Page) -> None:
        self.requests = 0
        self.bytes = 0
        self._streams: set[str] = set()
        session = page.context.new_cdp_session(page)
        session.send("Network.enable")
        session.on("Network.responseReceived", self._receive)
        session.on("Network.loadingFinished", self._finish)

    def _receive(self, event: dict[str, Any]) -> None:
        if event["type"] == "EventSource":
            self.requests += 1
            self.bytes += int(event["response"]["encodedDataLength"])
        elif not event["response"].get("fromDiskCache"):
            self.requests += 1

    def _finish(self, event: dict[str, Any]) -> None:
        self.bytes += int(event["encodedDataLength"])


def tables() -> Iterator[Table]:
    table = Table(
        "Pages: requests, and kilobytes (1000 bytes) transferred with headers, on the first visit and on the second",
        *("page", "requests", "first kB", "target", "requests", "second kB", "target"),
    )
    with (
        tempfile.TemporaryDirectory() as folder,
        LocalInstallation(Path(folder)) as installation,
        chromium() as browser,
    ):
        for game, setup, seats in MATCHES:
            people, match_id = _middle_of_play(browser, installation, game, setup, seats)
            _add(table, browser, people[0], f"match: {game}, {seats} seats", f"/matches/{match_id}", targets=True)
            if game == "bashni":
                _add(table, browser, people[0], "record", f"/matches/{match_id}/record")
                _add(table, browser, people[0], "case file", f"/matches/{match_id}/case")
                reader = people[0]
            for person in people[1 if game == "bashni" else 0 :]:
                person.close()
        for path in PAGES:
            _add(table, browser, reader, path, path)
    yield table


def _middle_of_play(
    browser: Browser, installation: LocalInstallation, game: str, setup: str, seats: int
) -> tuple[list[Visitor], str]:
    """Return the players of a match, the one to move first, and the match."""
    people = [Visitor(browser, installation).be_guest() for _ in range(seats)]
    others = [{"kind": "player", "name": person.name} for person in people[1:]]
    match_id = people[0].create(game, setup, [{"kind": "me"}, *others])
    for person in people[1:]:
        person.call("POST", f"/matches/{match_id}/joins", {})
    moves, movers = long_game(GAMES[game], setup, PLIES + 1)
    for move, seat in zip(moves[:PLIES], movers, strict=False):
        people[seat].move(match_id, move)
    to_move = people[movers[PLIES]]
    return [to_move, *(person for person in people if person is not to_move)], match_id


def _add(table: Table, browser: Browser, visitor: Visitor, name: str, path: str, targets: bool = False) -> None:
    first, second = _visits(browser, visitor, path)
    cells: list[str | float] = [name]
    for transfers, target in ((first, FIRST_VISIT_KB), (second, SECOND_VISIT_KB)):
        kilobytes = transfers.bytes / 1000
        reached = verdict(kilobytes, target, at_least=False) if targets else ""
        cells += [str(transfers.requests), kilobytes, reached]
    table.add(*cells)


def _visits(browser: Browser, visitor: Visitor, path: str) -> tuple[Transfers, Transfers]:
    """Return the transfers of two visits of a new browser that is signed in as ``visitor``."""
    context = browser.new_context(
        base_url=visitor.installation.url,
        storage_state=visitor.context.storage_state(),
        viewport={"width": 1280, "height": 800},
    )
    visits = []
    for _ in range(2):
        page = context.new_page()
        transfers = Transfers(page)
        page.goto(path)
        page.wait_for_timeout(QUIET_MS)
        page.close()
        visits.append(transfers)
    context.close()
    return visits[0], visits[1]
