"""The settings of a device: colours, board and pieces before the first paint, sounds, moves submitted at once."""

from collections.abc import Callable
from typing import Any

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page, expect

from tests.e2e.test_every_page import AXE, RULE_OF_COLOUR, RULES_OF_FORM
from tests.e2e.visitors import DESK, OVERFLOW, PHONE, Visitor
from tests.support.eventually import eventually

WINDOWS = [{"viewport": PHONE, "has_touch": True}, {"viewport": DESK}]
FIRST_PAINT = """
new MutationObserver(() => {
  if (!document.body || window.atFirst) return;
  window.atFirst = [{...document.documentElement.dataset}, getComputedStyle(document.body).backgroundColor];
}).observe(document, {childList: true, subtree: true});
"""
"""Records how a page looks as soon as it has a body, before any module has run."""

HEARD = """
window.heard = [];
const start = OscillatorNode.prototype.start;
OscillatorNode.prototype.start = function (at) {
  window.heard.push(this.frequency.value);
  return start.call(this, at);
};
"""
"""Records the tones that are played."""

MOVE, CAPTURE, TURN, END = [440], [330, 220], [660, 880], [523, 392, 262]
DARK_PAPER, LIGHT_PAPER = "rgb(26, 23, 20)", "rgb(247, 242, 231)"


def choose(page: Page, **choices: str) -> None:
    page.goto("/settings")
    for name, value in choices.items():
        page.locator(f"#device-settings [name='{name}']").select_option(value)
    expect(page.locator("#device-said")).to_have_text("Kept in this browser.")


def switch_on(page: Page, label: str) -> None:
    page.goto("/settings")
    page.get_by_label(label, exact=True).check()
    expect(page.locator("#device-said")).to_have_text("Kept in this browser.")


def heard(page: Page, count: int) -> list[float]:
    """Return the frequencies of the next tones, once there are ``count``."""
    eventually(lambda: page.evaluate("window.heard.length") >= count, "tones")
    tones: list[float] = page.evaluate("window.heard.splice(0)")
    return tones


def colour_of(page: Page, selector: str) -> str:
    colour: str = page.locator(selector).first.evaluate("part => getComputedStyle(part).fill")
    return colour


@pytest.mark.parametrize("window", WINDOWS, ids=["phone", "desk"])
def test_a_visitor_without_an_account_chooses_colours_and_pieces_that_hold_from_the_first_paint(
    visit: Callable[..., Visitor], window: dict[str, Any]
) -> None:
    stranger = visit(**window, color_scheme="light")
    page = stranger.page
    choose(page, board="slate", discs="bold", figures="tiles", scheme="dark")
    expect(page.get_by_text("Sign in to see the settings of your account.")).to_be_visible()
    page.add_init_script(FIRST_PAINT)
    page.goto("/games/bashni/rules")
    chosen = {"board": "slate", "discs": "bold", "figures": "tiles", "scheme": "dark"}
    assert page.evaluate("window.atFirst") == [chosen, DARK_PAPER]
    assert colour_of(page, ".cell-dark") == "rgb(55, 66, 78)"
    page.goto("/games/tower-game/rules")
    carved, tile = (page.locator(f".{part}").first for part in ("carved", "tile"))
    assert [part.evaluate("part => getComputedStyle(part).display") for part in (carved, tile)] == ["none", "inline"]
    choose(page, board="", scheme="")
    page.goto("/verify")
    assert page.evaluate("window.atFirst") == [{"discs": "bold", "figures": "tiles"}, LIGHT_PAPER]
    page.emulate_media(color_scheme="dark")
    page.reload()
    assert page.evaluate("window.atFirst")[1] == DARK_PAPER


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_settings_are_accessible_in_both_schemes_and_by_keyboard(
    visit: Callable[..., Visitor], scheme: str
) -> None:
    page = visit(viewport=DESK).sign_up().page
    page.goto("/settings")
    headings = page.locator("main h2").all_inner_texts()
    assert headings == ["This device", "My account"]
    assert page.locator("main h3").all_inner_texts()[-3:] == ["Programs", "Bot", "Signed moves"]
    page.locator("#device-board").focus()
    page.keyboard.type("Leaf")
    for _ in range(4):
        page.keyboard.press("Tab")
    page.keyboard.type(scheme.capitalize())
    for _ in range(2):
        page.keyboard.press("Tab")
    page.keyboard.press("Space")
    expect(page.get_by_label("Submit at once")).to_be_checked()
    kept = {"board": "leaf", "scheme": scheme, "atOnce": "on"}
    assert page.evaluate("JSON.parse(localStorage.device)") == kept
    for size in (PHONE, DESK):
        page.set_viewport_size(size)
        assert page.evaluate(OVERFLOW) <= 0
    page.evaluate(AXE_SCRIPT)
    assert page.evaluate(AXE, RULES_OF_FORM) == []
    assert page.evaluate(AXE, RULE_OF_COLOUR) == []


