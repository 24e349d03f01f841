"""The first minutes of a newcomer: signing up, a first match, the goal, and how to hear of the answer."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import ViewportSize, expect

from tests.e2e.visitors import DESK, OVERFLOW, PHONE, Visitor


@pytest.mark.parametrize(("window", "has_touch"), [(PHONE, True), (DESK, False)])
def test_a_newcomer_signs_up_is_told_the_goal_and_how_to_hear_of_the_answer(
    visit: Callable[..., Visitor], window: ViewportSize, has_touch: bool
) -> None:
    newcomer, other = visit(viewport=window, has_touch=has_touch, color_scheme="dark"), visit().be_guest()
    page = newcomer.page
    page.goto("/sign-up")
    expect(page.get_by_label("Mail address")).to_have_count(0)  # this installation sends none
    page.get_by_label("Name").fill(f"new-{other.name[-8:].replace(' ', '-')}")
    page.get_by_label("Password").fill("a tower of words")
    page.keyboard.press("Enter")
    page.wait_for_url("**/matches/new")

    match = newcomer.play_bashni(other)
    newcomer.open(match)
    standing = page.locator("#standing")
    expect(standing).to_contain_text("The goal: Leave your opponent without a move")
    expect(standing.locator(".told")).to_have_count(0)
    newcomer.submit("c3", "d4")
    told = standing.locator(".told")
    expect(told).to_contain_text(f"{other.name} has")
    expect(told).not_to_contain_text("by mail")
    assert page.evaluate(OVERFLOW) <= 0
    expect(other.open(match).locator("#standing .told")).to_have_count(0)

    told.get_by_role("link", name="in this browser").click()
    page.wait_for_url("**/settings/notices#push")
    expect(page.get_by_text("Nothing is sent to you yet: add this browser below.")).to_be_visible()
    page.goto("/notices")
    expect(page.get_by_text("At present nothing reaches you outside this site.")).to_be_visible()
    expect(page.locator(".ledger")).to_have_count(0)


@pytest.mark.parametrize(("window", "has_touch"), [(PHONE, True), (DESK, False)])
def test_after_the_last_lesson_a_stranger_plays_level_1_and_may_be_reminded(
    visit: Callable[..., Visitor], window: ViewportSize, has_touch: bool
) -> None:
    newcomer = visit(viewport=window, has_touch=has_touch)
    page = newcomer.page
    page.goto("/games/bashni/first-steps")
    assert page.evaluate(OVERFLOW) <= 0
    expect(page.get_by_role("link", name="Play a person")).to_have_attribute("href", "/seeks?games=bashni&seats=2")
    page.get_by_role("button", name="Play the computer, level 1").press("Enter")
    page.wait_for_url("**/matches/new?game=bashni&level=1")
    page.get_by_role("button", name="Begin").click()
    page.wait_for_url("**/matches/m*")
    page.locator("#board .can-begin").first.wait_for(state="attached")
    newcomer.submit("c3", "d4")
    told = page.locator("#standing .told")
    expect(told).to_contain_text("Remind me before they are over: in this browser")
    newcomer.submit(*first_move(newcomer))
    expect(told).to_have_count(0)
    expect(page.locator("#standing")).to_contain_text("The goal")


def first_move(visitor: Visitor) -> list[str]:
    """Return the squares of the first legal move in the match that is open."""
    match_id = re.split("[/?]", visitor.page.url)[4]
    hints = visitor.call("GET", f"/matches/{match_id}/legal-moves")["hints"]
    square, (hint, *_) = next(iter(hints.items()))
    return [square, *hint["path"]]
