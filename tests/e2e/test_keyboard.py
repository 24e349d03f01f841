"""Complete moves by keyboard in every game, with the announcements along the way."""

import re
from collections.abc import Callable
from typing import NamedTuple

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.test_announcements import WATCH, heard, last_announcement
from tests.e2e.visitors import Visitor

BOARD = "#board .square"
MAX_TABS = 40


class Turn(NamedTuple):
    """A move by keyboard and the answer to it.

    ``keys`` choose it: a selector stands for as many Tabs as lead there, and what names no key is typed. It ends on the
    square ``end``. ``said`` is what is spoken until it is submitted, ``played`` right after that, and ``told`` when
    the next player has played ``answer``.
    """

    keys: tuple[str, ...]
    end: str
    said: tuple[str, ...]
    played: str
    answer: str
    told: str


TURNS = {
    ("bashni", "start", 2): (
        Turn(
            (BOARD, "n", "Enter", "ArrowUp", "ArrowRight", "Enter"),
            "d4",
            ("c3 selected. It can go to b4, d4.", "c3-d4 is chosen. Submit it with Enter, or cancel it with Escape."),
            "You played c3-d4.",
            "b6-a5",
            "NAME played b6-a5. It is your turn. 6 pieces can move.",
        ),
    ),
    ("towers", "two-player", 2): (
        Turn(
            (BOARD, "Enter", "#options button", "Enter"),
            "b7",
            (
                "b7 selected. It can go to a7, b6, c7. Or: build (+b7).",
                "+b7 is chosen. Submit it with Enter, or cancel it with Escape.",
            ),
            "You played +b7.",
            "+f7",
            "NAME played +f7. It is your turn. 4 pieces can move.",
        ),
        Turn(
            ("Enter", "n", "n", "Enter"),
            "b5",
            (
                "b7 selected. It can go to a7, b5, d7. Or: build (+b7).",
                "b7-b5 is chosen. Submit it with Enter, or cancel it with Escape.",
            ),
            "You played b7-b5.",
            "+g6",
            "NAME played +g6. It is your turn. 6 pieces can move.",
        ),
    ),
    ("tower-game", "original", 2): (
        Turn(
            (BOARD, "PageUp", "Enter", "PageUp", "PageUp", "Enter"),
            "be4",
            (
                "be2 selected. It can go to be3, be4.",
                "be2-be4 is chosen. Submit it with Enter, or cancel it with Escape.",
            ),
            "You played be4.",
            "cc7-cc5",
            "NAME played cc5. It is your turn. 38 pieces can move.",
        ),
    ),
    ("fourplay", "standard", 4): (
        Turn(
            ("b", "t", "a1-a2", "Enter"),
            "a2",
            ("16 pieces can move.", "a1-a2 is chosen. Submit it with Enter, or cancel it with Escape."),
            "You played a1-a2.",
            "a12-b8",
            "NAME played a12-b8.",
        ),
    ),
    ("four-towers", "standard", 2): (
        Turn(
            (BOARD, "Enter", "n", "Enter"),
            "b4",
            (
                "a4 selected. It can go to a5, b4.",
                "a4+b4 is chosen. Submit it with Enter, or cancel it with Escape.",
            ),
            "You played a4+b4.",
            "c9-c8",
            "NAME played c9-c8. It is your turn. 17 pieces can move.",
        ),
    ),
}
"""By game, setup and number of seats."""


def press(page: Page, key: str) -> None:
    """Press a key, press Tab until the element of a selector has the focus, or type a text."""
    if re.fullmatch("[A-Z][A-Za-z]+|.", key):
        page.keyboard.press(key)
    elif not key.startswith("#"):
        page.keyboard.type(key)
    else:
        for _ in range(MAX_TABS):
            page.keyboard.press("Tab")
            if page.evaluate("selector => document.activeElement.matches(selector)", key):
                return
        raise AssertionError(f"no Tab leads to {key}")


