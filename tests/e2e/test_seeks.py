"""People who look for an opponent in the browser find each other by themselves."""

from collections.abc import Callable

from playwright.sync_api import expect

from tests.e2e.visitors import Visitor
from tests.support.eventually import eventually


def test_two_people_who_want_the_same_find_each_other_without_a_further_click(visit: Callable[..., Visitor]) -> None:
    first, second = visit(), visit()
    for visitor in (first, second):
        visitor.sign_up()
        page = visitor.page
        page.goto("/lobby")
        page.get_by_role("link", name="Find me an opponent").click()
        form = page.locator("form[data-api='POST /api/v1/seeks']").first
        form.get_by_label("Bashni").uncheck()
        form.get_by_label("Towers (Two players)").check()
        form.get_by_label("Days a move").fill("3")
        form.get_by_label("to", exact=True).first.fill("4")
        with page.expect_navigation():
            form.get_by_role("button", name="Find me an opponent").click()
    eventually(lambda: second.call("GET", "/me/matches?view=active")["items"], "a match of the two")
    second.page.goto("/matches")
    expect(second.page.get_by_text(first.name).first).to_be_visible()


def test_a_seek_that_nobody_answers_is_taken_by_hand_and_leads_to_its_match(visit: Callable[..., Visitor]) -> None:
    author, taker = visit(), visit()
    author.sign_up()
    taker.sign_up()
    wanted = {"games": ["four-towers/standard"], "seats": 2, "least_days": 29, "most_days": 30, "rated": True}
    seek = author.call("POST", "/seeks", wanted)["id"]
    page = taker.page
    page.goto(f"/seeks/{seek}")
    expect(page.get_by_role("row", name="Four Towers")).to_contain_text("+")
    page.get_by_role("button", name="Play").click()
    page.get_by_role("link", name="The match that came of it").click()
    expect(page.get_by_text(author.name).first).to_be_visible()
