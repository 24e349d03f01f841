"""Unlisted moves of Four Towers, composed on the board: a return, a rearrangement, a multi-move."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.visitors import Visitor

TO_A_RETURN = ["b3+d2", "j9+h10", "d2-e4", "h10-g8", "e4-d5", "g8xd5"]
"""White's wizard goes to the tower d5 and is captured there."""
TO_A_WIZARD = ["b3+d2", "k8-k7", "d2-e4", "i8-i7", "e4-d5", "j8-j7"]
TO_A_DRAGON = ["b3-c5", "k8-k7", "f2-g4", "i8-i7"]


def started(visit: Callable[..., Visitor], moves: list[str], **options: Any) -> tuple[Visitor, Visitor, str]:
    """Return White, whose browser has ``options``, Black and a match of Four Towers after ``moves``."""
    white, black = visit(**options).be_guest(), visit().be_guest()
    match_id = white.create("four-towers", "standard", [{"kind": "me"}, {"kind": "player", "name": black.name}])
    black.call("POST", f"/matches/{match_id}/joins", {})
    for ply, move in enumerate(moves):
        (white, black)[ply % 2].move(match_id, move)
    return white, black, match_id


def drag(page: Page, start: str, target: str) -> None:
    """Drag a piece with the mouse as soon as it can move."""
    expect(page.locator(f"#board .can-begin[data-square='{start}']")).to_be_visible()
    places = []
    for name in (start, target):
        box = page.locator(f"#board .square[data-square='{name}'] rect").bounding_box()
        assert box is not None
        places.append((box["x"] + box["width"] / 2, box["y"] + box["height"] / 2))
    page.mouse.move(*places[0])
    page.mouse.down()
    page.mouse.move(*places[1], steps=5)
    page.mouse.up()


def choose(visitor: Visitor, start: str, target: str) -> None:
    """Select a piece and one of its targets with two clicks."""
    visitor.page.locator(f"#board .can-begin[data-square='{start}']").click()
    visitor.page.locator(f"#board .is-target[data-square='{target}']").click()


def test_a_piece_captured_on_a_tower_is_returned_with_the_button_that_names_it(visit: Callable[..., Visitor]) -> None:
    white, _, match = started(visit, TO_A_RETURN)
    page = white.open(match)
    white.square("d5").hover()
    expect(page.locator("#inspector")).to_contain_text("A piece may return")
    page.locator("#board .can-begin[data-square='e5']").click()
    page.locator("#options").get_by_role("button", name="return wizard").click()
    expect(page.locator("#chosen")).to_have_text("@W:e5")
    page.locator("#submit").click()
    expect(page.locator("#moves")).to_contain_text("@W:e5")
    expect(white.square("e5")).to_have_attribute("aria-label", "e5, arena V: white wizard")


def test_an_arena_is_rearranged_by_dragging_and_clicking_with_undo_and_a_preview(visit: Callable[..., Visitor]) -> None:
    white, _, match_id = started(visit, TO_A_WIZARD)
    page = white.open(match_id)
    page.locator("#compositions").get_by_role("button", name="Rearrange arena I", exact=True).click()
    panel = page.locator("#composing")
    expect(panel).to_contain_text("Rearrange arena I")
    done = panel.get_by_role("button", name="Choose this move")
    expect(done).to_be_disabled()
    expect(page.locator("#board .can-begin")).to_have_count(5)
    drag(page, "a3", "b3")
    expect(white.square("b3")).to_have_attribute("aria-label", "b3, arena I: white rook")
    expect(panel).to_contain_text("I:Pa4,Rb3,Pb4,Bc3,Pc4")
    choose(white, "c3", "c4")
    expect(panel).to_contain_text("I:Pa4,Rb3,Pb4,Pc3,Bc4")
    drag(page, "b4", "b5")
    expect(panel).to_contain_text("I:Pa4,Rb3,Pb5,Pc3,Bc4")
    panel.get_by_role("button", name="Undo").click()
    expect(panel).to_contain_text("I:Pa4,Rb3,Pb4,Pc3,Bc4")
    assert white.call("GET", f"/matches/{match_id}")["ply"] == len(TO_A_WIZARD)
    done.click()
    expect(page.locator("#chosen")).to_have_text("I:Pa4,Rb3,Pb4,Pc3,Bc4")
    expect(panel).to_be_hidden()
    page.keyboard.press("Escape")
    expect(panel).to_contain_text("I:Pa4,Rb3,Pb4,Pc3,Bc4")
    done.click()
    page.locator("#submit").click()
    expect(page.locator("#moves")).to_contain_text("I:Pa4,Rb3,Pb4,Pc3,Bc4")
    expect(page.locator("#compositions").get_by_role("button")).to_have_count(0)
    assert white.call("GET", f"/matches/{match_id}")["moves"][-1] == "I:Pa4,Rb3,Pb4,Pc3,Bc4"


