"""Setting up an army on the match page by mouse and by keyboard; nothing is played before it is submitted."""

import re
from collections.abc import Callable

from playwright.sync_api import expect

from tests.e2e.visitors import Visitor, four

ARMY = (("A", "e5"), ("A", "d3"), ("Mu", "d4"), ("Mu", "d5"), ("R", "a1"))
"""Together with a Queen, enough for a complete army."""


def test_an_army_is_placed_changed_restored_after_a_reload_and_submitted_at_once(visit: Callable[..., Visitor]) -> None:
    red, (blue, *_), match_id = four(visit, "draft")
    page = red.open(match_id)
    reason, submit = page.locator("#draft-reason"), page.get_by_role("button", name="Submit", exact=True)
    expect(page.locator("#board .is-target")).to_have_count(49)
    expect(page.get_by_label("Type a move")).to_be_hidden()
    page.locator("[data-code='K']").click()
    expect(page.locator("[data-code='K']")).to_have_attribute("aria-pressed", "true")

    page.locator("[data-code='Q']").click()
    red.square("b3").click()
    expect(red.square("b3")).to_have_attribute("aria-label", "b3: your Queen")
    expect(page.locator("[data-code='Q'] [data-supply]")).to_have_text("0")
    expect(reason).to_have_text("Place the King: it is free, and every army has one.")
    page.locator("[data-code='K']").drag_to(red.square("b2"))
    expect(red.square("b2")).to_have_attribute("aria-label", "b2: your King")
    expect(reason).to_have_text("Spend at least 51: 36 more.")
    expect(submit).to_be_disabled()
    red.square("b3").drag_to(red.square("c3"))
    expect(red.square("c3")).to_have_attribute("aria-label", "c3: your Queen")
    red.square("c3").click()
    red.square("a2").click()
    expect(red.square("a2")).to_have_attribute("aria-label", "a2: your Queen")
    page.locator("[data-code=',']").click()
    red.square("a1").click()
    expect(page.locator("#announcements p:last-child")).to_have_text("The Ant cannot be set up on a1.")
    expect(reason).to_have_text("The Ant cannot be set up on a1.")
    take_back = page.get_by_role("button", name="Take it back")
    red.square("b1").click()
    red.square("b1").click()
    expect(take_back).to_be_enabled()
    red.square("b1").click()
    expect(take_back).to_be_disabled()
    expect(red.square("b1")).to_have_attribute("aria-label", "b1: your Ant")
    red.square("b1").click()
    take_back.click()
    expect(red.square("b1")).to_have_attribute("aria-label", "b1: empty")
    for width in (320, 380):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width

    page.reload()
    expect(red.square("a2")).to_have_attribute("aria-label", "a2: your Queen")
    for code, square in ARMY:
        if page.locator(f"[data-code='{code}']").get_attribute("aria-pressed") == "false":
            page.locator(f"[data-code='{code}']").click()
        red.square(square).click()
    expect(page.locator("[data-draft='spent']")).to_have_text("54")
    page.locator("[data-code='A']").click(force=True)  # it is only marked as disabled, so that it can say why
    expect(page.locator("#announcements p:last-child")).to_have_text("None of this kind is left: Archer.")
    assert red.call("GET", f"/matches/{match_id}")["moves"] == []
    submit.click()
    expect(page.locator("#standing")).to_contain_text(f"Waiting for {blue.name} (Blue)")
    assert red.call("GET", f"/matches/{match_id}")["moves"] == [
        "K@b2", "Q@a2", *(f"{code}@{square}" for code, square in ARMY), "done",
    ]  # fmt: skip
    expect(red.square("a2")).to_have_attribute("aria-label", "a2: red Queen")
    expect(page.locator("#board .drafted")).to_have_count(0)
    expect(page.locator("#moves a")).to_have_count(8)
    expect(page.locator("#moves a").first).to_have_text("King on b2")
    expect(page.locator("#moves a").last).to_have_text("army complete")


def test_an_army_is_set_up_with_the_keyboard_and_every_step_is_announced(visit: Callable[..., Visitor]) -> None:
    red, (blue, *_), match = four(visit, "draft")
    page = red.open(match)
    announcement = page.locator("#announcements p:last-child")
    expect(page.locator("#board .is-target")).to_have_count(49)
    red.square("a1").focus()
    page.keyboard.press("ArrowUp")
    expect(red.square("a2")).to_have_attribute("aria-description", "King can be set up here")
    page.keyboard.press("Enter")
    expect(announcement).to_have_text("King on a2. 0 of 60 spent. Spend at least 51: 51 more.")
    page.keyboard.press("Enter")
    expect(announcement).to_have_text("King on a2: choose another square for it, or take it back.")
    page.keyboard.press("Escape")
    expect(announcement).to_have_text("No piece is chosen.")
    page.keyboard.press("Delete")
    expect(announcement).to_contain_text("King on a2 taken back.")
    page.get_by_role("button", name=re.compile("Queen")).press("Enter")
    expect(announcement).to_have_text("Queen chosen. Choose squares of your quadrant for it.")
    red.square("a2").press("Space")
    expect(announcement).to_have_text(
        "Queen on a2. 15 of 60 spent. Place the King: it is free, and every army has one."
    )
    page.get_by_role("button", name="Ready-made army").press("Enter")
    expect(announcement).to_contain_text("The ready-made army is set up. 60 of 60 spent. The army can be submitted.")
    page.get_by_role("button", name="Submit", exact=True).press("Enter")
    expect(page.locator("#standing")).to_contain_text(f"Waiting for {blue.name} (Blue)")
    expect(announcement).to_have_text("You played 17 moves, the last one army complete.")


def test_placed_pieces_stay_and_the_rest_is_hidden_at_earlier_positions(visit: Callable[..., Visitor]) -> None:
    red, _, match = four(visit, "draft")
    red.move(match, "K@b2")
    page = red.open(match)
    expect(page.locator("[data-code='K'] [data-supply]")).to_have_text("0")
    red.square("b2").click()
    expect(page.locator("#draft-reason")).to_have_text("The King on b2 has been played and stays there.")
    page.locator("[data-code='Q']").click()
    red.square("c3").click()
    expect(red.square("c3")).to_have_attribute("aria-label", "c3: your Queen")
    page.get_by_role("button", name="One move back").click()
    expect(red.square("b2")).to_have_attribute("aria-label", "b2: empty")
    expect(red.square("c3")).to_have_attribute("aria-label", "c3: empty")
    expect(page.get_by_role("heading", name="Your army")).to_be_hidden()
    page.get_by_role("button", name="Back to now").click()
    expect(red.square("c3")).to_have_attribute("aria-label", "c3: your Queen")
    page.locator("#explore").click()
    expect(red.square("c3")).to_have_attribute("aria-label", "c3: empty")
    expect(page.get_by_role("heading", name="Your army")).to_be_hidden()
