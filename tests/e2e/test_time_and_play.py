"""Time and play on the board page: clocks, terms, conditional moves, takebacks, rematches."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route, expect

from tests.e2e.visitors import Visitor


def try_out(visitor: Visitor, start: str, target: str) -> None:
    """Add a move to the tree on the analysis board by playing it out on the board."""
    visitor.page.locator(f"#board .can-begin[data-square='{start}']").click()
    visitor.page.locator(f"#board .is-target[data-square='{target}']").click()
    expect(visitor.page.locator("#analysis [aria-current]")).to_have_text(re.compile(f"{start}[-x]{target}"))


def lay_down(visitor: Visitor, match_id: str, *lines: dict[str, object]) -> None:
    """Set conditional moves through the API."""
    visitor.call("PUT", f"/matches/{match_id}/lines", {"lines": list(lines)})


def test_the_page_shows_the_terms_before_a_match_is_accepted_and_then_clocks_and_the_deadline(
    visit: Callable[..., Visitor],
) -> None:
    host, invited = visit().be_guest(), visit(timezone_id="Asia/Kolkata").be_guest()
    terms = {"control": "days-per-move", "bank": 3 * 86_400}
    seats = [{"kind": "me"}, {"kind": "player", "name": invited.name}]
    match_id = host.create("bashni", "start", seats, terms=terms)
    page = invited.open(match_id)
    expect(page.locator("#time")).to_contain_text("3 days for every move")
    expect(page.locator("#time")).to_contain_text("Vacation stops a player's clock")
    page.get_by_role("button", name="Accept the invitation").click()
    expect(page.locator("#seats li.to-move .clock")).to_contain_text(re.compile(r"first move within 2 days 23 hours"))
    time = page.locator("#time")
    expect(time).to_contain_text(f"{host.name} must move by")
    expect(time.locator("time").first).to_contain_text(re.compile(r"\d\d:\d\d UTC \(.*\d\d:\d\d your time\)"))
    expect(time).to_contain_text("If not, the match is cancelled without a result.")
    host.move(match_id, "c3-d4")
    expect(page.locator("#time")).to_contain_text("You must move by")
    page = host.open(match_id)
    page.get_by_text("Give time").click()
    page.get_by_label("How much").select_option("3 days")
    page.get_by_role("button", name="Give", exact=True).click()
    expect(page.get_by_role("dialog")).to_contain_text(f"Give {invited.name} 3 days?")
    page.get_by_role("button", name="Give it").click()
    expect(page.locator("#seats li.to-move .clock")).to_contain_text("5 days 23 hours")


def test_a_clock_counts_down_without_a_reload(visit: Callable[..., Visitor]) -> None:
    host, other = visit().be_guest(), visit().be_guest()
    terms = {"control": "bank", "bank": 600, "increment": 0, "cap": 600}
    match_id = host.create("bashni", "start", [{"kind": "me"}, {"kind": "player", "name": other.name}], terms=terms)
    other.call("POST", f"/matches/{match_id}/joins", {})
    page = host.open(match_id)
    clock = page.locator("#seats li.to-move .clock b")
    shown = clock.inner_text()
    assert re.fullmatch(r"9 minutes( \d+ seconds?)?", shown)
    expect(clock).not_to_have_text(shown)
    expect(clock).to_have_text(re.compile("minutes"))


def test_conditional_moves_are_entered_on_the_board_and_played_automatically(
    pair: tuple[Visitor, Visitor, str],
) -> None:
    white, black, match_id = pair
    white.move(match_id, "c3-d4")
    page = white.open(match_id)
    page.get_by_role("button", name="Enter conditional moves").click()
    try_out(white, "b6", "a5")
    expect(page.locator("#analysis")).to_contain_text("you (White) answer")
    try_out(white, "d4", "c5")
    page.get_by_role("button", name="To the start").click()
    page.locator("#analysis").get_by_role("button", name="Any other move").click()
    page.locator("#analysis").get_by_role("button", name="Resign").click()
    expect(page.locator("#analysis .tree")).to_have_text(
        re.compile(r"if\s*b6-a5\s*then\s*d4-c5\s*if\s*any other move then resign")
    )
    assert white.call("GET", f"/matches/{match_id}")["ply"] == 1
    page.locator("#analysis").get_by_role("button", name="Save").click()
    expect(page.locator("#lines")).to_contain_text("Armed")
    black.open(match_id)
    assert "d4-c5" not in black.page.content()
    black.submit("b6", "a5")
    for side in (white, black):
        expect(side.page.locator("#moves")).to_contain_text("d4-c5")
    expect(page.locator("#moves a[aria-current]")).to_have_text("d4-c5 line")
    expect(page.locator("#lines")).to_contain_text("Played out")
    expect(page.locator("#lines .played")).to_have_text(["b6-a5", "d4-c5"])


def test_conditional_moves_that_no_longer_fit_are_shown_as_dead_with_the_reason(
    pair: tuple[Visitor, Visitor, str],
) -> None:
    white, black, match_id = pair
    white.move(match_id, "c3-d4")
    lay_down(white, match_id, {"move": "b6-a5", "next": [{"move": "d4-c5"}]})
    page = white.open(match_id)
    expect(page.locator("#lines")).to_contain_text("Armed")
    black.move(match_id, "h6-g5")
    expect(page.locator("#lines")).to_contain_text("Dead")
    expect(page.locator("#lines")).to_contain_text("h6-g5")
    expect(page.locator("#lines .tree")).to_contain_text("if b6-a5 then d4-c5")
    assert white.call("GET", f"/matches/{match_id}")["ply"] == 2
    page.locator("#lines").get_by_role("button", name="Remove them").click()
    expect(page.locator("#lines .tree")).to_be_empty()


@pytest.mark.thorough
def test_conditional_moves_being_entered_continue_from_a_move_played_meanwhile(
    pair: tuple[Visitor, Visitor, str],
) -> None:
    white, black, match = pair
    white.move(match, "c3-d4")
    page = white.open(match)
    page.get_by_role("button", name="Enter conditional moves").click()
    try_out(white, "b6", "a5")
    try_out(white, "d4", "c5")
    try_out(white, "d6", "b4")
    black.move(match, "b6-a5")
    expect(page.locator("#analysis .tree")).to_have_text(re.compile(r"after my own\s*d4-c5\s*if\s*d6xb4"))
    page.locator("#analysis").get_by_role("button", name="Save").click()
    expect(page.locator("#lines")).to_contain_text("Your move first")
    white.submit("d4", "c5")
    expect(page.locator("#lines")).to_contain_text("Armed")


def test_a_move_is_taken_back_when_the_other_side_agrees(pair: tuple[Visitor, Visitor, str]) -> None:
    white, black, match = pair
    white.move(match, "c3-d4")
    white.open(match)
    black.open(match)
    white.page.get_by_role("button", name="Ask to take back your move").click()
    expect(white.page.get_by_role("button", name="Withdraw the request")).to_be_visible()
    expect(black.page.locator("#offers")).to_contain_text(f"{white.name} asks to take back the last move")
    black.page.get_by_role("button", name="Agree").click()
    for side in (white, black):
        expect(side.page.locator("#moves")).to_contain_text("No move yet")
        expect(side.square("c3")).to_have_attribute("aria-label", "c3: white man")
    white.submit("g3", "h4")
    expect(black.page.locator("#moves")).to_contain_text("g3-h4")


@pytest.mark.thorough
def test_a_draw_is_offered_together_with_the_move(pair: tuple[Visitor, Visitor, str]) -> None:
    white, black, match = pair
    page = white.open(match)
    black.open(match)
    page.locator("#board .can-begin[data-square='c3']").click()
    page.locator("#board .is-target[data-square='d4']").click()
    page.get_by_label("Offer a draw with it").check()
    page.locator("#submit").click()
    expect(black.page.locator("#offers")).to_contain_text("A draw is offered")
    expect(black.page.locator("#moves")).to_contain_text("c3-d4")


def test_both_players_share_one_rematch_with_the_seats_swapped(pair: tuple[Visitor, Visitor, str]) -> None:
    white, black, match_id = pair
    white.move(match_id, "c3-d4")
    black.move(match_id, "b6-a5")
    white.call("POST", f"/matches/{match_id}/resignation", {})
    white.open(match_id)
    white.page.get_by_role("button", name="Propose a rematch").click()
    expect(white.page.locator("#standing")).to_contain_text(f"Waiting for {black.name} to join")
    black.open(match_id)
    black.page.get_by_role("link", name="To the rematch").click()
    black.page.get_by_role("button", name="Accept the invitation").click()
    expect(black.page.locator("#standing")).to_contain_text("Your move: you play White")
    expect(white.page).to_have_url(re.compile(r"/matches/[^?]+$"))  # the mark of the news is taken away
    expect(black.page).to_have_url(white.page.url)


@pytest.mark.thorough
def test_custom_terms_are_chosen_for_a_new_match_and_invalid_ones_reported_at_their_field(
    visit: Callable[..., Visitor],
) -> None:
    person = visit().be_guest()
    page = person.page
    page.goto("/matches/new?game=bashni&level=1")
    page.get_by_role("radio", name="Other terms").check()
    page.get_by_label("More after every move", exact=True).fill("90")
    page.get_by_role("button", name="Begin").click()
    expect(page.locator("[data-error-for='terms.increment']")).to_contain_text("30 days")
    page.get_by_label("More after every move", exact=True).fill("12")
    page.get_by_label("More after every move: unit").select_option("hours")
    page.get_by_role("button", name="Begin").click()
    page.get_by_text("All terms of this match").click()
    expect(page.locator("#time")).to_contain_text("10 days at the start and 12 hours more after every move")
    expect(page.locator("#time")).to_contain_text("Moves may be taken back")


def test_moves_of_all_sides_are_explored_and_the_tree_is_saved_for_its_owner(
    pair: tuple[Visitor, Visitor, str], visit: Callable[..., Visitor]
) -> None:
    white, black, match_id = pair
    white.move(match_id, "c3-d4")
    page = white.open(match_id)
    page.get_by_role("button", name="Explore").click()
    try_out(white, "b6", "a5")
    try_out(white, "d4", "c5")
    page.locator("#analysis").get_by_role("button", name="Save").click()
    expect(page.locator("#announcements")).to_contain_text("Saved. Only you can see it.")
    page.locator("#analysis").get_by_role("button", name="Close").click()
    expect(white.square("d4")).to_have_attribute("aria-label", "d4: white man")
    black.move(match_id, "h6-g5")
    expect(page.locator("#moves")).to_contain_text("h6-g5")
    page.get_by_role("button", name="Explore").click()
    expect(page.locator("#analysis .tree button")).to_have_text(["b6-a5", "d4-c5", "h6-g5"])
    expect(page.locator("#analysis [aria-current]")).to_have_text("h6-g5")
    watcher = visit()
    watcher.open(match_id).get_by_role("button", name="Explore").click()
    try_out(watcher, "g3", "h4")
    expect(watcher.page.locator("#analysis").get_by_role("button", name="Save")).to_be_hidden()
    assert white.call("GET", f"/matches/{match_id}")["moves"] == ["c3-d4", "h6-g5"]


def test_the_players_chat_while_they_play_and_notes_stay_private(
    pair: tuple[Visitor, Visitor, str], visit: Callable[..., Visitor]
) -> None:
    white, black, match = pair
    white.open(match)
    black.open(match)
    white.page.get_by_label("Message").fill("Good luck!")
    white.page.keyboard.press("Enter")
    expect(black.page.get_by_role("log")).to_contain_text("Good luck!")
    watcher = visit().open(match)
    expect(watcher.get_by_text("Only the players can read the chat until the match is over")).to_be_visible()
    white.page.get_by_text("Your notes", exact=True).click()
    white.page.get_by_label("Your notes about this match").fill("Watch the left flank.")
    white.page.get_by_label("Type a move").focus()
    expect(white.page.locator("#notes")).to_contain_text("Saved.")
    white.open(match).get_by_text("Your notes", exact=True).click()
    expect(white.page.get_by_label("Your notes about this match")).to_have_value("Watch the left flank.")
    black.page.get_by_text("Your notes", exact=True).click()
    expect(black.page.get_by_label("Your notes about this match")).to_have_value("")
    expect(black.page.get_by_label("Your notes about this match")).to_be_enabled()


def test_settings_are_saved_and_a_vacation_stops_the_clock_until_it_is_ended(visit: Callable[..., Visitor]) -> None:
    person, other = visit(timezone_id="Europe/Berlin").be_guest(), visit().be_guest()
    match_id = person.create("bashni", "start", [{"kind": "me"}, {"kind": "player", "name": other.name}])
    other.call("POST", f"/matches/{match_id}/joins", {})
    page = person.page
    page.goto("/settings")
    page.get_by_role("button", name="Use it").click()
    page.get_by_label("Sunday").check()
    page.get_by_label("Automatic vacation").uncheck()
    page.locator("#calendar").get_by_role("button", name="Save").click()
    expect(page.locator("#calendar")).to_contain_text("Saved.")
    page.reload()
    expect(page.get_by_label("Time zone")).to_have_value("Europe/Berlin")
    expect(page.get_by_label("Sunday")).to_be_checked()
    expect(page.get_by_label("Automatic vacation")).not_to_be_checked()
    page.get_by_label("Name of the program").fill("Night owl")
    page.get_by_role("button", name="Give a program access").click()
    secret = page.locator("#secret code").inner_text()
    program = other.context.request.get("/api/v1/me", headers={"Authorization": f"Bearer {secret}"})
    assert program.json()["name"] == person.name
    page.reload()
    expect(page.locator("#tokens")).not_to_contain_text(secret)
    page.get_by_role("button", name="Revoke Night owl").click()
    expect(page.locator("#tokens")).not_to_contain_text("Night owl")
    page.get_by_label("Last day").fill("2020-01-01")
    page.get_by_role("button", name="Take vacation").click()
    expect(page.locator("[data-error-for='until']")).not_to_be_empty()
    in_a_week = page.evaluate("new Date(Date.now() + 7 * 86400000).toISOString().slice(0, 10)")
    page.get_by_label("Last day").fill(in_a_week)
    page.get_by_role("button", name="Take vacation").click()
    expect(page.locator("#vacations")).to_contain_text("You are on vacation until")
    seat = person.open(match_id).locator("#seats li.to-move .clock")
    expect(seat).to_contain_text("on vacation")
    expect(page.locator("#time")).to_contain_text("The clock is stopped until")
    page.goto("/settings")
    page.get_by_role("button", name="Come back now").click()
    expect(page.locator("#vacations")).not_to_contain_text("You are on vacation")
    expect(person.open(match_id).locator("#seats li.to-move .clock")).not_to_contain_text("on vacation")


def test_after_a_move_the_page_links_to_the_next_waiting_match(pair: tuple[Visitor, Visitor, str]) -> None:
    white, black, match = pair
    other = white.create("bashni", "start", [{"kind": "me"}, {"kind": "player", "name": black.name}])
    black.call("POST", f"/matches/{other}/joins", {})
    white.open(match)
    white.submit("c3", "d4")
    white.page.get_by_role("link", name="Next match waiting for you").click()
    white.page.wait_for_url(f"**/matches/{other}")
    expect(white.page.locator("#standing")).to_contain_text("Your move")


@pytest.mark.thorough
def test_a_composed_move_can_be_typed_into_conditional_moves(visit: Callable[..., Visitor]) -> None:
    white, black = visit().be_guest(), visit().be_guest()
    match_id = white.create("four-towers", "standard", [{"kind": "me"}, {"kind": "player", "name": black.name}])
    black.call("POST", f"/matches/{match_id}/joins", {})
    for side, move in ((white, "b3-c5"), (black, "k8-k7"), (white, "f2-g4")):
        side.move(match_id, move)
    page = white.open(match_id)
    page.get_by_role("button", name="Enter conditional moves").click()
    for move in ("i8-i7", "e3-e4;h3-h4"):
        page.get_by_label("Type a move").fill(move)
        page.keyboard.press("Enter")
        expect(page.locator("#analysis [aria-current]")).to_have_text(move)
    page.locator("#analysis").get_by_role("button", name="Save").click()
    expect(page.locator("#lines")).to_contain_text("Armed")
    black.move(match_id, "i8-i7")
    expect(page.locator("#moves")).to_contain_text("e3-e4;h3-h4")


@pytest.mark.thorough
def test_typing_conditional_moves_before_their_board_has_loaded_is_not_interrupted(
    visit: Callable[..., Visitor],
) -> None:
    white, black = visit().be_guest(), visit().be_guest()
    match_id = white.create("bashni", "start", [{"kind": "me"}, {"kind": "player", "name": black.name}])
    black.call("POST", f"/matches/{match_id}/joins", {})
    white.move(match_id, "c3-d4")
    page, held = white.open(match_id), []
    page.route("**/positions", lambda route: held.append(route), times=1)
    with page.expect_request("**/positions"):
        page.get_by_role("button", name="Enter conditional moves").click()
    page.get_by_label("Type a move").fill("b6-a5")
    with page.expect_response("**/positions"):
        held[0].continue_()
    expect(page.locator("#analysis [data-analysis='where']")).to_contain_text("Black to move")
    page.keyboard.press("Enter")
    expect(page.locator("#analysis [aria-current]")).to_have_text("b6-a5")


@pytest.mark.thorough
def test_a_conditional_move_entered_before_the_analysis_board_is_there_is_added_to_it(
    pair: tuple[Visitor, Visitor, str],
) -> None:
    white, _, match = pair
    white.move(match, "c3-d4")
    page, held = white.open(match), []
    page.route("**/analysis-board.js", lambda route: held.append(route), times=1)
    with page.expect_request("**/analysis-board.js"):
        page.get_by_role("button", name="Enter conditional moves").click()
    page.get_by_label("Type a move").fill("b6-a5")
    page.keyboard.press("Enter")
    held[0].continue_()
    expect(page.locator("#analysis [aria-current]")).to_have_text("b6-a5")


@pytest.mark.thorough
def test_moves_entered_before_the_analysis_board_has_loaded_are_added_in_order_afterwards(
    pair: tuple[Visitor, Visitor, str],
) -> None:
    white, _, match = pair
    white.move(match, "c3-d4")
    page, held = white.open(match), []
    page.route("**/positions", lambda route: held.append(route), times=1)
    with page.expect_request("**/positions"):
        page.get_by_role("button", name="Enter conditional moves").click()
    field = page.get_by_label("Type a move")
    for move in ("b6-a5", "d4-c5", "d6xb4"):
        field.fill(move)
        page.keyboard.press("Enter")
    expect(page.locator("#analysis [aria-current]")).to_have_count(0)
    assert field.input_value() == "d6xb4"
    held[0].continue_()
    expect(page.locator("#analysis .tree button")).to_have_text(["b6-a5", "d4-c5", "d6xb4"])
    expect(page.locator("#analysis [aria-current]")).to_have_text("d6xb4")
    expect(field).to_have_value("")


def typed_while_exploring(pair: tuple[Visitor, Visitor, str]) -> tuple[Page, Route]:
    """Return White's page with a move typed while the saved exploration loads, and the request for it."""
    white, _, match = pair
    page, held = white.open(match), []
    page.route("**/exploration", lambda route: held.append(route))
    with page.expect_request("**/exploration"):
        page.get_by_role("button", name="Explore").click()
    page.get_by_label("Type a move").fill("c3-d4")
    return page, held[0]


