"""A device that signs: moves, conditional moves and acts, silently, with a key of the browser."""

import json
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, expect

from events.people.administration import Administration
from events.proof.verification import verify
from events.runtime.wall_clock import now_ms
from events.store.archive.store import make_store
from tests.e2e.visitors import SharedInstallation, Visitor

READ_KEY = """() => new Promise((resolve) => {
  const opening = indexedDB.open("rookery", 1);
  opening.onsuccess = () => {
    const all = opening.result.transaction("keys").objectStore("keys").getAll();
    all.onsuccess = async () =>
      resolve(await crypto.subtle.exportKey("jwk", all.result[0]).then(() => "read", (error) => error.name));
  };
})"""
"""What a script gets that tries to read the key."""


@pytest.fixture
def anna(installation: SharedInstallation, browser: Browser) -> Iterator[Visitor]:
    visitor = Visitor(browser, installation)
    yield visitor.sign_up()
    visitor.close()


def let_sign(anna: Visitor) -> None:
    """Switch signing on for the device of ``anna``."""
    page = anna.page
    page.goto("/settings")
    section = page.locator("#player-keys")
    section.get_by_label("Name of this device").fill("The grey telephone")
    section.get_by_label("Your password").fill("not my password")
    section.get_by_role("button", name="Sign on this device").click()
    expect(section).to_contain_text("Is not your password")
    section.get_by_label("Your password").fill("a tower of words")
    section.get_by_role("button", name="Sign on this device").click()
    expect(section.get_by_text("This device signs with it")).to_be_visible()
    expect(section.get_by_role("button", name="Sign on this device")).to_be_hidden()


def signed_steps(anna: Visitor, match_id: str) -> str:
    """Return what a verifier says about signatures of players."""
    packed = anna.context.request.get(f"/api/v1/matches/{match_id}/bundle").body()
    return {step.name: step.finding for step in verify(packed)}.get("player keys", "")


def test_moves_and_conditional_moves_are_signed_silently_on_a_device_that_signs(
    anna: Visitor, visit: Callable[..., Visitor]
) -> None:
    page, black = anna.page, visit().be_guest()
    let_sign(anna)
    assert page.evaluate(READ_KEY) == "InvalidAccessError"
    match_id = anna.play_bashni(black)
    anna.open(match_id)
    page.locator("#typed").fill("c3-d4")
    page.get_by_role("button", name="Preview").click()
    page.locator("#submit").click()
    expect(page.locator("#standing")).to_contain_text("Waiting for")
    assert "move of" in signed_steps(anna, match_id)
    assert "(version 4)" in signed_steps(anna, match_id)

    page.get_by_role("button", name="Enter conditional moves").click()
    for move in ("b6-a5", "d4-c5"):
        page.locator("#typed").fill(move)
        page.get_by_role("button", name="Add", exact=True).click()
        expect(page.locator("#analysis")).to_contain_text(move)
    page.locator("#analysis").get_by_role("button", name="Save").click()
    expect(page.locator("#announcements")).to_contain_text("Your conditional moves are saved")
    black.move(match_id, "b6-a5")
    assert "(versions 4, 6)" in signed_steps(anna, match_id)
    record = page.goto(f"/matches/{match_id}/record")
    assert record is not None
    expect(page.get_by_text("by the player's key").first).to_be_visible()


@pytest.mark.thorough
def test_an_appeal_and_a_resignation_are_signed_and_nothing_is_once_the_key_is_removed(
    anna: Visitor, visit: Callable[..., Visitor], installation: SharedInstallation
) -> None:
    page, black, arbiter = anna.page, visit().be_guest(), visit().sign_up()
    let_sign(anna)
    match_id = anna.play_bashni(black)
    anna.move(match_id, "c3-d4")
    black.move(match_id, "b6-a5")
    black.call("POST", f"/matches/{match_id}/disputes", {"ply": 2, "ground": "conduct", "statement": "Not nice."})
    settings = installation.settings
    administration = Administration(make_store(settings).client, settings.prefix, now_ms)
    administration.grant(arbiter.call("GET", "/me")["id"], "arbiter", "console")
    arbiter.call("POST", f"/matches/{match_id}/rulings", {"ruling": "let-stand", "reason": "So be it.", "rule": "1"})
    page.goto(f"/matches/{match_id}/case")
    page.get_by_label("Why the ruling is wrong").fill("It was.")
    page.get_by_role("button", name="Appeal").click()
    expect(page.get_by_text("It was.")).to_be_visible()
    assert "appeal of" in signed_steps(anna, match_id)

    (key,) = json.loads(anna.context.request.get("/api/v1/me/player-keys").text())["items"]
    removed = anna.context.request.delete(f"/api/v1/me/player-keys/{key['id']}")  # as on another device
    assert removed.status == 204
    anna.open(match_id).get_by_role("button", name="Resign").click()
    page.locator("#ask-yes").click()
    expect(page.locator("#announcements")).to_contain_text("The key of this device was removed")
    assert anna.call("GET", f"/matches/{match_id}")["status"] == "playing"
    page.get_by_role("button", name="Resign").click()
    page.locator("#ask-yes").click()
    expect(page.locator("#standing")).to_contain_text("resign")
    assert "resignation" not in signed_steps(anna, match_id)
    page.goto("/settings")
    expect(page.get_by_role("button", name="Sign on this device")).to_be_visible()
