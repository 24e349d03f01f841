"""Playing on the board page: by mouse, by keyboard and by typing, with the opponent's page open."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Route, expect

from events.store.archive.store import make_store
from tests.e2e.visitors import SharedInstallation, Visitor
from tests.support.lost_tail import lose_tail

OPENING = ("c3-d4", "b6-a5", "d4-c5")
"""After these moves of White, Black and White, Black must capture."""


def test_a_move_made_on_the_board_appears_on_the_other_side_without_reloading(
    pair: tuple[Visitor, Visitor, str],
) -> None:
    white, black, match = pair
    white.open(match)
    black.open(match)
    expect(white.page.locator("#standing")).to_contain_text("Your move: you play White")
    expect(black.page.locator("#standing")).to_contain_text(f"Waiting for {white.name} (White)")
    black.page.evaluate("window.untouched = true")
    white.submit("c3", "d4")
    expect(black.page.locator("#standing")).to_contain_text("Your move: you play Black")
    expect(black.page.locator("#moves")).to_contain_text("c3-d4")
    expect(black.square("d4")).to_have_attribute("aria-label", "d4: white man")
    expect(black.page).to_have_title(re.compile("Your move"))
    black.submit("b6", "a5")
    expect(white.page.locator("#moves")).to_contain_text("b6-a5")
    expect(white.page.locator("#standing")).to_contain_text("Your move")
    assert black.page.evaluate("window.untouched")


def test_the_second_player_sees_the_board_from_the_other_side(pair: tuple[Visitor, Visitor, str]) -> None:
    white, black, match = pair
    white.open(match)
    black.open(match)
    near = float(white.square("a1").get_attribute("data-y"))
    assert near > float(white.square("a8").get_attribute("data-y"))
    assert float(black.square("a1").get_attribute("data-y")) < float(black.square("a8").get_attribute("data-y"))
    black.page.locator("#turn").click()
    expect(black.square("a1")).to_have_attribute("data-y", str(near).removesuffix(".0"))


@pytest.mark.thorough
def test_escape_cancels_a_chosen_move_and_the_board_is_as_before(pair: tuple[Visitor, Visitor, str]) -> None:
    white, _, match_id = pair
    page = white.open(match_id)
    page.locator("#board .can-begin[data-square='c3']").click()
    white.square("d4").click()
    expect(page.locator("#confirm")).to_be_visible()
    expect(white.square("d4")).to_have_attribute("aria-label", "d4: white man")
    page.keyboard.press("Escape")
    expect(page.locator("#confirm")).to_be_hidden()
    expect(white.square("c3")).to_have_attribute("aria-label", "c3: white man")
    assert white.call("GET", f"/matches/{match_id}")["ply"] == 0
    white.submit("c3", "b4")
    expect(page.locator("#moves")).to_contain_text("c3-b4")


@pytest.mark.thorough
def test_a_page_with_a_lost_move_shows_its_replacement_and_drops_the_chosen_answer(
    installation: SharedInstallation, pair: tuple[Visitor, Visitor, str]
) -> None:
    white, black, match = pair
    white.move(match, "c3-d4")
    page = black.open(match)
    page.locator("#board .can-begin[data-square='b6']").click()
    black.square("a5").click()
    expect(page.locator("#confirm")).to_be_visible()
    lose_tail(make_store(installation.settings), match, 3)
    white.move(match, "g3-h4")
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(page.locator("#moves")).to_contain_text("g3-h4")
    expect(page.locator("#confirm")).to_be_hidden()
    expect(black.square("h4")).to_have_attribute("aria-label", "h4: white man")
    black.submit("b6", "a5")
    expect(page.locator("#moves")).to_contain_text("b6-a5")


def test_a_capture_of_several_jumps_is_chosen_square_by_square(visit: Callable[..., Visitor]) -> None:
    white, black = visit().be_guest(), visit().be_guest()
    match_id = white.create("bashni", "start", [{"kind": "me"}, {"kind": "player", "name": black.name}])
    black.call("POST", f"/matches/{match_id}/joins", {})
    # Any line will do that ends in a choice of one column with at least two jumps.
    sides = (white, black)
    for ply in range(200):
        legal = sides[ply % 2].call("GET", f"/matches/{match_id}/legal-moves")
        mover = sides[legal["to_move"]]
        long = [
            (start, hint)
            for start, hints in legal["hints"].items()
            for hint in hints
            if len(hint["path"]) >= 2 and sum(other["path"][0] == hint["path"][0] for other in hints) > 1
        ]
        if long:
            break
        mover.move(match_id, legal["legal_moves"][(ply * 7 + 3) % len(legal["legal_moves"])])
    start, hint = long[0]
    page = mover.open(match_id)
    page.locator(f"#board .can-begin[data-square='{start}']").click()
    for square in hint["path"]:
        if page.locator("#confirm").is_visible():
            break
        target = page.locator(f"#board .is-target[data-square='{square}']")
        target.click()
        expect(page.locator(f"#board .is-step[data-square='{square}'], #confirm:not([hidden])").first).to_be_visible()
    expect(page.locator("#chosen")).to_have_text(hint["move"])
    page.locator("#submit").click()
    expect(page.locator("#moves")).to_contain_text(hint["move"])


def test_a_typed_move_is_played_and_an_illegal_one_is_refused_with_its_reason(
    pair: tuple[Visitor, Visitor, str],
) -> None:
    white, _, match = pair
    page = white.open(match)
    page.get_by_label("Type a move").fill("c3-c5")
    page.keyboard.press("Enter")
    expect(page.locator("#typed-error")).not_to_be_empty()
    expect(page.locator("#typed")).to_have_attribute("aria-invalid", "true")
    expect(page.locator("#confirm")).to_be_hidden()
    page.get_by_label("Type a move").fill("g3-h4")
    page.keyboard.press("Enter")
    expect(page.locator("#chosen")).to_have_text("g3-h4")
    page.keyboard.press("Enter")
    expect(page.locator("#moves")).to_contain_text("g3-h4")


def test_a_move_without_a_further_square_is_offered_as_a_button(visit: Callable[..., Visitor]) -> None:
    white, black = visit().be_guest(), visit().be_guest()
    match_id = white.create("towers", "two-player", [{"kind": "me"}, {"kind": "player", "name": black.name}])
    black.call("POST", f"/matches/{match_id}/joins", {})
    page = white.open(match_id)
    page.locator("#board .can-begin[data-square='a6']").click()
    page.locator("#options").get_by_role("button", name="build").click()
    expect(page.locator("#chosen")).to_have_text("+a6")
    page.locator("#submit").click()
    expect(page.locator("#moves")).to_contain_text("+a6")
    expect(white.square("a6")).to_have_attribute("aria-label", re.compile("height 3"))


def test_the_moves_can_be_stepped_through_back_to_the_present(pair: tuple[Visitor, Visitor, str]) -> None:
    white, black, match = pair
    white.move(match, OPENING[0])
    black.move(match, OPENING[1])
    page = white.open(match)
    expect(page.locator("#shown")).to_have_text("2 / 2")
    page.get_by_role("button", name="To the start").click()
    expect(page.locator("#shown")).to_have_text("0 / 2")
    expect(page.locator("#past")).to_contain_text("Earlier position")
    expect(white.square("c3")).to_have_attribute("aria-label", "c3: white man")
    page.keyboard.press(".")
    expect(page.locator("#shown")).to_have_text("1 / 2")
    expect(white.square("d4")).to_have_attribute("aria-label", "d4: white man")
    expect(page).to_have_url(re.compile(r"\?ply=1$"))
    page.keyboard.press(",")
    expect(page.locator("#shown")).to_have_text("0 / 2")
    page.locator("#moves").get_by_role("link", name=OPENING[1]).click()
    expect(page.locator("#shown")).to_have_text("2 / 2")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#shown")).to_have_text("1 / 2")
    expect(page.locator("#moves").get_by_role("link", name=OPENING[0])).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#shown")).to_have_text("2 / 2")
    page.get_by_role("button", name="One move back").click()
    expect(page.locator("#shown")).to_have_text("1 / 2")
    page.get_by_role("link", name="Back to now").click()
    expect(page.locator("#shown")).to_have_text("2 / 2")
    white.submit("d4", "c5")
    expect(page.locator("#shown")).to_have_text("3 / 3")


def test_an_earlier_position_stays_shown_when_a_move_arrives(pair: tuple[Visitor, Visitor, str]) -> None:
    white, black, match = pair
    white.move(match, OPENING[0])
    page = white.open(match, "?ply=0")
    expect(page.locator("#shown")).to_have_text("0 / 1")
    black.move(match, OPENING[1])
    expect(page.locator("#shown")).to_have_text("0 / 2")
    expect(page.locator("#announcements")).to_contain_text(f"{black.name} played {OPENING[1]}.")
    expect(white.square("c3")).to_have_attribute("aria-label", "c3: white man")


def test_a_resignation_needs_confirmation_and_both_sides_see_the_result(pair: tuple[Visitor, Visitor, str]) -> None:
    white, black, match_id = pair
    white.move(match_id, OPENING[0])
    white.open(match_id)
    black.open(match_id)
    black.page.get_by_role("button", name="Resign").click()
    dialog = black.page.get_by_role("dialog")
    expect(dialog).to_contain_text("Resign this match?")
    dialog.get_by_role("button", name="Back").click()
    expect(dialog).to_be_hidden()
    assert white.call("GET", f"/matches/{match_id}")["status"] == "playing"
    black.page.get_by_role("button", name="Resign").click()
    dialog.get_by_role("button", name="Resign").click()
    for side in (white, black):
        expect(side.page.locator(".result")).to_contain_text("White has won")
        expect(side.page.locator(".result")).to_contain_text("resignation")
        name = "You" if side is black else black.name
        expect(side.page.locator("#announcements p").last).to_have_text(
            f"{name} resigned. White has won by resignation."
        )
        expect(side.page.get_by_role("button", name="Resign")).to_be_hidden()


def test_a_draw_is_offered_declined_and_finally_agreed(pair: tuple[Visitor, Visitor, str]) -> None:
    white, black, match = pair
    white.open(match)
    black.open(match)
    white.page.get_by_role("button", name="Offer a draw").click()
    white.page.get_by_role("dialog").get_by_role("button", name="Offer a draw").click()
    expect(white.page.locator("#seats")).to_contain_text("offers a draw")
    expect(black.page.locator("#offers")).to_contain_text("A draw is offered")
    black.page.get_by_role("button", name="Decline").click()
    expect(black.page.locator("#offers")).to_be_hidden()
    expect(white.page.locator("#seats")).not_to_contain_text("offers a draw")
    black.page.get_by_role("button", name="Offer a draw").click()
    black.page.get_by_role("dialog").get_by_role("button", name="Offer a draw").click()
    white.page.get_by_role("button", name="Accept").click()
    white.page.get_by_role("dialog").get_by_role("button", name="Accept the draw").click()
    for side in (white, black):
        expect(side.page.locator(".result")).to_contain_text("A draw")
        expect(side.page.locator("#seats")).to_contain_text("½")


@pytest.mark.thorough
def test_a_click_before_the_scripts_have_loaded_takes_effect_afterwards(pair: tuple[Visitor, Visitor, str]) -> None:
    white, _, match_id = pair
    waiting: list[Route] = []
    white.context.route("**/static/*/match.js", lambda route: waiting.append(route))
    white.page.goto(f"/matches/{match_id}", wait_until="commit")
    white.page.get_by_role("button", name="Offer a draw").click()
    expect(white.page.get_by_role("dialog")).to_be_hidden()
    waiting[0].continue_()
    white.page.get_by_role("dialog").get_by_role("button", name="Offer a draw").click()
    expect(white.page.locator("#seats")).to_contain_text("offers a draw")


@pytest.mark.thorough
def test_an_outdated_page_shows_the_present_position_and_plays_nothing(pair: tuple[Visitor, Visitor, str]) -> None:
    white, black, match_id = pair
    white.context.route("**/stream*", lambda route: route.abort())
    white.context.route(f"**/api/v1/matches/{match_id}", lambda route: route.abort())
    page = white.open(match_id)
    page.locator("#board .can-begin[data-square='c3']").click()
    white.square("d4").click()
    expect(page.locator("#confirm")).to_be_visible()
    white.move(match_id, "g3-h4")
    black.move(match_id, "b6-a5")
    page.locator("#submit").click()
    expect(page.locator("#announcements")).to_contain_text("The match has moved on")
    expect(page.locator("#confirm")).to_be_hidden()
    expect(page.locator("#moves")).to_contain_text("b6-a5")
    assert white.call("GET", f"/matches/{match_id}")["moves"] == ["g3-h4", "b6-a5"]
    white.submit("c3", "d4")
    expect(page.locator("#moves")).to_contain_text("c3-d4")


def test_a_move_whose_response_was_lost_is_retried_and_counts_once(pair: tuple[Visitor, Visitor, str]) -> None:
    white, _, match_id = pair
    keys = []

    def lose_the_first_answer(route: Route) -> None:
        keys.append(route.request.headers["idempotency-key"])
        if len(keys) == 1:
            route.fetch()
            route.abort()
        else:
            route.continue_()

    white.context.route("**/stream*", lambda route: route.abort())
    white.context.route(f"**/api/v1/matches/{match_id}", lambda route: route.abort())
    white.context.route("**/moves", lose_the_first_answer)
    page = white.open(match_id)
    white.submit("c3", "d4")
    expect(page.locator("#announcements")).to_contain_text("cannot be reached")
    expect(page.locator("#confirm")).to_be_visible()
    page.locator("#submit").click()
    expect(page.locator("#announcements")).to_contain_text("You played c3-d4.")
    assert keys[0] == keys[1]
    assert white.call("GET", f"/matches/{match_id}")["moves"] == ["c3-d4"]


@pytest.mark.thorough
def test_without_the_live_stream_the_page_still_learns_of_moves(pair: tuple[Visitor, Visitor, str]) -> None:
    white, black, match_id = pair
    black.context.route("**/stream*", lambda route: route.abort())
    page = black.open(match_id)
    expect(page.locator("#connection")).to_contain_text("checks for moves every few seconds")
    white.move(match_id, OPENING[0])
    expect(page.locator("#moves")).to_contain_text(OPENING[0])
    white.call("POST", f"/matches/{match_id}/resignation", {})
    white.call("POST", f"/matches/{match_id}/rematches", {})
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(page.locator("#offers")).to_contain_text(f"{white.name} proposes a rematch.")


def test_a_spectator_watches_live_and_cannot_act(
    pair: tuple[Visitor, Visitor, str], visit: Callable[..., Visitor]
) -> None:
    white, _, match = pair
    watcher = visit()
    page = watcher.open(match)
    expect(page.locator("#standing")).to_contain_text("You are watching")
    expect(page.locator("#actions").get_by_role("button")).to_have_count(0)
    expect(page.get_by_label("Type a move")).to_be_hidden()
    white.move(match, OPENING[0])
    expect(page.locator("#moves")).to_contain_text(OPENING[0])


def test_the_inspector_shows_a_column_from_top_to_bottom(visit: Callable[..., Visitor]) -> None:
    white, black = visit().be_guest(), visit().be_guest()
    match_id = white.create("towers", "two-player", [{"kind": "me"}, {"kind": "player", "name": black.name}])
    black.call("POST", f"/matches/{match_id}/joins", {})
    page = white.open(match_id)
    white.square("a6").hover()
    expect(page.locator("#inspector")).to_contain_text("a6: tower, height 2")
    expect(page.locator("#inspector li")).to_have_text(["white piece", "white piece"])


def test_the_board_can_be_read_as_text_and_without_scripts(
    pair: tuple[Visitor, Visitor, str], visit: Callable[..., Visitor]
) -> None:
    white, _, match_id = pair
    white.move(match_id, OPENING[0])
    reader = visit(java_script_enabled=False)
    page = reader.page
    page.goto(f"/matches/{match_id}")
    page.get_by_text("More about this match").click()
    page.get_by_text("The board as text").click()
    expect(page.locator("pre.diagram")).to_be_visible()
    assert "w" in page.locator("pre.diagram").inner_text()
    page.goto(f"/matches/{match_id}?ply=0")
    expect(page.locator("#past")).to_contain_text("Earlier position")