def test_a_multi_move_is_chosen_step_by_step(visit: Callable[..., Visitor]) -> None:
    white, _, match = started(visit, TO_A_DRAGON)
    page = white.open(match)
    page.locator("#compositions").get_by_role("button", name="Multi-move").click()
    panel = page.locator("#composing")
    choose(white, "h3", "h4")
    expect(panel).to_contain_text("One step alone is the plain move: add another.")
    expect(white.square("h4")).to_have_attribute("aria-label", "h4, arena VI: white pawn")
    expect(white.square("i3")).not_to_have_class(re.compile("can-begin"))
    choose(white, "e3", "e4")
    expect(panel).to_contain_text("e3-e4;h3-h4")
    panel.get_by_role("button", name="Choose this move").click()
    expect(page.locator("#chosen")).to_have_text("e3-e4;h3-h4")
    page.locator("#submit").click()
    expect(page.locator("#moves")).to_contain_text("e3-e4;h3-h4")


@pytest.mark.thorough
def test_leaving_or_restarting_a_composition_restores_the_board(visit: Callable[..., Visitor]) -> None:
    white, _, match_id = started(visit, TO_A_WIZARD)
    page = white.open(match_id)
    begin = page.locator("#compositions").get_by_role("button", name="Rearrange arena I", exact=True)
    begin.click()
    expect(page.locator("#composing")).to_be_visible()
    drag(page, "a3", "b3")
    expect(white.square("a3")).to_have_attribute("aria-label", "a3: empty")
    page.locator("#composing").get_by_role("button", name="Start over").click()
    expect(white.square("a3")).to_have_attribute("aria-label", "a3, arena I: white rook")
    drag(page, "a3", "b3")
    expect(white.square("a3")).to_have_attribute("aria-label", "a3: empty")
    page.keyboard.press("Escape")
    expect(white.square("a3")).to_have_attribute("aria-label", "a3, arena I: white rook")
    expect(page.locator("#composing")).to_be_hidden()
    expect(begin).to_be_visible()
    assert white.call("GET", f"/matches/{match_id}")["ply"] == len(TO_A_WIZARD)


def test_an_arena_is_rearranged_with_the_keyboard_alone(visit: Callable[..., Visitor]) -> None:
    white, _, match = started(visit, TO_A_WIZARD)
    page = white.open(match)
    page.locator("#compositions").get_by_role("button", name="Rearrange arena I", exact=True).focus()
    page.keyboard.press("Enter")
    expect(page.locator("#announcements")).to_contain_text("Pieces that can take part: a3, a4, b4, c3, c4")
    expect(page.locator("#board .square:focus")).to_have_count(1)
    white.square("a3").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.locator("#announcements")).to_contain_text("I:Pa4,Rb3,Pb4,Bc3,Pc4 can be played.")
    expect(white.square("b3")).to_be_focused()
    undo = page.locator("#composing").get_by_role("button", name="Undo")
    undo.focus()
    page.keyboard.press("Enter")
    expect(white.square("a3")).to_have_attribute("aria-label", "a3, arena I: white rook")
    expect(page.locator("#board .square:focus")).to_have_count(1)


