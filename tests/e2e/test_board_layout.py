"""The board of every game fits the window, from phones to large screens, with the viewer's own pieces in view."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from playwright.sync_api import Browser, Page

from domain.games import GAMES
from tests.e2e.visitors import SCRIPTS, SharedInstallation, Visitor

PHONE, SMALL_LAPTOP, LAPTOP, LARGE = (380, 800), (1280, 800), (1366, 768), (2560, 1440)
MIN_CELL_PX = {
    ("bashni", "start"): (44, 62, 58, 125), ("towers", "two-player"): (50, 70, 65, 140),
    ("towers", "four-player"): (50, 65, 60, 135), ("tower-game", "original"): (30, 38, 41, 92),
    ("fourplay", "standard"): (24, 32, 30, 66), ("four-towers", "standard"): (30, 44, 42, 90),
}  # fmt: skip
"""By game and setup: the minimum side of a square at each of the four sizes."""

MIN_TARGET_PX = 24
MEASURE = (SCRIPTS / "measure.js").read_text()


class Shown(NamedTuple):
    """The page of a match for one of its players, and the initial squares of the player's pieces."""

    page: Page
    home: list[str]
    least: tuple[int, ...]


@pytest.fixture(scope="module", params=MIN_CELL_PX, ids="-".join)
def shown(request: pytest.FixtureRequest, installation: SharedInstallation, browser: Browser) -> Iterator[Shown]:
    """Return the page of a match of each game, loaded once for all sizes."""
    game, setup = request.param
    player = Visitor(browser, installation).be_guest()
    seats = len(GAMES[game].setups[setup].seat_names)
    match_id = player.create(game, setup, [{"kind": "me"}, *[{"kind": "opponent", "level": 1}] * (seats - 1)])
    columns = GAMES[game].scene(GAMES[game].initial(setup)).columns
    home = [square for square, pieces in columns.items() if pieces[-1].seat == 0]
    yield Shown(player.open(match_id), home, MIN_CELL_PX[request.param])
    player.close()


def inside(box: list[float], size: tuple[int, int]) -> bool:
    """Tell whether ``box`` is inside the window, within a pixel."""
    left, top, right, bottom = box
    return left >= -1 and top >= -1 and right <= size[0] + 1 and bottom <= size[1] + 1


@pytest.mark.parametrize("size", [PHONE, SMALL_LAPTOP, LAPTOP, LARGE], ids=lambda size: f"{size[0]}x{size[1]}")
def test_the_board_fits_the_window_with_the_viewers_pieces_visible_and_squares_large_enough(
    shown: Shown, size: tuple[int, int]
) -> None:
    shown.page.set_viewport_size({"width": size[0], "height": size[1]})
    found: dict[str, Any] = shown.page.evaluate(MEASURE, shown.home)
    assert found["width"] <= size[0]
    assert len(found["own"]) == len(shown.home)
    assert [box for box in found["own"] if not inside(box, size)] == []
    sizes = (PHONE, SMALL_LAPTOP, LAPTOP, LARGE)
    assert found["cell"] >= max(shown.least[sizes.index(size)], MIN_TARGET_PX)
    assert [box for box in found["board"] if box[0] < -1 or box[2] > size[0] + 1] == []
    assert all(min(box[2] - box[0], box[3] - box[1]) >= MIN_TARGET_PX for box in found["steps"])
    if size != PHONE:
        assert [box for box in found["board"] + found["steps"] if not inside(box, size)] == []


@pytest.mark.parametrize("size", [SMALL_LAPTOP, LAPTOP], ids=lambda size: f"{size[0]}x{size[1]}")
def test_squares_of_the_smallest_board_that_a_device_can_choose_are_large_enough(
    shown: Shown, size: tuple[int, int]
) -> None:
    shown.page.set_viewport_size({"width": size[0], "height": size[1]})
    full = shown.page.evaluate(MEASURE, shown.home)
    shown.page.evaluate("document.documentElement.dataset.size = 'small'")
    small = shown.page.evaluate(MEASURE, shown.home)
    shown.page.evaluate("delete document.documentElement.dataset.size")
    assert MIN_TARGET_PX <= small["cell"] < full["cell"]


def test_the_board_fits_a_window_of_320_pixels(shown: Shown) -> None:
    shown.page.set_viewport_size({"width": 320, "height": 640})
    found = shown.page.evaluate(MEASURE, shown.home)
    assert found["width"] <= 320
    assert [box for box in found["board"] if box[0] < -1 or box[2] > 321] == []
