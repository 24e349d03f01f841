"""Take the pictures of reviews: ``python -m tests.e2e.review_screenshots [DIRECTORY]``, one match of each game.

Opponents play the matches, so that there is something to be found, and a worker reviews them; with a compiled build
(``make compile``) in minutes.
"""

import random
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from playwright.sync_api import Browser, ViewportSize, expect

from deploy.local.compiled import find_build
from deploy.local.installation import LocalInstallation
from domain.games import GAMES
from domain.match.enums import Status
from domain.search import choose
from tests.e2e.png import shrunk
from tests.e2e.screenshots import match_of
from tests.e2e.visitors import Visitor, chromium

WINDOWS: Sequence[ViewportSize] = ({"width": 380, "height": 800}, {"width": 1366, "height": 768})
PLAYED = {"bashni": 40, "towers": 40, "tower-game": 36, "fourplay": 36, "four-towers": 36}
"""The plies of each match before somebody gives up."""

LEVELS = (2, 5)
"""The levels of the first seat and of the others."""

PATIENCE_MS = 900_000


def opening(game_id: str, setup: str) -> list[str]:
    """Return the moves of a seeded match between opponents of different levels."""
    game, seeds = GAMES[game_id], random.Random(game_id)
    positions, moves = [game.initial(setup)], list[str]()
    while len(moves) < PLAYED[game_id] and any(game.legal_moves(positions[-1])):
        position = positions[-1]
        level = LEVELS[min(game.to_move(position), 1)]
        move = choose(game, position, positions[:-1], level, seeds.getrandbits(32)).move
        moves.append(game.format_move(position, move))
        positions.append(game.play(position, move))
    return moves


def take(target: Path) -> None:
    """Write the pictures to ``target``."""
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as var, chromium() as browser:
        installation = LocalInstallation(Path(var) / "var")
        installation.compiled = find_build()
        with installation:
            picture_reviews(installation, browser, target)


def picture_reviews(installation: LocalInstallation, browser: Browser, target: Path) -> None:
    """Let a match of each game be played and reviewed, and write the pictures of its review to ``target``."""
    people = [Visitor(browser, installation).sign_up(name) for name in ("Anna", "Boris", "Clara", "Dmitri")]
    matches = {}
    for game_id, game in GAMES.items():
        setup = next(iter(game.setups))
        seated = people[: len(game.setups[setup].seat_names)]
        matches[game_id] = match_of(seated, game_id, setup, opening(game_id, setup))
        path = f"/matches/{matches[game_id]}"
        for loser in seated[1:]:
            if loser.call("GET", path)["status"] == Status.PLAYING:
                loser.call("POST", f"{path}/resignation", {})
        seated[0].call("POST", f"{path}/review", {})
    for game_id, match in matches.items():
        for window in WINDOWS:
            visitor = Visitor(browser, installation, viewport=window).sign_in("Anna")
            page = visitor.page
            page.goto(f"/matches/{match}")
            page.get_by_text("Review by the engine").click()
            graph = page.get_by_role("img", name="The points that each seat could expect")
            expect(graph).to_be_visible(timeout=PATIENCE_MS)
            page.locator("#review").scroll_into_view_if_needed()
            size = f"{window['width']}x{window['height']}"
            (target / f"review-{game_id}-{size}.png").write_bytes(shrunk(page.screenshot()))
            visitor.context.close()


if __name__ == "__main__":
    take(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/screenshots/windows"))
