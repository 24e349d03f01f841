"""A dispute from the player who raises it to the arbiter's ruling, in the pages."""

from collections.abc import Callable

from playwright.sync_api import expect

from events.people.administration import Administration
from events.runtime.wall_clock import now_ms
from events.store.archive.store import make_store
from tests.e2e.visitors import SharedInstallation, Visitor


def test_a_dispute_is_raised_answered_and_ruled_on_in_the_pages(
    installation: SharedInstallation, visit: Callable[..., Visitor], pair: tuple[Visitor, Visitor, str]
) -> None:
    white, black, match_id = pair
    white.move(match_id, "c3-d4")
    black.move(match_id, "b6-a5")
    page = black.page
    page = black.open(match_id)
    page.get_by_text("More about this match").click()
    page.get_by_role("link", name="Report a problem").click()
    page.get_by_label("It is about").select_option("illegal-move")
    page.get_by_role("button", name="Raise the dispute").click()
    expect(page.locator("#statement-error")).not_to_be_empty()
    page.get_by_label("What happened").fill("White moved twice.")
    page.get_by_role("button", name="Raise the dispute").click()
    expect(page.get_by_text("The match is frozen.")).to_be_visible()
    expect(page.get_by_text("White moved twice.")).to_be_visible()
    expect(white.open(match_id).get_by_text("The match is frozen")).to_be_visible()

    arbiter = visit().sign_up()
    settings = installation.settings
    Administration(make_store(settings).client, settings.prefix, now_ms).grant(
        arbiter.call("GET", "/me")["id"], "arbiter", "console"
    )
    page = arbiter.page
    page.goto("/")
    page.locator("#menu summary").click()
    page.get_by_role("link", name="Cases").click()
    page.get_by_role("link", name=f"Bashni: {white.name}").click()
    expect(page.get_by_role("img", name="Case 1, after move 2")).to_be_visible()
    page.get_by_label("Ruling").select_option("take-back")
    page.get_by_label("The match continues after move number").fill("1")
    page.locator("#reason").fill("The second move was made in error.")
    page.get_by_label("By which rule").fill("BA-02")
    page.get_by_role("button", name="Give this ruling").click()
    expect(page.get_by_text("Take back to an earlier move").first).to_be_visible()
    expect(page.get_by_text("The match is frozen.")).to_have_count(0)

    page = visit().page
    page.goto(f"/matches/{match_id}/case")
    expect(page.get_by_text("The second move was made in error.")).to_be_visible()
    expect(page.get_by_text("White moved twice.")).to_have_count(0)
    assert black.call("GET", f"/matches/{match_id}")["ply"] == 1

    page.locator("main").get_by_role("link", name="Bashni").click()
    page.get_by_text("More about this match").click()
    page.get_by_role("link", name="Game record").click()
    expect(page.get_by_text("the rules confirm each of them")).to_be_visible()
    expect(page.get_by_text("Moves taken back")).to_be_visible()
    expect(page.locator("li", has_text="Match created")).to_contain_text(f"White: {white.name}; Black: {black.name}")
    page.get_by_text("Positions and boards").first.click()
    expect(page.get_by_text("Black to move").first).to_be_visible()
    assert page.goto(f"/matches/{match_id}/record?from=999").status == 404
