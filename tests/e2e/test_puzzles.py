"""Puzzles: played by touch and with the keyboard, counted once, and again when they are due."""

import re
from collections.abc import Callable

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page, ViewportSize, expect

from api.operations.puzzles import puzzles_of
from domain.games import GAMES
from domain.puzzles.puzzle import Puzzle
from tests.e2e.test_every_page import AXE
from tests.e2e.test_learning import DESK, PHONE, goal, said
from tests.e2e.visitors import OVERFLOW, Visitor
from tests.support.eventually import eventually

DAY_MS = 24 * 3600 * 1000


def solve(page: Page, puzzle: Puzzle) -> None:
    for ply, move in enumerate(puzzle.line):
        if ply % 2:
            expect(said(page)).to_contain_text(f"The answer is {move}.")
            continue
        page.get_by_label("Type a move").fill(move)
        page.get_by_label("Type a move").press("Enter")


def test_a_puzzle_that_was_missed_counts_once_and_comes_again_in_three_days(visit: Callable[..., Visitor]) -> None:
    page = visit(viewport=PHONE, has_touch=True).page
    puzzle = next(puzzle for puzzle in puzzles_of("bashni").values() if len(puzzle.line) > 2)
    address = f"/games/bashni/puzzles/{puzzle.id}"
    page.goto(address)
    expect(goal(page)).to_have_text("Find the best move.")
    game, position = GAMES["bashni"], GAMES["bashni"].parse_position(puzzle.position)
    legal = [game.format_move(position, move) for move in game.legal_moves(position)]
    page.get_by_label("Type a move").fill(next(move for move in legal if move != puzzle.line[0]))
    page.keyboard.press("Enter")
    expect(said(page)).to_contain_text("there is a much better move")
    expect(page.locator("[data-part=known]")).to_have_text("Missed today.")
    solve(page, puzzle)
    expect(page.get_by_role("link", name="Next puzzle")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    page.goto("/games/bashni/puzzles")
    expect(page.locator(f"[data-id='{puzzle.id}'] .tick")).to_have_text("Missed today.")
    page.evaluate(
        "days => { const all = JSON.parse(localStorage['puzzles/bashni']); for (const one of Object.values(all)) { "
        "one.at -= days; one.due -= days; } localStorage['puzzles/bashni'] = JSON.stringify(all); }",
        3 * DAY_MS,
    )
    page.reload()
    page.get_by_role("link", name="Begin").tap()
    expect(page).to_have_url(f"{page.url.partition('/games')[0]}{address}")
    expect(page.locator("[data-part=known]")).to_have_text("Again: missed 3 days ago.")


@pytest.mark.parametrize("game_id", [game_id for game_id in GAMES if puzzles_of(game_id)])
def test_the_puzzle_of_the_day_is_solved_with_the_keyboard(game_id: str, visit: Callable[..., Visitor]) -> None:
    page = visit(viewport=DESK).page
    page.goto(f"/games/{game_id}/puzzles")
    page.evaluate(AXE_SCRIPT)
    assert page.evaluate(AXE, {}) == []
    page.get_by_role("link", name="Puzzle of the day").press("Enter")
    puzzle = puzzles_of(game_id)[page.url.rpartition("/")[2]]
    solve(page, puzzle)
    expect(said(page)).to_contain_text("Solved")
    expect(page.locator("[data-part=known]")).to_have_text("")
    page.evaluate(AXE_SCRIPT)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        assert page.evaluate(AXE, {}) == []


@pytest.mark.parametrize(("window", "touch"), [(PHONE, True), (DESK, False)], ids=["phone", "desk"])
def test_with_an_account_the_first_attempt_is_rated_and_the_next_one_is_not(
    window: ViewportSize, touch: bool, visit: Callable[..., Visitor]
) -> None:
    visitor = visit(viewport=window, has_touch=touch)
    page = visitor.page
    first, second, third = list(puzzles_of("bashni").values())[:3]
    page.goto(f"/games/bashni/puzzles/{first.id}")
    expect(goal(page)).to_have_text("Find the best move.")
    page.get_by_role("button", name="Hint").press("Enter")
    expect(page.locator("[data-part=known]")).to_have_text("Missed today.")
    visitor.sign_up()
    page.goto(f"/games/bashni/puzzles/{second.id}")
    counts = page.locator("[data-part=counts]")
    expect(counts).to_have_text("Your first attempt counts.")
    solve(page, second)
    expect(counts).to_have_text(re.compile(r"^Your rating as a solver: 1500 → 1[5-9]\d\d\.$"))
    expect(page.locator("[data-part=known]")).to_have_text("Solved today.")
    page.evaluate(AXE_SCRIPT)
    assert page.evaluate(AXE, {}) == []
    assert page.evaluate(OVERFLOW) <= 0
    page.goto(f"/games/bashni/puzzles/{third.id}")
    expect(counts).to_have_text("Your first attempt counts.")
    page.get_by_role("button", name="Hint").press("Enter")
    expect(counts).to_have_text(re.compile(r"^Your rating as a solver: 1[5-9]\d\d → \d{3,4}\.$"))
    solve(page, third)
    expect(page.get_by_role("link", name="Next puzzle")).to_be_visible()
    expect(page.locator("[data-part=known]")).to_have_text("Missed today.")
    page.goto("/games/bashni/puzzles")
    results = [page.locator(f"[data-id='{puzzle.id}'] .tick") for puzzle in (first, second, third)]
    for result, words in zip(results, ("Missed today.", "Solved today.", "Missed today."), strict=True):
        expect(result).to_have_text(words)
    expect(page.get_by_text("Your rating as a solver: ")).to_contain_text("after 2 first attempts.")
    page.evaluate(AXE_SCRIPT)
    assert page.evaluate(AXE, {}) == []
    assert page.evaluate("localStorage.getItem('puzzles/bashni')") is None, "the account has taken it over"


def test_leaving_after_the_first_move_is_a_miss_of_the_account(visit: Callable[..., Visitor]) -> None:
    visitor = visit()
    visitor.sign_up()
    page = visitor.page
    puzzle = next(puzzle for puzzle in puzzles_of("bashni").values() if len(puzzle.line) > 2)
    page.goto(f"/games/bashni/puzzles/{puzzle.id}")
    expect(page.locator("[data-part=counts]")).to_have_text("Your first attempt counts.")
    page.get_by_label("Type a move").fill(puzzle.line[0])
    page.keyboard.press("Enter")
    expect(said(page)).to_contain_text(f"The answer is {puzzle.line[1]}.")
    page.goto("/games/bashni/puzzles")

    def listed() -> bool:
        page.reload()
        return page.locator(f"[data-id='{puzzle.id}'] .tick").text_content() == "Missed today."

    eventually(listed, "the miss in the list")
