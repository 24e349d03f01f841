"""The header of every page: a single line at every width, and a menu with the other links."""

from collections.abc import Callable
from itertools import pairwise

from playwright.sync_api import expect

from events.people.administration import Administration
from events.runtime.wall_clock import now_ms
from events.store.archive.store import make_store
from tests.e2e.visitors import SharedInstallation, Visitor
from tests.support.eventually import eventually

WIDTHS = (320, 380, 768, 1280, 2560)
LONG_NAME = "nimzowitsch-and-capablanca"[:24]
MIN_TARGET_PX = 24
BOXES = """() => [...document.querySelectorAll(".masthead a, .masthead summary")]
  .filter((each) => each.checkVisibility())
  .map((each) => [each, each.getBoundingClientRect()])
  .map(([each, {top, bottom, left, right}]) => [each.innerText || "Menu", top, bottom, left, right])"""


def test_the_header_is_one_line_from_small_phones_to_large_screens_and_its_menu_holds_the_rest(
    visit: Callable[..., Visitor], installation: SharedInstallation
) -> None:
    person = visit().sign_up(LONG_NAME)
    settings = installation.settings
    Administration(make_store(settings).client, settings.prefix, now_ms).grant(
        person.call("GET", "/me")["id"], "arbiter", "console"
    )
    for _ in range(2):
        person.create("bashni", "start", [{"kind": "me"}, {"kind": "opponent", "level": 1}])
    # The lists follow the matches by moments, and the page shows how many there are when it is opened.
    eventually(lambda: len(person.call("GET", "/me/pending")["items"]) == 2, "both matches in the lists")
    page = person.page
    page.goto("/help")
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 640})
        boxes = page.evaluate(BOXES)
        assert len(boxes) == 6, "brand, three places, the account and the menu"
        assert max(top for _, top, *_ in boxes) < min(bottom for _, _, bottom, *_ in boxes), (width, boxes)
        assert all(bottom - top >= MIN_TARGET_PX <= right - left for _, top, bottom, left, right in boxes), boxes
        assert all(one[4] <= other[3] for one, other in pairwise(boxes)), (width, boxes)
        assert page.evaluate("document.documentElement.scrollWidth") <= width

    summary, ratings = page.locator("#menu summary"), page.locator("#menu").get_by_role("link", name="Ratings")
    expect(page.locator("#my-matches")).to_contain_text("2")
    summary.focus()
    page.keyboard.press("Enter")
    expect(ratings).to_be_visible()
    assert all(box[2] - box[1] >= MIN_TARGET_PX for box in page.evaluate(BOXES))
    page.keyboard.press("Tab")
    expect(ratings).to_be_focused()
    page.keyboard.press("Escape")
    expect(ratings).to_be_hidden()
    expect(summary).to_be_focused()
    summary.click()
    page.locator("h1").click()
    expect(ratings).to_be_hidden()
    summary.click()
    for name in ("Cases", "Settings", "Help", "Bashni", "Four Towers"):
        expect(page.locator("#menu").get_by_role("link", name=name)).to_be_visible()
    page.locator("#menu").get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("link", name="Sign in")).to_be_visible()
