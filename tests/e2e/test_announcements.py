"""The announcements of the match page for screen readers, and the visible signs of the same news."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.visitors import Visitor

WATCH = """() => {
  window.heard = [];
  const hear = (records) => {
    for (const record of records) for (const line of record.addedNodes) window.heard.push(line.textContent);
  };
  new MutationObserver(hear).observe(document.getElementById("announcements"), {childList: true});
}"""


def heard(page: Page) -> list[str]:
    """Return the texts announced in the live region since the script WATCH was run."""
    heard: list[str] = page.evaluate("window.heard")
    return heard


def last_announcement(page: Page) -> Locator:
    """Return the latest line of the live region."""
    return page.locator("#announcements p").last


def test_a_move_and_a_quick_answer_are_each_announced_once_and_the_board_keeps_the_focus(
    visit: Callable[..., Visitor],
) -> None:
    white = visit().be_guest()
    match_id = white.create("bashni", "start", [{"kind": "me"}, {"kind": "opponent", "level": 1}])
    page = white.open(match_id)
    page.evaluate(WATCH)
    white.submit("c3", "d4")
    expect(last_announcement(page)).to_contain_text("Computer, level 1 played")
    announced = " ".join(text for text in heard(page) if "played" in text)
    answer = white.call("GET", f"/matches/{match_id}")["moves"][1]
    expected = f"You played c3-d4. Computer, level 1 played {answer}. It is your turn."
    assert re.fullmatch(rf"{re.escape(expected)}( You must capture: .*\.)? \d+ pieces? can move\.", announced)
    expect(page).to_have_title(re.compile("● Your move"))
    expect(white.square("d4")).to_be_focused()


@pytest.mark.thorough
def test_joining_draws_and_a_rematch_are_announced_from_the_events(visit: Callable[..., Visitor]) -> None:
    white, black = visit().be_guest(), visit().be_guest()
    match_id = white.create("bashni", "start", [{"kind": "me"}, {"kind": "open"}])
    page = white.open(match_id)
    page.evaluate(WATCH)
    black.call("POST", f"/matches/{match_id}/joins", {})
    joined = f"{black.name} joined as Black. The match has begun. It is your turn. 4 pieces can move."
    expect(last_announcement(page)).to_have_text(joined)
    black.call("POST", f"/matches/{match_id}/draw-offers", {})
    offered = f"{black.name} offered a draw. It is your turn."
    expect(last_announcement(page)).to_have_text(offered)
    page.get_by_role("button", name="Accept").click()
    page.get_by_role("dialog").get_by_role("button", name="Accept the draw").click()
    accepted = "You accepted the draw. A draw by agreement."
    expect(last_announcement(page)).to_have_text(accepted)
    expect(page.locator("#board .square:focus")).to_have_count(1)
    black.call("POST", f"/matches/{match_id}/rematches", {})
    proposed = f"{black.name} proposes a rematch."
    expect(last_announcement(page)).to_have_text(proposed)
    assert heard(page) == [joined, offered, accepted, proposed]
    expect(page).to_have_title(re.compile("^● Rematch proposed"))
    expect(page.locator("#offers")).to_contain_text(f"{proposed} You would play Black.")
    page.get_by_role("button", name="Accept the rematch").click()
    expect(last_announcement(page)).to_have_text(f"{proposed} You joined as Black. The match has begun.")
    expect(page).not_to_have_url(re.compile(match_id))
