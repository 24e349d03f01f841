"""Puzzles: played by touch and with the keyboard, counted once, and again when they are due."""

from collections.abc import Callable

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page, expect

from api.pages.learning.puzzles import Puzzle, puzzles_of
from domain.games import GAMES
from tests.e2e.test_every_page import AXE
from tests.e2e.test_learning import DESK, PHONE, goal, said
from tests.e2e.visitors import Visitor

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
