"""A player who is signed out in the middle of a move finds it again after signing in."""

from collections.abc import Callable

from playwright.sync_api import expect

from tests.e2e.visitors import Visitor


def test_a_chosen_move_is_still_there_after_signing_in_again(visit: Callable[..., Visitor]) -> None:
    white, black = visit().sign_up(), visit().be_guest()
    match_id = white.play_bashni(black)
    page = white.open(match_id)
    page.locator("#board .can-begin[data-square='c3']").click()
    white.square("d4").click()
    expect(page.locator("#chosen")).to_have_text("c3-d4")
    white.context.clear_cookies()
    page.locator("#submit").click()
    message = page.locator("#announcements p:last-child")
    expect(message).to_have_text("You were signed out. Sign in")
    expect(page.locator("#chosen")).to_have_text("c3-d4")
    black.call("POST", f"/matches/{match_id}/draw-offers", {})
    expect(page.locator("#chosen")).to_be_visible()
    message.get_by_role("link", name="Sign in").click()
    page.get_by_label("Name").fill(white.name)
    page.get_by_label("Password").fill("a tower of words")
    page.get_by_role("main").get_by_role("button", name="Sign in").click()
    expect(page.locator("#chosen")).to_have_text("c3-d4")
    page.keyboard.press("Enter")
    expect(page.locator("#shown")).to_have_text("1 / 1")
    assert white.call("GET", f"/matches/{match_id}")["moves"] == ["c3-d4"]


def test_a_kept_move_is_not_played_when_the_match_has_moved_on(visit: Callable[..., Visitor]) -> None:
    white, black = visit().sign_up(), visit().be_guest()
    match_id = white.play_bashni(black)
    page = white.open(match_id)
    page.locator("#board .can-begin[data-square='c3']").click()
    white.square("d4").click()
    expect(page.locator("#confirm")).to_be_visible()
    white.context.clear_cookies()
    page.locator("#submit").click()
    expect(page.locator("#announcements p:last-child")).to_contain_text("You were signed out.")
    white.sign_in(white.name)
    white.move(match_id, "a3-b4")
    black.move(match_id, "b6-a5")
    white.open(match_id)
    expect(page.locator("#announcements")).to_contain_text("The match has moved on: c3-d4 was not played.")
    expect(page.locator("#confirm")).to_be_hidden()
