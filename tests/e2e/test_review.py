"""The review of a finished match on its page: the graph steps the board, and keys go to the turning points."""

import re

from playwright.sync_api import expect

from events.installation import Installation
from tests.e2e.visitors import SharedInstallation, Visitor
from tests.support.short_review import store_review

MOVES = ("c3-d4", "b6-a5", "a3-b4", "a5xc3xe5")


def test_the_graph_of_a_review_steps_the_board(
    pair: tuple[Visitor, Visitor, str], installation: SharedInstallation
) -> None:
    white, black, match = pair
    for ply, move in enumerate(MOVES):
        (white, black)[ply % 2].move(match, move)
    white.call("POST", f"/matches/{match}/resignation", {})
    store_review(Installation(installation.settings), match)
    page, board = white.page, white.page.locator("#board")
    page.goto(f"/matches/{match}")
    page.get_by_text("Review by the engine").click()
    graph = page.get_by_role("img", name="The points that each seat could expect")
    graph.click(position={"x": 2, "y": 20})
    expect(board).to_have_attribute("data-shown", "0")
    page.locator("#review").get_by_role("link", name="3", exact=True).first.click()
    expect(board).to_have_attribute("data-shown", "3")
    page.get_by_text("The graph as a table").click()
    expect(page.get_by_role("row", name=re.compile("4 Black: a5xc3xe5 +forced"))).to_be_visible()


def test_a_page_that_waits_for_a_review_asks_again_after_a_failure(
    pair: tuple[Visitor, Visitor, str], installation: SharedInstallation
) -> None:
    white, _, match = pair
    white.move(match, MOVES[0])
    white.call("POST", f"/matches/{match}/resignation", {})
    store_review(Installation(installation.settings), match)
    page, requests = white.page, "**/api/v1/matches/*/review"
    page.route(requests, lambda route: route.fulfill(json={"state": "asked", "digest": None, "review": None}))
    page.clock.install()
    page.goto(f"/matches/{match}")
    page.get_by_text("Review by the engine").click()
    status = page.locator("#review").get_by_role("status")
    expect(status).to_contain_text("The engine examines every move.")
    page.route(requests, lambda route: route.abort())
    page.clock.run_for(5_000)
    expect(status).to_contain_text("The server cannot be reached.")
    page.unroute_all()
    page.clock.run_for(5_000)
    expect(page.get_by_role("img", name="The points that each seat could expect")).to_be_visible()
