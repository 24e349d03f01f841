"""Pieces move between positions: those of one's own moves, of others' moves and of steps; nothing moves on request."""

from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page, expect

from tests.e2e.visitors import Visitor

RECORD = """
window.animated = [];
const animate = Element.prototype.animate;
Element.prototype.animate = function (frames, options) {
  const duration = options.duration ?? options;
  const kind = Object.keys(frames[0])[0];
  const face = this.getAttribute("href")?.split("-").slice(1, 3).join(" ");
  window.animated.push([face ?? this.getAttribute("class"), kind, frames[0][kind], duration]);
  return animate.call(this, frames, options);
};
"""
MOVES = ("c3-d4", "b6-a5", "d4-c5")


def moving(page: Page) -> list[Any]:
    """Return what has moved since the last call: the piece, in which way, from where, and for how long."""
    animated: list[Any] = page.evaluate("window.animated.splice(0)")
    return animated


def watched(visitor: Visitor, motion: Any) -> Visitor:
    visitor.page.emulate_media(reduced_motion=motion)
    visitor.page.add_init_script(RECORD)
    return visitor


def test_moves_and_steps_are_seen_and_captured_pieces_go_under_the_column(visit: Callable[..., Visitor]) -> None:
    white, black = (
        watched(visit(viewport={"width": 1366, "height": 768}).be_guest(), "no-preference"),
        visit().be_guest(),
    )
    match_id = white.play_bashni(black)
    for ply, move in enumerate(MOVES[:2]):
        (white, black)[ply % 2].move(match_id, move)
    with white.page.expect_response("**/motion.js"):
        page = white.open(match_id)
    expect(page.locator("#board .can-begin").first).to_be_visible()
    white.square("d4").click()
    white.square("c5").click()
    expect(page.locator("#submit")).to_be_focused()
    assert moving(page) == [["white man", "transform", "translate(1px, 1px)", 180]]
    page.keyboard.press("Enter")
    expect(page.locator("#shown")).to_have_text("3 / 3")
    assert moving(page) == []
    black.move(match_id, "d6xb4")
    expect(page.locator("#shown")).to_have_text("4 / 4")
    captured, mover = sorted(moving(page), key=lambda entry: entry[0] == "black man")
    assert (captured[0], mover[0]) == ("white man", "black man")
    assert captured[2] == "translate(1px, -1px)"
    assert mover[2] == "translate(2px, -2px)"
    page.get_by_role("button", name="One move back").click()
    expect(page.locator("#shown")).to_have_text("3 / 4")
    assert {entry[0] for entry in moving(page)} == {"white man", "black man"}
    page.get_by_role("button", name="Back to now").click()
    expect(page.locator("#shown")).to_have_text("4 / 4")
    moving(page)
    page.get_by_role("button", name="Replay it").click()
    expect(page.locator("#shown")).to_have_text("4 / 4")
    expect(page.locator("#player")).to_be_hidden()


def test_nothing_moves_for_those_who_want_less_motion(visit: Callable[..., Visitor]) -> None:
    white, black = watched(visit(viewport={"width": 380, "height": 800}).be_guest(), "reduce"), visit().be_guest()
    match_id = white.play_bashni(black)
    page = white.open(match_id)
    white.submit("c3", "d4")
    expect(page.locator("#shown")).to_have_text("1 / 1")
    page.get_by_role("button", name="One move back").click()
    expect(page.locator("#shown")).to_have_text("0 / 1")
    assert moving(page) == []
