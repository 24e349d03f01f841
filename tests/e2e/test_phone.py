"""The match page on a phone: messages cover nothing, composing shows the board, the first tap is explained once."""

from collections.abc import Callable

import pytest
from playwright.sync_api import FloatRect, Locator, Page, expect

from api.pages.match_page import MAX_PLIES_OF_NEWCOMERS
from domain.games import GAMES
from tests.e2e.test_composed_moves import TO_A_WIZARD, started
from tests.e2e.visitors import Visitor, four

PHONE = {"viewport": {"width": 380, "height": 800}, "has_touch": True}
MAX_HOLE_PX = 45
"""Space without content between two parts of the page below the board."""

OVERLAPS = """() => {
  const box = (element) => element.getBoundingClientRect();
  const said = box(document.querySelector("#announcements > p:not(.visually-hidden)"));
  const others = [...document.querySelectorAll(".state, .since, #type-move, .compositions button, .actions button")];
  return others.filter((other) => {
    const {top, bottom, width} = box(other);
    return width && top < said.bottom - 1 && bottom > said.top + 1;
  }).map((other) => other.outerHTML);
}"""
HOLES = """() => {
  const above = "#seats > li, #board svg, .board-tools button, #piece, .state, .since, #announcements > p";
  const below = "#type-move *, .compositions button, .actions > *";
  const boxes = [...document.querySelectorAll(`${above}, ${below}`)].map((part) => part.getBoundingClientRect());
  const shown = boxes.filter(({width, height}) => width > 1 && height > 1);
  shown.sort((one, other) => one.top - other.top);
  let end = shown[0].top;
  return shown.map(({top, bottom}) => {
    const hole = top - end;
    end = Math.max(end, bottom);
    return hole;
  });
}"""


FITS = """part => {
  const words = document.createRange();
  words.selectNodeContents(part);
  const [box, own] = [words, part].map((each) => each.getBoundingClientRect());
  return box.bottom <= own.bottom + 4;
}"""
"""Whether no word of an element has wrapped to the hidden line below it."""


def box_of(part: Locator) -> FloatRect:
    box = part.bounding_box()
    assert box is not None
    return box


def in_view(page: Page, selector: str) -> bool:
    """Return whether an element is inside the window as a whole."""
    seen: bool = page.locator(selector).evaluate(
        """part => {
          const {top, bottom} = part.getBoundingClientRect();
          return top >= -1 && bottom <= innerHeight + 1;
        }"""
    )
    return seen


def test_composing_fetches_the_board_into_view_and_the_message_covers_nothing(visit: Callable[..., Visitor]) -> None:
    white, _, match = started(visit, TO_A_WIZARD, **PHONE)
    page = white.open(match)
    button = page.locator("#compositions").get_by_role("button", name="Rearrange arena I", exact=True)
    expect(button).to_be_visible()
    assert max(page.evaluate(HOLES)) <= MAX_HOLE_PX
    page.evaluate("scrollTo(0, 700)")
    assert not in_view(page, "#board svg")
    button.tap()
    expect(page.locator("#composing")).to_be_visible()
    expect(page.locator("#announcements")).to_contain_text("Pieces that can take part: a3, a4, b4, c3, c4.")
    expect(page.locator(".goal")).to_be_hidden()
    assert in_view(page, "#board svg")
    assert page.evaluate(OVERLAPS) == []


@pytest.mark.parametrize(("game", "setup"), [("towers", "two-player"), ("tower-game", "original")])
def test_no_room_stays_empty_around_the_board_and_nothing_covers_it_before_a_piece_is_touched(
    visit: Callable[..., Visitor], game: str, setup: str
) -> None:
    white, black = visit(**PHONE, color_scheme="dark").be_guest(), visit().be_guest()
    match = white.create(game, setup, [{"kind": "me"}, {"kind": "player", "name": black.name}])
    black.call("POST", f"/matches/{match}/joins", {})
    position = GAMES[game].initial(setup)
    for ply in range(MAX_PLIES_OF_NEWCOMERS):
        move = next(iter(GAMES[game].legal_moves(position)))
        (white, black)[ply % 2].move(match, GAMES[game].format_move(position, move))
        position = GAMES[game].play(position, move)
    page = white.open(match)
    expect(page.locator("#board .can-begin").first).to_be_visible()
    assert max(page.evaluate(HOLES)) <= MAX_HOLE_PX
    line, board = page.locator(".under-board"), page.locator("#board svg")
    assert line.evaluate("line => getComputedStyle(line).position") == "static"
    drawn, tools, told = box_of(board), box_of(page.locator(".board-tools")), box_of(line)
    assert drawn["y"] + drawn["height"] <= tools["y"] + 1 <= told["y"]
    page.locator("#board .can-begin").first.tap()
    expect(page.locator("#piece b")).to_be_visible()
    assert in_view(page, ".under-board")
    assert box_of(line)["height"] >= told["height"]


def test_the_plates_of_four_seats_name_the_colour_and_the_viewer(visit: Callable[..., Visitor]) -> None:
    red, _, match = four(visit, "standard", **PHONE)
    page = red.open(match)
    plates = page.locator("#seats > li")
    for number, words in enumerate(("Red · you", "Blue", "Yellow", "Green")):
        detail = plates.nth(number).locator(".detail")
        expect(detail).to_contain_text(words)
        plate, seen = plates.nth(number).bounding_box(), detail.bounding_box()
        assert plate is not None
        assert seen is not None
        assert plates.nth(number).locator(".detail").evaluate(FITS)
        assert seen["y"] + seen["height"] <= plate["y"] + plate["height"]


def test_the_tap_that_enlarges_the_board_is_explained_once(visit: Callable[..., Visitor]) -> None:
    red, _, match = four(visit, "standard", **PHONE)
    explained = "The board is enlarged: tap a piece to choose it."
    for announcement in (explained, ""):
        page = red.open(match)
        expect(page.locator("#board .can-begin").first).to_be_visible()
        page.locator("#announcements").evaluate("said => said.replaceChildren()")
        red.square("c4").tap()
        expect(page.locator("#whole-board")).to_be_visible()
        expect(page.locator("#announcements")).to_have_text(announcement)
    page.locator("#whole-board").tap()
    expect(page.locator("#whole-board")).to_be_hidden()