def test_a_composed_move_is_pressed_as_an_answer_to_a_move_of_the_other_side(visit: Callable[..., Visitor]) -> None:
    white, _, match_id = started(visit, TO_A_WIZARD[:-1])
    page = white.open(match_id)
    page.get_by_role("button", name="Enter conditional moves").click()
    choose(white, "j8", "j7")
    expect(page.locator("#analysis")).to_contain_text("After j8-j7: you (White) answer.")
    page.locator("#compositions").get_by_role("button", name="Rearrange arena I", exact=True).click()
    choose(white, "a3", "b3")
    expect(page.locator("#composing")).to_contain_text("I:Pa4,Rb3,Pb4,Bc3,Pc4")
    page.locator("#composing").get_by_role("button", name="Choose this move").click()
    expect(page.locator("#analysis")).to_contain_text("After I:Pa4,Rb3,Pb4,Bc3,Pc4")
    expect(page.locator("#composing")).to_be_hidden()
    page.locator("#analysis").get_by_role("button", name="Save").click()
    expect(page.locator("#lines .tree")).to_contain_text("I:Pa4,Rb3,Pb4,Bc3,Pc4")
    answer = white.call("GET", f"/matches/{match_id}/lines")["lines"][0]["next"][0]["move"]
    assert answer == "I:Pa4,Rb3,Pb4,Bc3,Pc4"
    page.get_by_role("button", name="Change them").click()
    page.locator("#analysis .tree button", has_text="j8-j7").click()
    page.locator("#compositions").get_by_role("button", name="Rearrange arena II", exact=True).click()
    expect(page.locator("#composing")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#composing")).to_be_hidden()
    expect(page.locator("#analysis")).to_contain_text("After j8-j7")


@pytest.mark.thorough
def test_a_part_whose_check_is_lost_can_be_added_again(visit: Callable[..., Visitor]) -> None:
    white, _, match = started(visit, TO_A_DRAGON)
    page = white.open(match)
    page.locator("#compositions").get_by_role("button", name="Multi-move").click()
    choose(white, "h3", "h4")
    expect(white.square("h4")).to_have_attribute("aria-label", "h4, arena VI: white pawn")
    white.context.route("**/compositions", lambda route: route.abort(), times=1)
    choose(white, "e3", "e4")
    expect(page.locator("#announcements")).to_contain_text("cannot be reached")
    choose(white, "e3", "e4")
    expect(page.locator("#composing")).to_contain_text("e3-e4;h3-h4")


@pytest.mark.thorough
def test_a_draw_offer_does_not_disturb_a_move_being_composed(visit: Callable[..., Visitor]) -> None:
    white, black, match_id = started(visit, TO_A_DRAGON)
    page = white.open(match_id)
    page.locator("#compositions").get_by_role("button", name="Multi-move").click()
    choose(white, "h3", "h4")
    expect(white.square("h4")).to_have_attribute("aria-label", "h4, arena VI: white pawn")
    black.call("POST", f"/matches/{match_id}/draw-offers", {})
    expect(page.locator("#offers")).to_contain_text("A draw is offered")
    expect(white.square("h4")).to_have_attribute("aria-label", "h4, arena VI: white pawn")
    choose(white, "e3", "e4")
    page.locator("#composing").get_by_role("button", name="Choose this move").click()
    page.locator("#submit").click()
    expect(page.locator("#moves")).to_contain_text("e3-e4;h3-h4")


@pytest.mark.thorough
def test_the_inspector_explains_the_effect_of_a_piece_on_a_tower(visit: Callable[..., Visitor]) -> None:
    white, _, match = started(visit, TO_A_WIZARD)
    page = white.open(match)
    white.square("d5").hover()
    expect(page.locator("#inspector")).to_contain_text("White may, instead of a move, rearrange its pieces")


def test_any_move_can_be_dragged_and_a_drop_elsewhere_cancels_it(pair: tuple[Visitor, Visitor, str]) -> None:
    white, _, match = pair
    page = white.open(match)
    drag(page, "c3", "f6")
    expect(white.square("c3")).to_have_class(re.compile("can-begin"))
    drag(page, "c3", "d4")
    expect(page.locator("#chosen")).to_have_text("c3-d4")
