"""First steps and the figures of rules pages, played with touch, mouse and keyboard alone."""

import re
from collections.abc import Callable

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Locator, Page, ViewportSize, expect

from domain.games import GAMES
from tests.e2e.test_every_page import AXE
from tests.e2e.visitors import Visitor

PHONE: ViewportSize = {"width": 380, "height": 800}
DESK: ViewportSize = {"width": 1366, "height": 768}


BELOW = """() => {
  const squares = [...document.querySelectorAll(".playable .square")];
  const bottoms = squares.map((square) => square.getBoundingClientRect().bottom);
  return document.querySelector(".playable [data-part=again]").getBoundingClientRect().top - Math.max(...bottoms);
}"""
"""A script that returns by how many pixels the buttons of a figure stand below its board."""


def square(page: Page, name: str, kind: str = "") -> str:
    return f".playable [data-part=board] .square{kind}[data-square='{name}']"


def said(page: Page) -> Locator:
    return page.locator(".playable [data-part=said]")


def goal(page: Page) -> Locator:
    return page.locator(".playable [data-part=goal]")


def test_a_lesson_is_played_by_touch_with_the_forbidden_move_and_ticked(visit: Callable[..., Visitor]) -> None:
    page = visit(viewport=PHONE, has_touch=True).page
    page.goto("/games/bashni/first-steps/compulsory")
    expect(goal(page)).to_have_text("First try h4-g5: it is forbidden.")
    page.locator(square(page, "h4")).tap()
    page.locator(square(page, "g5", ".is-target")).tap()
    expect(said(page)).to_contain_text("A capture is compulsory")
    expect(goal(page)).to_have_text("Now capture.")
    page.locator(square(page, "h4")).tap()
    expect(said(page)).to_have_text(re.compile("capture"))
    page.locator(square(page, "e5")).tap()
    page.locator(square(page, "c3", ".is-target")).tap()
    expect(said(page)).to_contain_text("Men capture backwards too.")
    page.wait_for_load_state("networkidle")
    page.context.set_offline(True)
    page.get_by_role("button", name="Next figure").tap()
    expect(page.get_by_text("Figure 2 of 3")).to_be_visible()
    for move in ("c3xe5", "c3xe5xg7"):
        page.get_by_label("Type a move").fill(move)
        page.keyboard.press("Enter")
    page.get_by_role("button", name="Next figure").tap()
    page.get_by_label("Type a move").fill("d4xa7")
    page.keyboard.press("Enter")
    page.get_by_label("Type a move").fill("d4xf6")
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="Next lesson: Crowning")).to_be_visible()
    page.context.set_offline(False)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    page.goto("/games/bashni/first-steps")
    expect(page.locator("[data-id=compulsory] .tick")).to_have_text("✓ done")
    expect(page.locator("[data-id=move] .tick")).to_have_text("")


def test_a_figure_is_played_with_the_keyboard_alone_and_answers_by_itself(visit: Callable[..., Visitor]) -> None:
    visitor = visit(viewport=DESK)
    page = visitor.page
    page.goto("/games/bashni/rules")
    button = page.get_by_role("button", name="Try it on the board of figure 1", exact=True)
    button.focus()
    page.keyboard.press("Enter")
    expect(page.locator(square(page, "c3"))).to_be_focused()
    page.context.set_offline(True)
    page.keyboard.press("Enter")
    expect(page.locator(".playable [data-part=aside]")).to_have_text("c3 selected. It can go to e5.")
    page.locator(square(page, "e5")).focus()
    page.keyboard.press("Enter")
    expect(said(page)).to_have_text(re.compile("The answer is f6xd4"))
    expect(goal(page)).to_have_text("Play e3xc5.")
    page.locator(square(page, "e3")).focus()
    page.keyboard.press("Enter")
    page.locator(square(page, "c5")).focus()
    page.keyboard.press(" ")
    expect(said(page)).to_contain_text("e3xc5")
    expect(page.locator(".playable [data-part=goal]")).to_be_hidden()
    page.get_by_role("button", name="Again").press("Enter")
    expect(goal(page)).to_have_text("Play c3xe5.")
    page.get_by_text("The board as text").press("Enter")
    expect(page.locator(".playable pre")).to_contain_text("White to move")
    page.get_by_role("button", name="Close").press("Enter")
    expect(button).to_be_focused()
    page.context.set_offline(False)


def play_through(page: Page, figure: int) -> None:
    """Type the moves that a figure of a lesson asks for, and go on to the next one."""
    path = f"{page.url}/{figure}"
    for step in page.evaluate("(path) => fetch(path).then((answer) => answer.json())", path)["steps"]:
        page.get_by_label("Type a move").fill(next(iter({**step["refused"], **step["accepted"]})))
        page.keyboard.press("Enter")
    page.get_by_role("button", name="Next figure").tap()


