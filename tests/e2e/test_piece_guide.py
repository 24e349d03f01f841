"""The name of a piece and how it moves, below the board, for whoever points at it, touches it or comes to it by key."""

from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page, expect

from tests.e2e.test_announcements import last_announcement
from tests.e2e.visitors import DESK, OVERFLOW, PHONE, Visitor
from tests.support.draws import sampled

TOUCHED = (
    ("bashni", "start", "c3", "Man: Goes one square diagonally forward"),
    ("towers", "four-player", "d4", "Castle: Never moves"),
    ("tower-game", "original", "ac1", "Captain: Leaps two steps along one coordinate"),
    ("fourplay", "standard", "o1", "Rook: Goes any distance along its row or column."),
    ("four-towers", "standard", "c11", "Dragon: Has no moves of its own"),
)
"""By game and setup: a square, and the beginning of what is said of its piece."""


def against_the_computer(visitor: Visitor, game: str, setup: str) -> Page:
    """Return the page of a new match of the visitor, who has the first move, at the first board that can be played."""
    seats = 4 if setup in ("four-player", "standard", "draft") and game != "four-towers" else 2
    opponents: list[dict[str, Any]] = [{"kind": "opponent", "level": 1}] * (seats - 1)
    page = visitor.open(visitor.create(game, setup, [{"kind": "me"}, *opponents]))
    if setup != "draft":
        page.locator("#board .can-begin").first.wait_for(state="attached")
    return page


@sampled(("game", "setup", "square", "words"), TOUCHED)
def test_a_touched_piece_says_its_name_and_how_it_moves_and_leads_to_its_figure(
    visit: Callable[..., Visitor], game: str, setup: str, square: str, words: str
) -> None:
    visitor = visit(viewport=PHONE, has_touch=True, color_scheme="dark").be_guest()
    page = against_the_computer(visitor, game, setup)
    line = page.locator("#piece")
    expect(line).to_contain_text("Touch a piece")
    visitor.square(square).tap()
    expect(line).to_contain_text(words)
    expect(line).to_be_in_viewport(ratio=1)
    assert page.evaluate("(slot => slot.scrollHeight - slot.clientHeight)(document.querySelector('.under-board'))") <= 0
    assert page.evaluate(OVERFLOW) <= 0
    line.get_by_role("link", name="How it moves").tap()
    page.wait_for_url("**/rules#fig-*")
    expect(page.locator("figure:target")).to_be_in_viewport()


def test_a_piece_pointed_at_shows_its_moves_and_is_told_by_key(visit: Callable[..., Visitor]) -> None:
    visitor = visit(viewport=DESK).be_guest()
    page = against_the_computer(visitor, "four-towers", "standard")
    reached = page.locator("#board .is-reached")
    visitor.square("b4").hover()
    expect(page.locator("#piece")).to_contain_text("Pawn: Goes one square forward or sideways")
    expect(reached).not_to_have_count(0)
    visitor.square("c11").hover()  # Black's
    expect(page.locator("#piece")).to_contain_text("Dragon")
    expect(reached).to_have_count(0)
    page.mouse.move(5, 5)
    page.keyboard.press("b")
    page.keyboard.press("w")
    expect(last_announcement(page)).to_contain_text(": Goes ")
    expect(reached).not_to_have_count(0)
    page.keyboard.press("Enter")
    expect(page.locator("#board .is-target")).not_to_have_count(0)
    expect(reached).to_have_count(0)


def test_a_piece_of_the_draft_is_told_before_it_is_bought(visit: Callable[..., Visitor]) -> None:
    page = against_the_computer(visit(viewport=DESK).be_guest(), "fourplay", "draft")
    page.locator("#draft").get_by_role("button", name="Giraffe").hover()
    expect(page.locator("#piece")).to_contain_text("Giraffe: Leaps one square in one direction and four in the other")


def test_the_castles_of_each_player_stand_beside_the_name(visit: Callable[..., Visitor]) -> None:
    page = against_the_computer(visit(viewport=PHONE).be_guest(), "towers", "four-player")
    expect(page.locator("#seats .held")).to_have_text(["Castles 0/3"] * 4)
    for entry in page.locator("#seats > li").all():
        assert entry.evaluate("entry => entry.scrollHeight - entry.clientHeight") <= 0
