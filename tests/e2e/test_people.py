"""People find and follow each other in the browser, at the width of a phone and of a laptop."""

from collections.abc import Callable

import pytest
from playwright.sync_api import ViewportSize, expect

from tests.e2e.visitors import Visitor

SIZES: list[ViewportSize] = [{"width": 380, "height": 800}, {"width": 1366, "height": 768}]


@pytest.mark.parametrize("size", SIZES, ids=["phone", "laptop"])
def test_somebody_is_found_by_name_followed_and_listed_with_their_room(
    visit: Callable[..., Visitor], size: ViewportSize
) -> None:
    sought, seeker = visit(), visit()
    sought.sign_up()
    sought.call("GET", "/me")
    seeker.sign_up()
    page = seeker.page
    page.set_viewport_size(size)
    page.goto("/people")
    page.get_by_label("Name begins with").fill(sought.name)
    page.get_by_role("button", name="Find").click()
    row = page.get_by_role("row", name=sought.name)
    expect(row).to_contain_text("yes")
    row.get_by_role("link").click()
    page.get_by_role("button", name="Follow", exact=True).click()
    expect(page.get_by_role("button", name="Follow no more")).to_be_visible()
    page.goto("/people")
    expect(page.get_by_text("You follow")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("size", SIZES, ids=["phone", "laptop"])
def test_who_wants_to_be_asked_and_not_to_be_found_says_so_in_the_settings(
    visit: Callable[..., Visitor], size: ViewportSize
) -> None:
    visitor = visit()
    visitor.sign_up()
    page = visitor.page
    page.set_viewport_size(size)
    page.goto("/settings")
    page.get_by_label("Matches of seeks and tournaments").select_option("ask")
    page.get_by_label("While I play fewer than").fill("3")
    page.locator("#room").get_by_role("button", name="Save").click()
    expect(page.get_by_text("and 3 more can begin by themselves")).to_be_visible()
    page.get_by_role("button", name="Do not list me").click()
    expect(page.get_by_role("button", name="List me", exact=True)).to_be_visible()
    assert (visitor.call("GET", "/me/room")["starts"], visitor.call("GET", "/me/listing")["listed"]) == ("ask", False)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