def test_a_rearrangement_is_put_together_in_a_figure_as_on_the_board(visit: Callable[..., Visitor]) -> None:
    page = visit(viewport=PHONE, has_touch=True).page
    page.goto("/games/four-towers/first-steps/queen")
    for figure in (1, 2, 3):
        play_through(page, figure)
    expect(goal(page)).to_have_text(re.compile("Rearrange arena I"))
    page.context.set_offline(True)
    page.get_by_role("button", name="Rearrange arena I").tap()
    page.locator(square(page, "c4")).tap()
    page.locator(square(page, "c5", ".is-target")).tap()
    expect(said(page)).to_have_text("c4-c5 is possible, but it is not asked for here.")
    page.locator(square(page, "b4")).tap()
    page.locator(square(page, "a3", ".is-target")).tap()
    expect(said(page)).to_have_text("b4-a3: right.")
    page.get_by_label("Type a move").fill("c4-b5")
    page.keyboard.press("Enter")
    expect(said(page)).to_have_text("c4-b5: right. Now play the move.")
    page.get_by_role("button", name="Play I:Na3,Nb5").tap()
    expect(said(page)).to_contain_text("all your pieces there may change places in one turn")
    expect(page.locator(".playable pre")).to_contain_text("Black to move")
    page.context.set_offline(False)


def test_a_legal_move_that_is_not_asked_for_changes_nothing_and_says_so(visit: Callable[..., Visitor]) -> None:
    page = visit(viewport=DESK).page
    page.goto("/games/towers/first-steps/end")
    before = page.locator(".playable [data-part=diagram]").text_content()
    page.get_by_label("Type a move").fill("c6-c7")
    page.keyboard.press("Enter")
    expect(said(page)).to_have_text("c6-c7 is a legal move, but it is not asked for here.")
    page.get_by_label("Type a move").fill("z9")
    page.keyboard.press("Enter")
    expect(said(page)).to_have_text("z9 is no move that is possible here.")
    assert page.locator(".playable [data-part=diagram]").text_content() == before
    page.locator(square(page, "c6")).click()
    page.locator(square(page, "d6", ".is-target")).click()
    expect(said(page)).to_contain_text("White's fourth castle wins.")


@pytest.mark.parametrize("game_id", GAMES)
def test_the_first_lesson_of_each_game_fits_the_phone_stands_still_and_can_be_read_by_all(
    game_id: str, visit: Callable[..., Visitor]
) -> None:
    page = visit(viewport=PHONE, has_touch=True).page
    shifts = "() => performance.getEntriesByType('layout-shift').reduce((sum, {value}) => sum + value, 0)"
    page.add_init_script("new PerformanceObserver(() => {}).observe({type: 'layout-shift', buffered: true});")
    page.goto(f"/games/{game_id}/first-steps")
    page.locator("main ol a").first.tap()
    expect(page.locator(".playable .can-begin").first).to_be_visible()
    assert page.evaluate(BELOW) >= 0
    assert page.evaluate(shifts) == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    page.evaluate(AXE_SCRIPT)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        assert page.evaluate(AXE, {}) == []
    page.set_viewport_size(DESK)
    board = page.locator(".playable .board").bounding_box()
    assert board is not None
    assert board["height"] <= DESK["height"]


SIZES = (("phone", PHONE), ("desk", DESK))


@pytest.mark.parametrize("window", [window for _, window in SIZES], ids=[name for name, _ in SIZES])
def test_a_claim_of_the_strategy_is_tried_and_all_pages_about_the_game_lead_to_it(
    window: ViewportSize, visit: Callable[..., Visitor]
) -> None:
    page = visit(viewport=window, has_touch=window is PHONE).page
    page.goto("/games/bashni")
    page.get_by_role("link", name="Strategy").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Strategy of Bashni")
    claim = page.locator("section[aria-labelledby=free]")
    claim.get_by_role("button", name=re.compile("^Try it")).click()
    expect(goal(page)).to_have_text("White can take b4 or d4. Take the one that gives more.")
    page.locator(square(page, "c3")).click()
    page.locator(square(page, "a5", ".is-target")).click()
    expect(said(page)).to_have_text("c3xa5 is a legal move, but it is not asked for here.")
    page.locator(square(page, "c3")).click()
    page.locator(square(page, "e5", ".is-target")).click()
    expect(said(page)).to_contain_text("a tower of two white men stands on d4 again")
    page.get_by_role("button", name="Close").click()
    expect(page.locator("#columns + p + .measured")).to_contain_text("%")
    assert page.evaluate("document.documentElement.scrollWidth") <= window["width"]
    page.evaluate(AXE_SCRIPT)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        assert page.evaluate(AXE, {}) == []
    for path in ("rules", "first-steps"):
        page.goto(f"/games/bashni/{path}")
        expect(page.get_by_role("link", name="Strategy").first).to_have_attribute("href", "/games/bashni/strategy")
