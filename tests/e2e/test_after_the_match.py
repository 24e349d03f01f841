"""After a match: the review beside the analysis board, shared lines and pictures, chat that names moves."""

import re
from collections.abc import Callable

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import ViewportSize, expect

from events.installation import Installation
from tests.e2e.test_every_page import AXE
from tests.e2e.visitors import SharedInstallation, Visitor
from tests.support.short_review import store_review

MOVES = ("c3-d4", "b6-a5", "a3-b4", "a5xc3xe5")
PHONE: ViewportSize = {"width": 380, "height": 800}
DESK: ViewportSize = {"width": 1366, "height": 768}


@pytest.fixture
def finished(visit: Callable[..., Visitor], installation: SharedInstallation) -> tuple[Visitor, Visitor, str]:
    """Return two people and their finished match, which has been reviewed."""
    white, black = visit(viewport=PHONE, has_touch=True).be_guest(), visit(viewport=DESK).be_guest()
    match = white.play_bashni(black)
    for ply, move in enumerate(MOVES):
        (white, black)[ply % 2].move(match, move)
    white.call("POST", f"/matches/{match}/resignation", {})
    store_review(Installation(installation.settings), match)
    return white, black, match


def test_explore_opens_the_review_and_the_best_play_beside_it(finished: tuple[Visitor, Visitor, str]) -> None:
    white, _, match = finished
    page = white.open(match)
    page.locator("#explore").tap()
    expect(page.get_by_role("img", name="The points that each seat could expect")).to_be_visible()
    expect(page.locator("#analysis-title")).to_have_text("Explore")
    page.get_by_text("The graph as a table").tap()
    best = page.locator("#review td a").first
    move = best.text_content()
    best.tap()
    expect(page.locator("#analysis .tree button").first).to_have_text(move)
    page.locator("#moves").get_by_role("link", name="c3-d4").tap()
    expect(page.locator("#analysis")).to_be_hidden()
    expect(page.locator("#board")).to_have_attribute("data-shown", "1")
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_a_line_is_shared_by_an_address_that_opens_it(
    finished: tuple[Visitor, Visitor, str], visit: Callable[..., Visitor]
) -> None:
    _, black, match = finished
    page = black.open(match, "?ply=2")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.locator("#explore").click()
    page.locator("#typed").fill("e3-f4")
    page.keyboard.press("Enter")
    expect(page.locator("#analysis [aria-current]")).to_have_text("e3-f4")
    page.locator("#analysis").get_by_role("button", name="Copy a link").press("Enter")
    expect(page.locator("#announcements")).to_contain_text("The address is copied.")
    address = page.evaluate("navigator.clipboard.readText()")
    stranger = visit().page
    stranger.goto(address)
    expect(stranger.locator("#analysis [aria-current]")).to_have_text("e3-f4")
    expect(stranger.locator("#analysis .where")).to_contain_text("After e3-f4")


def test_positions_and_stretches_become_pictures(finished: tuple[Visitor, Visitor, str]) -> None:
    _, black, match = finished
    page = black.open(match, "?ply=3")
    page.get_by_text("Share", exact=True).click()
    with page.expect_download() as download:
        page.get_by_role("link", name="Picture of it (PNG)").click()
    assert download.value.suggested_filename == f"rookery-{match}-3.png"
    page.get_by_label("to", exact=True).fill("9")
    page.get_by_role("button", name="Make a GIF").click()
    expect(page.locator("#share [role=status]")).to_contain_text("4 moves have been played")
    page.get_by_label("to", exact=True).fill("3")
    page.get_by_role("textbox", name="Moves").fill("1")
    page.get_by_role("button", name="Make a GIF").press("Enter")
    link = page.get_by_role("link", name="Moves 1 to 3 as a GIF")
    expect(link).to_be_visible(timeout=30_000)
    page.evaluate(AXE_SCRIPT)
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    assert page.evaluate(AXE, {}) == []
    picture = page.request.get(f"{black.installation.url}{link.get_attribute('href')}")
    assert picture.headers["content-type"] == "image/gif"
    assert picture.body().startswith(b"GIF89a")


