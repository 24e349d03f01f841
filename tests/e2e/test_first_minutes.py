"""The first minutes of a newcomer: signing up, a first match, the goal, and how to hear of the answer."""

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
