"""Explanations of pieces that cannot move, of compulsory captures and of the selected square."""

from collections.abc import Callable

from playwright.sync_api import expect

from tests.e2e.visitors import Visitor

TO_A_CAPTURE = (("c3-d4", "b2-c3"), ("b6-a5", "d6-c5"))
"""White's and Black's moves; then d4 must capture on b6."""


def test_a_piece_that_cannot_move_says_why_and_the_inspector_follows_the_board(
    pair: tuple[Visitor, Visitor, str],
) -> None:
    white, black, match = pair
    for moves in zip(*TO_A_CAPTURE, strict=True):
        for player, move in zip((white, black), moves, strict=True):
            player.move(match, move)
    page = white.open(match)
    expect(page.locator(".circumstance")).to_have_text("You must capture: d4 can.")
    inspector = page.locator("#inspector")
    # On arrival the square of the last move is the present one.
    expect(inspector).to_contain_text("c5: black man")
    expect(page.locator("#board .can-begin")).to_have_count(1)
    white.square("c3").click()
    expect(page.locator("#announcements > :last-child")).to_have_text("You must capture: d4 can.")
    expect(inspector).to_contain_text("c3: white man")
    white.square("a5").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#announcements > :last-child")).to_have_text(
        "The column on a5 is Black's, and White is to move."
    )
    white.square("b6").focus()
    expect(inspector).to_contain_text("b6: empty")
    expect(inspector.locator("svg use")).to_have_count(0)
    page.locator("#typed").fill("D4 B6")
    page.keyboard.press("Enter")
    expect(page.locator("#chosen")).to_have_text("d4xb6")
    page.locator("#submit").click()
    expect(page.locator("#announcements > :last-child")).to_have_text("You played d4xb6.")
    # What stands on the present square has changed with the move.
    expect(inspector).to_contain_text("b6: tower of 2, white man over 1 black man")
    expect(inspector.locator("li")).to_have_text(["white man", "black man"])
    expect(inspector.locator("svg use")).to_have_count(2)
    # When it is not their turn, players hear whose it is.
    white.square("a3").click()
    expect(page.locator("#announcements > :last-child")).to_have_text(
        "The column on a3 is White's, and Black is to move."
    )


def test_pressing_a_tower_again_builds_on_it(visit: Callable[..., Visitor]) -> None:
    white, black = visit().be_guest(), visit().be_guest()
    match = white.create("towers", "two-player", [{"kind": "me"}, {"kind": "player", "name": black.name}])
    black.call("POST", f"/matches/{match}/joins", {})
    page = white.open(match)
    page.locator("#board .can-begin[data-square='a6']").click()
    expect(page.locator("#options").get_by_role("button", name="build", exact=True)).to_be_visible()
    white.square("a6").click()
    expect(page.locator("#chosen")).to_have_text("+a6")
