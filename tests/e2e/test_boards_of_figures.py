"""Playing on the boards of figures: across the levels of The Tower Game, and with four armies in Fourplay."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from domain.fourplay import GAME as FOURPLAY
from domain.tower_game import GAME as TOWER_GAME
from tests.e2e.visitors import Visitor, four

Match = tuple[Visitor, Visitor, str]


@pytest.fixture
def towers(visit: Callable[..., Visitor]) -> Match:
    """Return two people and their match of The Tower Game; the first is White."""
    white, black = visit().be_guest(), visit().be_guest()
    match_id = white.create("tower-game", "original", [{"kind": "me"}, {"kind": "player", "name": black.name}])
    black.call("POST", f"/matches/{match_id}/joins", {})
    return white, black, match_id


def type_move(page: Page, text: str) -> None:
    page.get_by_label("Type a move").fill(text)
    page.keyboard.press("Enter")
    page.locator("#submit").click()


def test_a_piece_is_moved_by_mouse_from_one_level_to_another(towers: Match) -> None:
    white, _, match = towers
    page = white.open(match)
    page.locator("#board .can-begin[data-square='db1']").click()
    hinted = {hint.path[0] for hint in TOWER_GAME.hints(TOWER_GAME.initial("original"))["db1"]}
    targets = page.locator("#board .is-target")
    expect(targets).to_have_count(len(hinted))
    lit = set(targets.evaluate_all("squares => squares.map((square) => square.dataset.square)"))
    assert lit == hinted
    page.locator("#board .is-target[data-square='cd3']").click()
    expect(page.locator("#chosen")).to_have_text("dbJcd3")
    page.locator("#submit").click()
    expect(page.locator("#moves")).to_contain_text("dbJcd3")
    expect(white.square("cd3")).to_have_attribute("aria-label", "cd3: white jester")
    expect(white.square("db1")).to_have_attribute("aria-label", "db1: empty")


@pytest.mark.thorough
def test_on_a_narrow_page_pieces_are_dragged_between_levels_and_no_square_of_the_move_is_covered(towers: Match) -> None:
    white, _, match = towers
    white.page.set_viewport_size({"width": 380, "height": 640})
    page = white.open(match)
    expect(page.locator("#board .can-begin[data-square='db1']")).to_be_visible()
    start, end = (white.square(name).locator("rect").bounding_box() for name in ("db1", "cd3"))
    page.mouse.move(start["x"] + start["width"] / 2, start["y"] + start["height"] / 2)
    page.mouse.down()
    page.mouse.move(end["x"] + end["width"] / 2, end["y"] + end["height"] / 2, steps=4)
    dragged = page.locator(".lifted .column").bounding_box()
    assert end["x"] - end["width"] < dragged["x"] < end["x"] + end["width"]
    assert end["y"] - end["height"] < dragged["y"] < end["y"] + end["height"]
    page.mouse.up()
    expect(page.locator("#chosen")).to_have_text("dbJcd3")
    page.keyboard.press("Escape")
    expect(page.locator("#confirm")).to_be_hidden()
    hints = [hint for each in TOWER_GAME.hints(TOWER_GAME.initial("original")).values() for hint in each]
    farthest = max(hints, key=lambda hint: hint.path[0][-1])
    begin, target = farthest.move[:3], farthest.path[0]
    page.locator(f"#board .can-begin[data-square='{begin}']").click()
    page.locator(f"#board .is-target[data-square='{target}']").click()
    expect(page.locator("#confirm")).to_be_visible()
    top = page.locator("#confirm").bounding_box()["y"]
    for square in (begin, target):
        box = white.square(square).bounding_box()
        assert box["y"] + box["height"] <= top + 2


def test_moves_are_typed_and_listed_in_short_notation_and_castling_by_its_name(towers: Match) -> None:
    white, black, match_id = towers
    page = white.open(match_id)
    type_move(page, "cc4")
    expect(page.locator("#moves")).to_contain_text("cc4")
    black.move(match_id, "cc7-cc5")
    expect(page.locator("#standing")).to_contain_text("Your move")
    type_move(page, "dbJcd3")
    expect(page.locator("#moves")).to_contain_text("dbJcd3")
    black.move(match_id, "aa6")
    expect(page.locator("#standing")).to_contain_text("Your move")
    type_move(page, "O-J")
    expect(white.square("ea1")).to_have_attribute("aria-label", "ea1: white king")
    expect(white.square("db1")).to_have_attribute("aria-label", "db1: white rook")
    listed = page.locator("#moves").get_by_role("link")
    expect(listed).to_have_text(["cc4", "cc5", "dbJcd3", "aa6", "Kea1"])
    assert white.call("GET", f"/matches/{match_id}")["moves"] == ["cc2-cc4", "cc7-cc5", "db1-cd3", "aa7-aa6", "cc1-ea1"]


@pytest.mark.thorough
def test_an_ambiguous_short_move_is_refused_with_all_candidates(towers: Match) -> None:
    white, _, match = towers
    page = white.open(match)
    page.get_by_label("Type a move").fill("Jcd3")
    page.keyboard.press("Enter")
    expect(page.locator("#typed-error")).to_contain_text("several moves: write dbJcd3 or ecJcd3")
    expect(page.locator("#confirm")).to_be_hidden()


@pytest.mark.thorough
def test_on_a_small_phone_the_board_is_turned_by_quarters_and_the_first_tap_enlarges_it_and_the_next_chooses(
    visit: Callable[..., Visitor],
) -> None:
    red, (blue, *_), match = four(visit, "standard", viewport={"width": 380, "height": 780}, has_touch=True)
    page = red.open(match)
    beginning = {square for square in FOURPLAY.hints(FOURPLAY.initial("standard")) if square}
    expect(page.locator("#board .can-begin")).to_have_count(len(beginning))
    lower_left = [red.square("a1").get_attribute(f"data-{axis}") for axis in "xy"]
    for corner, above in (("o1", "b3"), ("o15", "c2"), ("a15", "d3"), ("a1", "c4")):
        page.locator("#turn").tap()
        expect(red.square(corner)).to_have_attribute("data-x", lower_left[0])
        expect(red.square(corner)).to_have_attribute("data-y", lower_left[1])
        red.square("c3").focus()
        page.keyboard.press("ArrowUp")
        expect(red.square(above)).to_be_focused()
    side = red.square("a1").bounding_box()["width"]
    red.square("a1").tap()
    expect(page.locator("#board .is-selected")).to_have_count(0)
    assert red.square("a1").bounding_box()["width"] == pytest.approx(2.5 * side, rel=0.1)
    page.get_by_role("button", name="Show the whole board").tap()
    assert red.square("a1").bounding_box()["width"] == pytest.approx(side, rel=0.1)
    expect(page.get_by_role("button", name="Show the whole board")).to_be_hidden()
    red.square("a1").tap()
    page.keyboard.press("Escape")
    assert red.square("a1").bounding_box()["width"] == pytest.approx(side, rel=0.1)
    red.square("a1").tap()
    red.square("a1").tap()
    expect(red.square("a1")).to_have_class(re.compile("is-selected"))
    red.square("a2").tap()
    expect(page.locator("#chosen")).to_have_text("a1-a2")
    page.locator("#submit").tap()
    expect(page.locator("#moves")).to_contain_text("a1-a2")
    expect(page.locator("#standing")).to_contain_text(f"Waiting for {blue.name} (Blue)")
    assert page.evaluate("document.documentElement.scrollWidth") <= 380


def test_a_player_who_resigns_in_a_match_of_four_watches_the_others_play(visit: Callable[..., Visitor]) -> None:
    red, others, match_id = four(visit, "standard")
    blue, yellow, _ = others
    red.move(match_id, "a1-a2")
    for each in others:
        each.move(match_id, each.call("GET", f"/matches/{match_id}/legal-moves")["legal_moves"][0])
    page = red.open(match_id)
    page.get_by_role("button", name="Resign").click()
    page.get_by_role("dialog").get_by_role("button", name="Resign").click()
    expect(red.square("a2")).to_have_attribute("aria-label", "a2: frozen red Rook")
    expect(page.locator("#standing")).to_contain_text(f"Waiting for {blue.name} (Blue)")
    expect(page.locator("#actions").get_by_role("button")).to_have_count(0)
    expect(page.get_by_label("Type a move")).to_be_hidden()
    blue.move(match_id, blue.call("GET", f"/matches/{match_id}/legal-moves")["legal_moves"][0])
    expect(page.locator("#standing")).to_contain_text(f"Waiting for {yellow.name} (Yellow)")