@pytest.mark.parametrize(("game", "setup", "seats"), TURNS, ids=[game for game, _, _ in TURNS])
def test_a_move_by_keyboard_is_announced_from_the_first_key_to_the_answer(
    visit: Callable[..., Visitor], game: str, setup: str, seats: int
) -> None:
    white, black, *others = (visit().be_guest() for _ in range(seats))
    seated = [{"kind": "player", "name": each.name} for each in (black, *others)]
    match_id = white.create(game, setup, [{"kind": "me"}, *seated])
    for each in (black, *others):
        each.call("POST", f"/matches/{match_id}/joins", {})
    page = white.open(match_id)
    expect(page.locator("#board .can-begin[tabindex='0']")).to_have_count(1)
    page.evaluate(WATCH)
    expected: list[str] = []
    for turn in TURNS[game, setup, seats]:
        for key in turn.keys:
            press(page, key)
        expect(page.locator("#submit")).to_be_focused()
        page.keyboard.press("Enter")
        expect(last_announcement(page)).to_have_text(turn.played)
        expect(white.square(turn.end)).to_be_focused()
        black.move(match_id, turn.answer)
        told = turn.told.replace("NAME", black.name)
        expect(last_announcement(page)).to_have_text(told)
        expect(white.square(turn.end)).to_be_focused()
        expected += [*turn.said, "Submitting …", turn.played, told]
    assert heard(page) == expected
    assert page.evaluate("document.activeElement.closest('#board') !== null")


def test_the_focus_stays_on_the_board_and_shortcuts_lead_elsewhere(
    pair: tuple[Visitor, Visitor, str],
) -> None:
    white, black, match_id = pair
    page = white.open(match_id)
    expect(page.locator("#board .can-begin[tabindex='0']")).to_have_count(1)
    page.evaluate(WATCH)
    for key in ("b", "N", "N", "Enter", "N", "Enter"):
        press(page, key)
    expect(page.locator("#submit")).to_be_focused()
    press(page, "Escape")
    expect(page.locator("#confirm")).to_be_hidden()
    expect(white.square("f4")).to_be_focused()
    for key in ("/", "c3-d4", "Enter"):
        press(page, key)
    expect(page.locator("#submit")).to_be_focused()
    press(page, "Enter")
    expect(last_announcement(page)).to_have_text("You played c3-d4.")
    expect(white.square("d4")).to_be_focused()
    press(page, ",")
    expect(page.locator("#shown")).to_have_text("0 / 1")
    expect(white.square("d4")).to_be_focused()
    page.get_by_role("link", name="Back to now").focus()
    press(page, "Enter")
    expect(page.locator("#shown")).to_have_text("1 / 1")
    expect(white.square("d4")).to_be_focused()
    page.locator("#typed").focus()
    black.move(match_id, "b6-a5")
    expect(last_announcement(page)).to_contain_text("It is your turn.")
    expect(page.locator("#typed")).to_be_focused()
    expect(page.locator("#board .can-begin[tabindex='0']")).to_have_count(1)
    press(page, "Escape")
    press(page, "l")
    press(page, "c")
    assert heard(page)[-2] == f"{black.name} played b6-a5."
    clocks = rf"{white.name}, White: .* left\. {black.name}, Black: .* left\."
    assert re.fullmatch(clocks, heard(page)[-1])
    press(page, "?")
    expect(page.locator("#keys")).to_have_attribute("open", "")
    expect(page.locator("#keys summary")).to_be_focused()
    press(page, "l")
    press(page, "b")
    assert heard(page)[-1] == "6 pieces can move."
    expect(page.locator("#board .square:focus")).to_have_count(1)
    for key in ("Enter", "n", "Enter"):
        press(page, key)
    expect(page.locator("#confirm")).to_be_visible()
    black.call("POST", f"/matches/{match_id}/resignation", {})
    expect(page.locator("#confirm")).to_be_hidden()
    expect(page.locator("#board .square:focus")).to_have_count(1)
