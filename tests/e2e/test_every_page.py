"""What holds for every kind of page: it can be read and reached by everybody, on phones and desks, day and night."""

from typing import Any, NamedTuple

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Browser, Page, expect

from deploy.runner import Installation
from domain.games import GAMES
from events.administration import Administration
from events.clock import now_ms
from events.settings import store_from
from tests.e2e.visitors import Visitor

AXE = """async (rules) => {
  const found = await axe.run({resultTypes: ["violations"], preload: false, ...rules});
  return found.violations.flatMap(({id, nodes}) => nodes.map((node) => `${id}: ${node.target.join(" ")}`));
}"""
"""The faults that axe finds, each with the rule and the element."""

ALL_RULES = {
    "rules": {
        rule: {"enabled": True}
        for rule in (
            "target-size",
            "label-content-name-mismatch",
            "focus-order-semantics",
            "p-as-heading",
            "table-fake-caption",
            "td-has-header",
        )
    }
}
"""The rules of WCAG 2.2 AA and the best practices, with the experimental ones that these pages can break."""

CONTRAST_RULE = {"runOnly": ["color-contrast"]}
WITHOUT_CONTRAST = {"rules": {**ALL_RULES["rules"], "color-contrast": {"enabled": False}}}
UNFOLD = "() => { for (const details of document.querySelectorAll('details')) details.open = true; }"
PRUNE = """() => {
  for (const picture of document.querySelectorAll("svg[role=img]")) picture.replaceChildren();
  const alike = document.querySelectorAll(".figure ~ .figure ~ .figure, .rulings tr:nth-child(n + 4)");
  for (const each of alike) each.remove();
}"""
"""What axe need not walk through: drawings whose label says all there is, and the many figures and rulings of rules."""

ON_PHONE = """() => {
  scrollTo(0, 0);
  const {left, top, width, height} = document.querySelector("h1").getBoundingClientRect();
  const heading = Boolean(document.elementFromPoint(left + width / 2, top + height / 2)?.closest("h1"));
  return [document.documentElement.scrollWidth, heading];
}"""
COUNTS = """() => [
  document.querySelectorAll("h1").length,
  document.querySelectorAll("[style], style, script:not([src])").length,
]"""
PHONE = {"width": 380, "height": 780}
DESK = {"width": 1280, "height": 720}

RULES = tuple(f"/games/{game}/rules" for game in GAMES)
PATHS = (
    "/help",
    "/docs/api",
    "/problems",
    "/lobby",
    "/leaderboards",
    "/games/bashni",
    *RULES,
    "/players/opponent-4",
    "/matches",
    "/matches?view=finished&against=nobody",
    "/matches/new",
    "/settings",
    "/cases",
)
STRANGERS_PATHS = ("/", "/sign-in", "/sign-up", "/nothing")


class Seen(NamedTuple):
    """What was found on one page."""

    path: str
    width_on_phone: int
    heading_on_phone: bool
    main_headings: int
    inline: int
    faults: list[str]
    faults_in_dark: list[str]


@pytest.fixture(scope="module")
def seen(house: Installation, browser: Browser) -> list[Seen]:
    """Return what is found on every kind of page, each loaded once, in all states of a match."""
    stranger, person, other = (Visitor(browser, house) for _ in range(3))
    found = [look_at(stranger.page, path) for path in STRANGERS_PATHS]
    person.sign_up()
    other.be_guest()
    Administration(store_from(house.settings).client, house.settings.prefix, now_ms).grant(
        person.call("GET", "/me")["id"], "arbiter", "console"
    )
    found += [look_at(person.page, path) for path in (*PATHS, f"/players/{person.name}", *matches_of(person, other))]
    assert stranger.leave() + person.leave() + other.leave() == []
    for visitor in (stranger, person, other):
        visitor.close()
    return found