def test_moves_and_squares_in_the_chat_lead_to_the_board(finished: tuple[Visitor, Visitor, str]) -> None:
    white, _, match = finished
    white.call("POST", f"/matches/{match}/chat", {"text": "Before a3-b4 (move 3), look at e3. Not b4-c5 <b>."})
    page = white.open(match)
    said = page.locator("#chat .log li p")
    expect(said).to_have_text("Before a3-b4 (move 3), look at e3. Not b4-c5 <b>.")
    expect(said.get_by_role("link")).to_have_text(["a3-b4", "move 3"])
    said.get_by_role("link", name="a3-b4").tap()
    expect(page.locator("#board")).to_have_attribute("data-shown", "3")
    said.get_by_role("button", name="Show e3 on the board").press("Enter")
    expect(white.square("e3")).to_be_focused()


def test_after_a_match_the_next_ones_are_a_press_away(finished: tuple[Visitor, Visitor, str]) -> None:
    white, black, match = finished
    page = black.open(match)
    expect(page.get_by_role("button", name="Propose a rematch")).to_be_visible()
    page.get_by_role("link", name=f"Another game with {white.name}").click()
    expect(page).to_have_url(re.compile(f"/matches/new.invite={white.name}$"))


def test_an_exploration_is_published_opened_by_others_and_withdrawn(finished: tuple[Visitor, Visitor, str]) -> None:
    white, black, match = finished
    page = white.open(match)
    page.locator("#explore").tap()
    page.locator("#typed").fill("b2-c3")
    page.keyboard.press("Enter")
    expect(page.locator("#analysis [aria-current]")).to_be_visible()
    analysis = page.locator("#analysis")
    analysis.get_by_label("Comment on this move").press_sequentially("To c3 first.")
    expect(analysis.locator(".tree q")).to_have_text("To c3 first.")
    analysis.get_by_role("button", name="Undo").tap()
    expect(analysis.locator(".tree q")).to_have_count(0)
    for text in ("To c3.", "To c3 at once."):
        analysis.get_by_label("Comment on this move").fill(text)
        analysis.get_by_role("button", name="Save").tap()
        expect(analysis.get_by_role("button", name="Save")).to_be_disabled()
        expect(page.locator("#announcements")).to_contain_text("Saved. Only you can see it.")
    other = black.open(match)
    theirs = other.locator("#explorations")
    expect(theirs.locator("summary")).to_have_text("Explorations")
    mine = page.locator("#explorations")
    mine.locator("summary").tap()
    mine.get_by_label("Comment:").fill("I should have waited.")
    mine.get_by_role("button", name="Publish my exploration").tap()
    expect(mine.locator("summary")).to_have_text(f"Explorations: by {white.name} (1 move)")
    mine.locator("summary").tap()
    page.evaluate(AXE_SCRIPT)
    assert page.evaluate(AXE, {}) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    other.reload()
    theirs.locator("summary").press("Enter")
    theirs.get_by_role("link", name="Open that by").press("Enter")
    expect(other.locator("#analysis-title")).to_have_text(f"Exploration by {white.name}")
    expect(other.locator("#analysis")).to_contain_text("I should have waited.")
    expect(other.locator("#analysis .tree button")).to_have_text("b2-c3")
    expect(other.locator("#analysis .tree q")).to_have_text("To c3 at once.")
    expect(other.get_by_label("Comment on this move")).to_be_hidden()
    expect(other.locator("#analysis").get_by_role("button", name="Save")).to_be_hidden()
    other.evaluate(AXE_SCRIPT)
    assert other.evaluate(AXE, {}) == []
    assert other.evaluate("document.documentElement.scrollWidth") <= DESK["width"]
    mine.get_by_role("button", name="Withdraw mine").tap()
    expect(mine.locator("summary")).to_have_text("Explorations")
    other.reload()
    expect(theirs.locator("summary")).to_have_text("Explorations")