@pytest.mark.thorough
def test_a_move_entered_while_an_exploration_loads_is_explored_and_not_played(
    pair: tuple[Visitor, Visitor, str],
) -> None:
    page, held = typed_while_exploring(pair)
    page.keyboard.press("Enter")
    expect(page.locator("#analysis")).to_be_hidden()
    held.continue_()
    expect(page.locator("#analysis [aria-current]")).to_have_text("c3-d4")
    expect(page.locator("#confirm")).to_be_hidden()


@pytest.mark.thorough
def test_text_typed_while_an_exploration_loads_is_preserved(pair: tuple[Visitor, Visitor, str]) -> None:
    page, held = typed_while_exploring(pair)
    held.continue_()
    expect(page.locator("#analysis [data-analysis='where']")).to_contain_text("White to move")
    page.keyboard.press("Enter")
    expect(page.locator("#analysis [aria-current]")).to_have_text("c3-d4")


def test_erasing_an_account_needs_its_name_and_signs_out(visit: Callable[..., Visitor]) -> None:
    person = visit().be_guest()
    page = person.page
    page.goto("/settings")
    page.get_by_text("Erase your account").click()
    page.get_by_role("button", name="Erase my account").click()
    expect(page.locator("#personal-data [data-error-for='name']")).not_to_be_empty()
    page.get_by_label("Your name, to confirm").fill(person.name)
    page.get_by_role("button", name="Erase my account").click()
    page.get_by_role("link", name="Continue").click()
    expect(page.get_by_role("link", name="Sign in").first).to_be_visible()