def matches_of(person: Visitor, other: Visitor) -> list[str]:
    """Return the paths of matches of all games that are played, and of one in each other state."""
    invited = {"kind": "player", "name": other.name}
    playing = {}
    for game in GAMES.values():
        setup = game.setups.get("draft") or next(iter(game.setups.values()))
        seats: list[dict[str, Any]] = [{"kind": "me"}, invited, {"kind": "opponent", "level": 1}]
        seats += seats[-1:]
        playing[game.id] = person.create(game.id, setup.name, seats[: len(setup.seat_names)])
        other.call("POST", f"/matches/{playing[game.id]}/joins", {})
    bashni = playing["bashni"]
    person.move(bashni, "c3-d4")
    other.move(bashni, "b6-a5")
    person.call("POST", f"/matches/{bashni}/chat", {"text": "Good luck!"})
    other.call("POST", f"/matches/{bashni}/chat", {"text": "The same to you!"})
    laid = {"move": "d4-c5", "next": [{"move": "d6xb4", "then": "resign"}, {"move": "*", "then": "wait"}]}
    person.call("PUT", f"/matches/{bashni}/lines", {"lines": [laid]})
    open_match = person.create("towers", "four-player", [{"kind": "me"}, invited, {"kind": "open"}, {"kind": "open"}])
    left = person.create("bashni", "start", [{"kind": "me"}, invited])
    other.call("POST", f"/matches/{left}/joins", {})
    person.move(left, "c3-d4")
    person.call("PUT", f"/matches/{left}/lines", {"lines": [{"move": "b6-a5", "next": [{"move": "d4-c5"}]}]})
    other.move(left, "h6-g5")
    other.call("POST", f"/matches/{left}/draw-offers", {})
    finished = person.create("bashni", "start", [invited, {"kind": "me"}], private=True)
    other.call("POST", f"/matches/{finished}/joins", {})
    other.call("POST", f"/matches/{finished}/resignation", {})
    disputed = person.create("bashni", "start", [{"kind": "me"}, invited])
    other.call("POST", f"/matches/{disputed}/joins", {})
    person.move(disputed, "c3-d4")
    dispute = {"ground": "illegal-move", "ply": 1, "statement": "White moved twice."}
    other.call("POST", f"/matches/{disputed}/disputes", dispute)
    states = (*playing.values(), open_match, finished, disputed)
    return [
        *(f"/matches/{match}" for match in states),
        f"/matches/{left}?ply=1",
        f"/matches/{bashni}#lines",
        f"/matches/{disputed}/case",
        f"/matches/{bashni}/record",
    ]


def look_at(page: Page, path: str) -> Seen:
    """Load a page once and look at it with everything unfolded, on a small phone, and on a desk by day and by night."""
    page.goto(path, wait_until="load")
    if path.endswith("#lines"):
        page.get_by_role("button", name="Change the lines").click()
        page.locator("#bench .tree button", has_text="d6xb4").click()
        expect(page.get_by_role("button", name="Accept a draw")).to_be_visible()
    page.evaluate(UNFOLD)
    page.set_viewport_size(PHONE)
    width, heading = page.evaluate(ON_PHONE)
    headings, inline = page.evaluate(COUNTS)
    page.evaluate(PRUNE)
    page.set_viewport_size(DESK)
    page.evaluate(AXE_SCRIPT)
    if path in RULES[1:]:  # long, and coloured like the first
        return Seen(path, width, heading, headings, inline, page.evaluate(AXE, WITHOUT_CONTRAST), [])
    faults = page.evaluate(AXE, ALL_RULES)
    page.emulate_media(color_scheme="dark")
    faults_in_dark = page.evaluate(AXE, CONTRAST_RULE)
    page.emulate_media(color_scheme="light")
    return Seen(path, width, heading, headings, inline, faults, faults_in_dark)


def test_every_page_shows_itself_on_a_small_phone_and_none_scrolls_sideways(seen):
    assert [each.path for each in seen if not each.heading_on_phone] == []
    assert {each.path: each.width_on_phone for each in seen if each.width_on_phone > PHONE["width"]} == {}


def test_axe_finds_no_fault_on_any_page(seen):
    assert {each.path: each.faults for each in seen if each.faults} == {}


def test_every_text_stands_out_from_its_background_by_night_too(seen):
    assert {each.path: each.faults_in_dark for each in seen if each.faults_in_dark} == {}


def test_every_page_has_one_main_heading_and_no_inline_style_or_script(seen):
    assert {each.path: each.main_headings for each in seen if each.main_headings != 1} == {}
    assert {each.path: each.inline for each in seen if each.inline} == {}