def test_the_board_is_smaller_on_a_desk_where_the_device_asks_for_it(visit: Callable[..., Visitor]) -> None:
    white, black = visit(viewport=DESK).be_guest(), visit().be_guest()
    match_id = white.play_bashni(black)
    widths = []
    for size in ("", "medium", "small"):
        choose(white.page, size=size)
        box = white.open(match_id).locator("#board svg").bounding_box()
        assert box is not None
        widths.append(box["width"])
    assert widths[1] == pytest.approx(0.9 * widths[0], abs=1)
    assert widths[2] == pytest.approx(0.8 * widths[0], abs=1)
    white.page.set_viewport_size(PHONE)
    box = white.page.locator("#board svg").bounding_box()
    assert box is not None
    assert box["width"] >= PHONE["width"] - 8


def test_moves_captures_ones_turn_and_the_end_are_heard_once_sounds_are_on(visit: Callable[..., Visitor]) -> None:
    white, black = visit(viewport=DESK).be_guest(), visit().be_guest()
    match_id = white.play_bashni(black)
    page = white.page
    page.add_init_script(HEARD)
    white.open(match_id)
    white.submit("c3", "d4")
    expect(page.locator("#shown")).to_have_text("1 / 1")
    assert page.evaluate("window.heard") == []
    switch_on(page, "Sounds")
    assert heard(page, len(MOVE)) == MOVE
    white.open(match_id)
    page.locator("#shown").click()
    black.move(match_id, "f6-e5")
    assert heard(page, len(MOVE + TURN)) == MOVE + TURN
    white.submit("d4", "f6")
    assert heard(page, len(CAPTURE)) == CAPTURE
    black.call("POST", f"/matches/{match_id}/resignation", {})
    assert heard(page, len(END)) == END


@pytest.mark.parametrize("window", WINDOWS, ids=["phone", "desk"])
def test_a_move_is_submitted_at_once_where_the_device_asks_for_it(
    visit: Callable[..., Visitor], window: dict[str, Any]
) -> None:
    white, black = visit(**window).be_guest(), visit().be_guest()
    match_id = white.play_bashni(black)
    page = white.page
    switch_on(page, "Submit at once")
    white.open(match_id)
    page.locator("#board .can-begin[data-square='c3']").click()
    white.square("d4").click()
    expect(page.locator("#shown")).to_have_text("1 / 1")
    expect(page.locator("#confirm")).to_be_hidden()
    black.move(match_id, "b6-a5")
    expect(page.locator("#board .can-begin").first).to_be_visible()
    page.locator("#typed").fill("d4-c5")
    page.keyboard.press("Enter")
    expect(page.locator("#confirm")).to_be_visible()
    page.locator("#cancel").click()
    expect(page.locator("#board .can-begin").first).to_be_visible()
    assert white.call("GET", f"/matches/{match_id}")["moves"] == ["c3-d4", "b6-a5"]


def test_a_move_that_does_not_reach_the_server_can_be_repeated_or_cancelled(visit: Callable[..., Visitor]) -> None:
    white, black = visit(viewport=DESK).be_guest(), visit().be_guest()
    match_id = white.play_bashni(black)
    page = white.page
    switch_on(page, "Submit at once")
    page.route("**/moves", lambda route: route.abort(), times=1)
    white.open(match_id)
    page.locator("#board .can-begin[data-square='c3']").focus()
    page.keyboard.press("Enter")
    white.square("d4").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#announcements")).to_contain_text("Press again to repeat it; it counts once only.")
    expect(page.locator("#submit")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#shown")).to_have_text("1 / 1")
    assert white.call("GET", f"/matches/{match_id}")["moves"] == ["c3-d4"]


def test_a_chosen_move_stays_chosen_and_nothing_is_heard_when_something_else_happens(
    pair: tuple[Visitor, Visitor, str],
) -> None:
    white, black, match_id = pair
    page = white.page
    switch_on(page, "Sounds")
    page.add_init_script(HEARD)
    white.open(match_id)
    page.locator("#board .can-begin[data-square='c3']").click()
    white.square("d4").click()
    expect(page.locator("#chosen")).to_have_text("c3-d4")
    black.call("POST", f"/matches/{match_id}/draw-offers", {})
    expect(page.locator("#offers")).to_contain_text("A draw is offered.")
    expect(page.locator("#chosen")).to_have_text("c3-d4")
    expect(page.locator("#confirm")).to_be_visible()
    assert page.evaluate("window.heard") == []
