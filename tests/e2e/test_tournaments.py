"""A tournament is announced with the form, entered with the button, and its page follows."""

from collections.abc import Callable

from playwright.sync_api import expect

from events.people.administration import OPERATOR, Administration
from events.runtime.wall_clock import now_ms
from events.store.archive.store import make_store
from tests.e2e.visitors import SharedInstallation, Visitor

LOOK = "() => document.dispatchEvent(new Event('visibilitychange'))"
"""What the browser says when the page is looked at again; otherwise it asks every 20 seconds."""


def test_a_tournament_is_announced_entered_and_left_and_another_page_follows(
    visit: Callable[..., Visitor], installation: SharedInstallation
) -> None:
    organiser, player = visit(), visit()
    for visitor in (organiser, player):
        visitor.sign_up()
    settings = installation.settings
    roles = Administration(make_store(settings).client, settings.prefix, now_ms)
    roles.grant(organiser.call("GET", "/me")["id"], OPERATOR, "console")
    player.page.goto("/tournaments/new")
    expect(player.page.get_by_text("has finished 10 matches; you have 0")).to_be_visible()
    page = organiser.page
    page.goto("/tournaments/new")
    page.get_by_label("Title").fill("x")
    page.get_by_role("button", name="Announce").click()
    expect(page.locator("[data-error-for=title]")).not_to_be_empty()
    page.get_by_label("Title").fill("Tournament of the browser")
    page.get_by_label("Game").select_option("fourplay/standard")
    expect(page.get_by_label("Form", exact=True)).to_have_value("shifted")
    with page.expect_navigation(url="**/tournaments/tournament-*"):
        page.get_by_role("button", name="Announce").click()
    expect(page.get_by_role("heading", name="Tournament of the browser")).to_be_visible()
    expect(page.get_by_text("Nobody has entered yet.")).to_be_visible()
    player.page.goto(page.url)
    player.page.get_by_role("button", name="Enter").click()
    expect(player.page.get_by_role("button", name="Take my entry back")).to_be_visible()
    page.evaluate(LOOK)
    expect(page.get_by_text(f"{player.name} entered.")).to_be_visible()
    player.page.get_by_role("button", name="Take my entry back").click()
    expect(player.page.get_by_role("button", name="Enter")).to_be_visible()
    page.get_by_role("button", name="Cancel the tournament").click()
    expect(page.get_by_text("Cancelled by its organiser.").first).to_be_visible()
