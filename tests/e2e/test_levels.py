"""The levels of The Tower Game: order on a phone, the file and the lines of a touched piece, and the stack."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.e2e.visitors import Visitor

PHONE = {"viewport": {"width": 380, "height": 800}, "has_touch": True}
DESK = {"viewport": {"width": 1366, "height": 768}}


def started(visit: Callable[..., Visitor], **options: Any) -> tuple[Visitor, Visitor, str]:
    """Return White, whose browser has ``options``, Black and a match of The Tower Game."""
    white, black = visit(**options).be_guest(), visit().be_guest()
    match_id = white.create("tower-game", "original", [{"kind": "me"}, {"kind": "player", "name": black.name}])
    black.call("POST", f"/matches/{match_id}/joins", {})
    return white, black, match_id


def top(visitor: Visitor, selector: str) -> float:
    box = visitor.page.locator(selector).bounding_box()
    assert box is not None
    return box["y"]


def test_a_phone_shows_the_state_above_the_board_and_the_levels_of_each_player_first(
    visit: Callable[..., Visitor],
) -> None:
    white, black, match = started(visit, **PHONE)
    black.page.set_viewport_size({"width": 380, "height": 800})
    for player, level in ((white, 1), (black, 8)):
        player.open(match)
        assert top(player, ".status") < top(player, "#board")
        square = "[data-square='cc{}'] rect"
        tops = [top(player, f"#board .square{square.format(number)}") for number in range(1, 9)]
        assert min(tops) >= tops[level - 1] - 1


@pytest.mark.parametrize("options", [PHONE, DESK], ids=["phone", "desk"])
def test_the_file_and_the_lines_of_a_piece_are_shown_on_all_levels_and_a_stack_of_them_plays(
    visit: Callable[..., Visitor], options: dict[str, Any]
) -> None:
    white, _, match = started(visit, **options)
    page = white.open(match)
    expect(page.locator("#board .can-begin").first).to_be_visible()
    white.square("bb2").hover()
    expect(page.locator("#board .same-file")).to_have_count(8)
    expect(page.locator("#board .is-reached").first).to_be_visible()
    assert {square[-1] for square in page.locator("#board .is-reached").evaluate_all(
        "squares => squares.map((square) => square.dataset.square)"
    )} == {"3", "4"}  # fmt: skip
    page.locator("#stack").click()
    expect(page.locator("#stack")).to_have_attribute("aria-pressed", "true")
    far, near = (white.square(square).locator("rect").bounding_box() for square in ("be1", "ba1"))
    assert far is not None
    assert near is not None
    assert far["y"] < near["y"]
    assert far["x"] > near["x"]
    assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]
    page.locator("#board .can-begin[data-square='bb2']").click()
    page.locator("#board .is-target[data-square='bb3']").click()
    expect(page.locator("#chosen")).to_have_text("bb3")
    page.locator("#submit").click()
    expect(page.locator("#moves a")).to_have_text("bb3")
    expect(white.square("bb3")).to_have_attribute("aria-label", re.compile("white pawn"))
