"""Accessibility of every kind of page, on phones and desktops, in light and dark colours."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Browser, ViewportSize, expect

from domain.games import GAMES
from events.installation import Installation
from events.people.administration import ARBITER, OPERATOR, Administration
from events.runtime.wall_clock import now_ms
from events.store.archive.store import make_store
from tests.e2e.visitors import SCRIPTS, SharedInstallation, Visitor
from tests.support.draws import draws_all
from tests.support.eventually import eventually
from tests.support.short_review import store_review
from tests.support.stored_tournaments import store_tournament
from tests.support.tournaments import TWO_SEATS

AXE = """async (rules) => {
  const found = await axe.run({resultTypes: ["violations"], preload: false, ...rules});
  return found.violations.flatMap(({id, nodes}) => nodes.map((node) => `${id}: ${node.target.join(" ")}`));
}"""
"""The violations that axe finds, each with the rule and the element."""

RULES_OF_FORM = {
    "rules": {
        "target-size": {"enabled": True}, "label-content-name-mismatch": {"enabled": True},
        "focus-order-semantics": {"enabled": True}, "p-as-heading": {"enabled": True},
        "table-fake-caption": {"enabled": True}, "td-has-header": {"enabled": True},
        "color-contrast": {"enabled": False},
    }
}  # fmt: skip
"""The rules of WCAG 2.2 AA, best practices, and the experimental rules that these pages can break."""

RULE_OF_COLOUR = {"runOnly": ["color-contrast"]}
"""This rule takes far longer than all others: it is applied to one of the elements that look alike."""

UNFOLD = "() => { for (const each of document.querySelectorAll('main details')) each.open = true; }"
PRUNE = """() => {
  for (const picture of document.querySelectorAll("svg[role=img]")) picture.replaceChildren();
  const alike = document.querySelectorAll(".api > section:nth-of-type(n + 3), .api-operation:nth-of-type(n + 3)");
  for (const each of alike) each.remove();
}"""
"""What axe skips: drawings that a label describes completely, and most operations of the API."""

THIN_OUT = (SCRIPTS / "thin-out.js").read_text()
"""Keep one of the siblings that look alike and whose children do."""

ON_PHONE = """() => {
  scrollTo(0, 0);
  const {left, top, width, height} = document.querySelector("h1").getBoundingClientRect();
  const heading = Boolean(document.elementFromPoint(left + width / 2, top + height / 2)?.closest("h1"));
  return [document.documentElement.scrollWidth, heading];
}"""
COUNTS = """() => [
  document.querySelectorAll("h1").length,
  document.querySelectorAll("[style], style, script:not([src], [type='application/json'])").length,
]"""
PHONE: ViewportSize = {"width": 380, "height": 780}
DESK: ViewportSize = {"width": 1280, "height": 720}

RULES = tuple(f"/games/{game}/rules" for game in GAMES)

LONG_PATHS = (*RULES, "/docs/api", "/problems")
STRANGERS_PATHS = ("/", "/sign-in", "/sign-up", "/password-reset", "/settings", "/nothing")
PATHS = (
    "/help", "/offline", "/docs/api", "/problems", "/verify", "/lobby", "/leaderboards", "/games/bashni", *RULES,
    "/games/bashni/first-steps", "/games/bashni/first-steps/take", "/games/bashni/strategy",
    "/games/bashni/puzzles",
    "/players/opponent-4", "/players/{name}", "/players/{name}/ratings/bashni-2", "/matches", "/matches/new",
    "/seeks", "/seeks/{seek}", "/people", "/tournaments", "/tournaments/new", "/tournaments/{tournament}",
    "/matches?view=finished&against=nobody", "/settings", "/settings/notices", "/notices", "/cases", "/cases#menu",
    *(f"/matches/{{{game}}}" for game in GAMES), "/matches/{open}", "/matches/{finished}", "/matches/{disputed}",
    "/matches/{reviewed}",
    "/matches/{left}?ply=1", "/matches/{bashni}#lines", "/matches/{disputed}/case", "/matches/{bashni}/record",
)  # fmt: skip
"""The kinds of pages and the states of a match; names in braces are those of ``Party.names``."""

ALIKE = (*RULES[1:], *(f"/matches/{{{game}}}" for game in [*GAMES][1:]))
"""Pages that are those of other games with other boards: they are left to the full profile."""


class Party(NamedTuple):
    """The viewer of the pages, and the ids of the person and the matches that the paths name."""

    stranger: Visitor
    person: Visitor
    names: dict[str, str]


@pytest.fixture(scope="module")
def party(installation: SharedInstallation, browser: Browser) -> Iterator[Party]:
    """Return a stranger and an arbiter with matches of all kinds; no browser may have reported an error."""
    stranger, person, other = (Visitor(browser, installation) for _ in range(3))
    person.sign_up()
    other.be_guest()
    settings = installation.settings
    administration = Administration(make_store(settings).client, settings.prefix, now_ms)
    for role in (ARBITER, OPERATOR):
        administration.grant(person.call("GET", "/me")["id"], role, "console")
    matches = matches_of(person, other)
    store_review(Installation(settings), matches["reviewed"])
    wanted = {"games": ["bashni/start", "towers/two-player"], "seats": 2, "rated": False}
    seek = other.call("POST", "/seeks", wanted)["id"]
    full = replace(TWO_SEATS, most=5)
    tournament = store_tournament(Installation(settings), person.call("GET", "/me")["id"], full)
    eventually(lambda: person.call("GET", f"/tournaments/{tournament}")["pairings"], "a tournament that has started")
    yield Party(stranger, person, {"name": person.name, "seek": seek, "tournament": tournament, **matches})
    complaints = [complaint for visitor in (stranger, person, other) for complaint in visitor.leave()]
    for visitor in (stranger, person, other):
        visitor.close()
    assert complaints == []


def matches_of(person: Visitor, other: Visitor) -> dict[str, str]:
    """Return matches of all games that are being played, by the id of the game, and one in each other state."""
    invited = {"kind": "player", "name": other.name}
    matches = {}
    for game in GAMES.values():
        setup = next(iter(game.setups.values()))
        seats: list[dict[str, Any]] = [{"kind": "me"}, invited, *[{"kind": "opponent", "level": 1}] * 2]
        matches[game.id] = person.create(game.id, setup.name, seats[: len(setup.seat_names)])
    matches["left"] = person.create("bashni", "start", [{"kind": "me"}, invited])
    matches["finished"] = person.create("bashni", "start", [invited, {"kind": "me"}], private=True)
    matches["disputed"] = person.create("bashni", "start", [{"kind": "me"}, invited])
    matches["reviewed"] = person.create("bashni", "start", [{"kind": "me"}, invited])
    for match_id in matches.values():
        other.call("POST", f"/matches/{match_id}/joins", {})
    matches["open"] = person.create("towers", "four-player", [{"kind": "me"}, invited, *[{"kind": "open"}] * 2])

    person.move(matches["bashni"], "c3-d4")
    other.move(matches["bashni"], "b6-a5")
    person.call("POST", f"/matches/{matches['bashni']}/chat", {"text": "Good luck!"})
    other.call("POST", f"/matches/{matches['bashni']}/chat", {"text": "The same to you!"})
    laid = {"move": "d4-c5", "next": [{"move": "d6xb4", "then": "resign"}, {"move": "*", "then": "wait"}]}
    person.call("PUT", f"/matches/{matches['bashni']}/lines", {"lines": [laid]})
    person.move(matches["left"], "c3-d4")
    laid = {"move": "b6-a5", "next": [{"move": "d4-c5"}]}
    person.call("PUT", f"/matches/{matches['left']}/lines", {"lines": [laid]})
    other.move(matches["left"], "h6-g5")
    other.call("POST", f"/matches/{matches['left']}/draw-offers", {})
    other.call("POST", f"/matches/{matches['finished']}/resignation", {})
    for player, move in ((person, "c3-d4"), (other, "b6-a5"), (person, "a3-b4")):
        player.move(matches["reviewed"], move)
    other.call("POST", f"/matches/{matches['reviewed']}/resignation", {})
    person.move(matches["disputed"], "c3-d4")
    dispute = {"ground": "illegal-move", "ply": 1, "statement": "White moved twice."}
    other.call("POST", f"/matches/{matches['disputed']}/disputes", dispute)
    return matches


@pytest.mark.sampled
@pytest.mark.parametrize(
    "path",
    [*(f"stranger {path}" for path in STRANGERS_PATHS), *(path for path in PATHS if draws_all() or path not in ALIKE)],
)
def test_a_page_is_accessible_on_phones_and_desktops_in_light_and_dark_colours(path: str, party: Party) -> None:
    """All details are open; each page is loaded once. Colours take longest: dark ones are left to the full profile."""
    *strange, path = path.split(" ")
    page = (party.stranger if strange else party.person).page
    page.goto(path.format_map(party.names), wait_until="load")
    if path.endswith("#lines"):
        page.get_by_role("button", name="Change them").click()
        page.locator("#analysis .tree button", has_text="d6xb4").click()
        expect(page.get_by_role("button", name="Accept a draw")).to_be_visible()
    page.evaluate(UNFOLD)
    if path == "/matches/{reviewed}":
        expect(page.locator("#review svg")).to_be_visible()
        page.evaluate(UNFOLD)
    page.set_viewport_size(PHONE)
    width, heading_is_seen = page.evaluate(ON_PHONE)
    assert width <= PHONE["width"], "it scrolls sideways"
    assert heading_is_seen
    main_headings, inline = page.evaluate(COUNTS)
    assert main_headings == 1
    assert inline == 0, "the policy of these pages forbids inline styles and scripts"

    page.set_viewport_size(DESK)
    page.evaluate(PRUNE)
    if path in LONG_PATHS:
        page.evaluate(THIN_OUT)
    if path.endswith("#menu"):
        page.locator("#menu summary").click()
    page.evaluate(AXE_SCRIPT)
    assert page.evaluate(AXE, RULES_OF_FORM) == []
    page.evaluate(THIN_OUT)
    assert page.evaluate(AXE, RULE_OF_COLOUR) == []
    if draws_all():
        page.emulate_media(color_scheme="dark")
        faults_in_dark = page.evaluate(AXE, RULE_OF_COLOUR)
        page.emulate_media(color_scheme="light")
        assert faults_in_dark == []
