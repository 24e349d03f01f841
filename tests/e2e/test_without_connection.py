"""Times without a connection: matches that are kept, a move that is queued and sent, signing out."""

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.e2e.visitors import Visitor

SIZE = "caches.open('kept').then((cache) => cache.keys()).then((keys) => keys.length)"
CONTROLLED = "navigator.serviceWorker.ready.then(() => Boolean(navigator.serviceWorker.controller))"


def keeping(visit: Callable[..., Visitor]) -> tuple[Visitor, Visitor, str]:
    """Return White, whose browser keeps the matches that await White, Black and one of these."""
    white, black = visit(viewport={"width": 380, "height": 800}).sign_up(), visit().be_guest()
    match_id = white.play_bashni(black)
    page = white.page
    page.goto("/settings")
    page.get_by_label("Keep the matches that await me").check()
    expect(page.get_by_text("They are kept on this device.")).to_be_visible()
    return white, black, match_id


def choose(white: Visitor, *squares: str) -> Page:
    white.page.locator(f"#board .can-begin[data-square='{squares[0]}']").click()
    white.square(squares[1]).click()
    expect(white.page.locator("#chosen")).to_have_text("-".join(squares))
    white.page.locator("#submit").click()
    expect(white.page.locator("#announcements p:last-child")).to_contain_text("is kept on this device, and sent")
    return white.page


def test_a_move_chosen_without_a_connection_is_sent_when_it_is_back(visit: Callable[..., Visitor]) -> None:
    white, _, match_id = keeping(visit)
    page = white.page
    white.context.set_offline(True)
    page.goto("/lobby")
    expect(page.get_by_role("heading", name="No connection")).to_be_visible()
    expect(page.locator("#kept")).to_contain_text("as of")
    page.locator("#kept a").click()
    expect(page.locator("#announcements")).to_contain_text("No connection: this is the match as of")
    choose(white, "c3", "d4")
    assert page.evaluate(CONTROLLED)
    white.context.set_offline(False)
    expect(page.get_by_text("Your move c3-d4 was sent.")).to_be_visible()
    assert white.call("GET", f"/matches/{match_id}")["moves"] == ["c3-d4"]
    expect(page.locator("#shown")).to_have_text("1 / 1")
    page.goto("/help")
    page.locator("#menu summary").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("link", name="Sign in", exact=True)).to_be_visible()
    assert page.evaluate(SIZE) == 0


def test_a_stale_move_is_refused_with_the_new_board(visit: Callable[..., Visitor]) -> None:
    white, black, match_id = keeping(visit)
    white.context.set_offline(True)
    page = white.open(match_id)
    choose(white, "c3", "d4")
    white.call("POST", f"/matches/{match_id}/moves", {"move": "a3-b4"})
    black.move(match_id, "b6-a5")
    white.context.set_offline(False)
    expect(page.get_by_text("Your move c3-d4 was not played. The match has moved on.")).to_be_visible()
    expect(page.locator("#shown")).to_have_text("2 / 2")
