"""Stepping through a match and replaying it in the page, with the boards that the server would draw."""

import random
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from api.pages.static_files import VERSION
from domain.games import GAMES
from domain.scene import Scene
from events.pictures.board import Trace, draw
from events.pictures.steps import board_of, steps_between
from tests.e2e.visitors import SCRIPTS, WINDOW, Visitor

PLIES = 8
MOVES = ("c3-d4", "b6-a5", "d4-c5", "d6xb4", "a3xc5", "a5xc3")

COMPARE = (SCRIPTS / "compare.js").read_text()


def case(game: Any, setup: str, quarters: int, seed: int) -> dict[str, Any]:
    """Return the boards of a random game as the server draws them, and the steps between them."""
    chance, positions, moves = random.Random(seed), [game.initial(setup)], list[str]()
    while len(moves) < PLIES and (legal := list(game.legal_moves(positions[-1]))):
        moves.append(chance.choice(legal))
        positions.append(game.play(positions[-1], moves[-1]))
    colours = game.setups[setup].colours
    views = list[tuple[Scene, dict[str, Any]]]()
    for ply, position in enumerate(positions):
        scene = game.scene(position)
        squares = [cell.square for cell in scene.cells]
        traces = [
            Trace(game.to_move(positions[each]), *([square] for square in chance.sample(squares, 3)))
            for each in range(max(0, ply - 3), ply)
        ]
        views.append((scene, {"quarters": quarters, "traces": traces}))
    return {
        "name": f"{game.id}, {setup}, {quarters} quarters",
        "boards": [str(draw(scene, colours, **view)) for scene, view in views],
        "steps": steps_between([board_of(scene, colours, **view) for scene, view in views], colours, 0),
    }


def test_every_board_reached_by_steps_equals_the_one_that_the_server_draws(visit: Callable[..., Visitor]) -> None:
    cases = [
        case(game, setup, number % 4, 7 + number)
        for number, (game, setup) in enumerate((game, setup) for game in GAMES.values() for setup in game.setups)
    ]
    page = visit().page
    page.goto("/help")
    assert page.evaluate(COMPARE, [f"/static/{VERSION}/board-steps.js", cases]) == []


@pytest.mark.thorough
def test_stepping_and_replaying_need_no_requests(visit: Callable[..., Visitor]) -> None:
    white, black = visit(viewport=WINDOW).be_guest(), visit().be_guest()  # a clock is installed into a browser for good
    match_id = white.play_bashni(black)
    for ply, move in enumerate(MOVES):
        (white, black)[ply % 2].move(match_id, move)
    white.page.clock.install()
    white.page.route("**/stream?*", lambda _: None)  # it stays away, lest anything else ask while requests are counted
    with white.page.expect_response("**/chat?*"):
        page = white.open(match_id)
    expect(page.locator("#player")).to_be_hidden()
    expect(page.locator(".can-begin").first).to_be_visible()
    white.square("a1").hover()  # the names of pieces are loaded when one is first pointed at
    expect(page.get_by_role("link", name="How it moves")).to_be_visible()
    page.clock.pause_at(page.evaluate("Date.now() / 1000 + 1"))
    page.locator("#announcements").evaluate("said => said.replaceChildren()")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))

    page.get_by_role("button", name="One move back").click()
    expect(page.locator("#shown")).to_have_text("5 / 6")
    expect(page.locator("#past")).to_contain_text("after move 5 of 6")
    expect(page.locator("#moves [aria-current]")).to_have_attribute("data-ply", "5")
    expect(page.locator("#announcements")).to_have_text("After move 5 of 6: a3xc5.")
    expect(page).to_have_url(f"{white.installation.url}/matches/{match_id}?ply=5")
    expect(page.locator(".can-begin")).to_have_count(0)
    page.get_by_role("button", name="Back to now").click()
    expect(page.locator("#past p")).to_be_hidden()
    expect(page.locator(".can-begin").first).to_be_visible()
    assert asked == []

    page.get_by_role("button", name="To the start").click()
    expect(page.locator("#shown")).to_have_text("0 / 6")
    expect(white.square("d4")).to_have_attribute("aria-label", "d4: empty")
    assert [url.partition(match_id)[2].partition("&")[0] for url in asked] == ["/plies?from=0"]
    asked.clear()
    page.get_by_role("button", name="Replay the moves").click()
    page.clock.run_for(1000)
    expect(page.locator("#shown")).to_have_text("1 / 6")
    page.get_by_label("Speed").select_option("4 moves a second")
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    page.clock.run_for(1000 + 4 * 250)
    expect(page.locator("#shown")).to_have_text("6 / 6")
    expect(page.get_by_role("button", name="Replay the moves")).to_be_visible()
    expect(page.get_by_role("slider", name="Move shown")).to_have_value("6")

    page.get_by_role("slider", name="Move shown").fill("2")
    expect(page.locator("#shown")).to_have_text("2 / 6")
    page.locator("h1").click()
    page.keyboard.press(" ")
    page.clock.run_for(250)
    expect(page.locator("#shown")).to_have_text("3 / 6")
    white.square("a1").click()
    expect(page.get_by_role("button", name="Replay the moves")).to_be_visible()
    page.clock.run_for(1000)
    expect(page.locator("#shown")).to_have_text("3 / 6")
    assert asked == []

    page.get_by_text("More about this match").click()
    page.get_by_text("The board as text").click()
    expect(page.locator("#diagram")).to_have_attribute("data-ply", "3")
    assert page.locator("#diagram pre").text_content() == white.call("GET", f"/matches/{match_id}?ply=3")["diagram"]
    page.reload()
    expect(page.get_by_label("Speed")).to_have_value("4")
