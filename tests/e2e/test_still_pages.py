"""The layout of the match page does not shift during play."""

import secrets
from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.e2e.visitors import Visitor
from tests.support.draws import sampled

WATCH = """() => {
  window.shifts = [];
  window.observer?.disconnect();
  window.observer = new PerformanceObserver((list) => window.shifts.push(...list.getEntries()));
  window.observer.observe({type: "layout-shift"});
}"""
SHIFTS = """() => {
  window.shifts.push(...window.observer.takeRecords());
  const place = ({x, y, width, height}) => [x, y, width, height].map(Math.round).join(" ");
  const name = (node) => `${node?.nodeName}#${node?.id}.${node?.className} ${node?.textContent?.trim().slice(0, 30)}`;
  const told = ({node, previousRect, currentRect}) => `${name(node)}: ${place(previousRect)} > ${place(currentRect)}`;
  return window.shifts.map(({value, sources}) => [value, ...sources.map(told)]);
}"""
FRAMES = "() => new Promise((shown) => requestAnimationFrame(() => requestAnimationFrame(shown)))"


def shifts(page: Page) -> list[list[object]]:
    """Return the elements that have moved since the script began to watch, once the page has been painted."""
    page.evaluate(FRAMES)
    found: list[list[object]] = page.evaluate(SHIFTS)
    return found


@sampled(("width", "height"), [(1280, 1000), (380, 2600)])
def test_the_layout_does_not_shift_during_a_move_its_answer_a_step_back_and_a_draw_offer(
    visit: Callable[..., Visitor], width: int, height: int
) -> None:
    # The widest letters: sentences that begin with this name need a line more than those with "You".
    white, black = visit().sign_up(), visit().sign_up(f"{'m' * 12}{secrets.token_hex(2)}")
    match_id = white.play_bashni(black)
    white.page.set_viewport_size({"width": width, "height": height})
    page = white.open(match_id)
    expect(page.locator("#board .can-begin").first).to_be_visible()
    page.evaluate("document.fonts.ready")
    page.evaluate(FRAMES)
    page.evaluate(WATCH)
    page.locator("#board .can-begin[data-square='c3']").click()
    white.square("d4").click()
    expect(page.locator("#confirm")).to_be_visible()
    assert shifts(page) == []
    page.locator("#cancel").click()
    white.submit("c3", "d4")
    expect(page.locator("#shown")).to_have_text("1 / 1")
    expect(page.locator("#time")).to_contain_text(f"{black.name} must move")
    assert shifts(page) == []
    black.move(match_id, "b6-a5")
    expect(page.locator("#shown")).to_have_text("2 / 2")
    assert shifts(page) == []
    page.get_by_role("button", name="One move back").click()
    expect(page.locator("#past")).to_contain_text("Earlier position")
    assert shifts(page) == []
    page.get_by_role("button", name="Back to now").click()
    expect(page.locator("#shown")).to_have_text("2 / 2")
    black.call("POST", f"/matches/{match_id}/draw-offers", {})
    expect(page.locator("#offers")).to_contain_text("A draw is offered")
    assert shifts(page) == []
    white.submit("d4", "c5")
    expect(page.locator("#shown")).to_have_text("3 / 3")
    assert shifts(page) == []
    page.evaluate("document.getElementById('announcements').innerHTML = `<p>${'Try again. '.repeat(16)}</p>`")
    assert shifts(page) == []


def test_the_levels_below_the_state_stay_where_they_are_when_a_message_to_a_newcomer_goes(
    visit: Callable[..., Visitor],
) -> None:
    white = visit(viewport={"width": 380, "height": 800}, has_touch=True).sign_up()
    match_id = white.create("tower-game", "original", [{"kind": "me"}, {"kind": "opponent", "level": 1}])
    page = white.open(match_id)
    expect(page.locator("#board .can-begin").first).to_be_visible()
    page.evaluate("document.fonts.ready")
    announcements = page.locator("#announcements")
    announcements.evaluate("said => { said.innerHTML = '<p>The match has begun. It is your turn.</p>'; }")
    expect(page.locator(".goal")).to_be_hidden()
    page.evaluate(FRAMES)
    page.evaluate(WATCH)
    announcements.evaluate("said => said.replaceChildren()")
    expect(page.locator(".goal")).to_be_visible()
    assert shifts(page) == []


def test_a_chosen_piece_stays_chosen_when_a_draw_is_offered(pair: tuple[Visitor, Visitor, str]) -> None:
    white, black, match_id = pair
    page = white.open(match_id)
    page.locator("#board .can-begin[data-square='c3']").click()
    black.call("POST", f"/matches/{match_id}/draw-offers", {})
    expect(page.locator("#offers")).to_contain_text("A draw is offered")
    page.evaluate(FRAMES)
    expect(page.locator("#board .is-selected")).to_have_attribute("data-square", "c3")
    white.square("d4").click()
    expect(page.locator("#confirm")).to_be_visible()
