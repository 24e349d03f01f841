"""Arrows and circles on the board: with the right mouse button, by touch and by key; on matches and on figures."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.visitors import DESK, PHONE, Visitor
from tests.support.eventually import eventually

ROUND = "a.43"
"""What the outline of a circle contains, and that of an arrow does not."""


def middle(page: Page, square: str) -> tuple[float, float]:
    box = page.locator(f".square[data-square='{square}'] rect").first.bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def pull(page: Page, start: str, end: str) -> None:
    """Press the right button on a square and let it go on another one."""
    page.mouse.move(*middle(page, start))
    page.mouse.down(button="right")
    page.mouse.move(*middle(page, end), steps=3)
    page.mouse.up(button="right")


def outlines(page: Page) -> str:
    layer = page.locator(".arrows")
    return layer.get_attribute("d") or "" if layer.count() else ""


def hold(page: Page, start: str, end: str) -> None:
    """Rest a finger on a square until a circle shows, move it to another one and lift it."""
    before = outlines(page)
    session = page.context.new_cdp_session(page)
    points = [[{"x": x, "y": y}] for x, y in (middle(page, start), middle(page, end))]
    session.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": points[0]})
    eventually(lambda: outlines(page) != before, "a circle")
    session.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": points[1]})
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    session.detach()


def test_the_right_button_draws_arrows_and_circles_which_a_press_or_escape_removes(
    pair: tuple[Visitor, Visitor, str],
) -> None:
    white, _, match_id = pair
    page = white.open(match_id)
    page.set_viewport_size(DESK)
    expect(page.locator("#board .can-begin").first).to_be_visible()
    said = page.locator("#announcements")
    pull(page, "c3", "d4")
    expect(said).to_contain_text("Arrow from c3 to d4.")
    pull(page, "e5", "e5")
    expect(said).to_contain_text("Circle on e5.")
    assert outlines(page).count("M") == 3
    pull(page, "c3", "d4")
    expect(said).to_contain_text("Arrow from c3 to d4 removed.")
    assert outlines(page).count("M") == 1
    assert ROUND in outlines(page)
    white.square("a1").click()
    expect(page.locator(".arrows")).to_have_count(0)
    pull(page, "c3", "d4")
    page.keyboard.press("Escape")
    expect(page.locator(".arrows")).to_have_count(0)
    pull(page, "c3", "d4")
    white.call("POST", f"/matches/{match_id}/chat", {"text": "Hello."})
    expect(page.locator("#chat")).to_contain_text("Hello.")
    expect(page.locator(".arrows")).to_have_count(1)
    white.move(match_id, "c3-d4")
    expect(page.locator("#shown")).to_have_text("1 / 1")
    expect(page.locator(".arrows")).to_have_count(0)
    stored = page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}])")
    assert "arrow" not in stored.lower()


def test_the_key_m_draws_between_two_squares(pair: tuple[Visitor, Visitor, str]) -> None:
    white, _, match_id = pair
    page = white.open(match_id)
    page.set_viewport_size(DESK)
    said = page.locator("#announcements")
    white.square("c3").focus()
    page.keyboard.press("m")
    expect(said).to_contain_text("An arrow begins at c3: press M where it ends, or here for a circle.")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("m")
    expect(said).to_contain_text("Arrow from c3 to c4.")
    page.keyboard.press("m")
    page.keyboard.press("m")
    expect(said).to_contain_text("Circle on c4.")
    page.keyboard.press("Escape")
    expect(said).to_contain_text("Arrows and circles are removed.")
    expect(page.locator(".arrows")).to_have_count(0)


def test_a_long_press_draws_on_a_phone_and_chooses_nothing(visit: Callable[..., Visitor]) -> None:
    white, black = visit(viewport=PHONE, has_touch=True, color_scheme="dark").be_guest(), visit().be_guest()
    match_id = white.play_bashni(black)
    page = white.open(match_id)
    expect(page.locator("#board .can-begin").first).to_be_visible()
    hold(page, "c3", "c3")
    assert ROUND in outlines(page)
    hold(page, "c3", "d6")
    expect(page.locator("#announcements")).to_contain_text("Arrow from c3 to d6.")
    expect(page.locator(".is-selected")).to_have_count(0)
    assert page.evaluate("scrollY") == 0
    white.square("c3").tap()
    expect(page.locator(".is-selected")).to_have_count(1)
    expect(page.locator(".arrows")).to_have_count(0)


@pytest.mark.parametrize("path", ["/games/bashni/first-steps/take", "/games/tower-game/first-steps/lines"])
def test_a_figure_takes_arrows_too(visit: Callable[..., Visitor], path: str) -> None:
    page = visit(viewport=DESK).page
    page.goto(path)
    squares = page.locator(".square")
    names = [squares.nth(number).get_attribute("data-square") or "" for number in (3, 9)]
    pull(page, *names)
    expect(page.locator("[data-part='aside']")).to_have_text(f"Arrow from {names[0]} to {names[1]}.")
    assert outlines(page).count("M") == 2


def test_arrows_are_drawn_while_moves_are_explored(pair: tuple[Visitor, Visitor, str]) -> None:
    white, _, match_id = pair
    page = white.open(match_id)
    page.set_viewport_size(DESK)
    page.locator("#explore").click()
    expect(page.locator("#analysis")).to_be_visible()
    expect(page.locator("#board .can-begin").first).to_be_visible()
    pull(page, "c3", "b4")
    eventually(lambda: outlines(page).count("M") == 2, "an arrow")
