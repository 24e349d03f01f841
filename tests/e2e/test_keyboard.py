"""Complete moves by keyboard in every game, with the announcements along the way."""

import re
from collections.abc import Callable
from typing import NamedTuple

from playwright.sync_api import Page, expect

from tests.e2e.test_announcements import WATCH, heard, last_announcement
from tests.e2e.visitors import Visitor
from tests.support.draws import sampled
from tests.support.tables import table

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


TURNS = {tuple(match): [Turn(*turn) for turn in turns] for match, turns in table(__file__, "turns")}
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


@sampled(("game", "setup", "seats"), TURNS)
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


def test_the_focus_stays_on_the_board_and_shortcuts_lead_elsewhere(pair: tuple[Visitor, Visitor, str]) -> None:
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
