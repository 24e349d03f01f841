"""Acts that settle a match, signed in the pages: with a passkey of a simulated authenticator, and with a device key."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import pytest
from playwright.sync_api import Browser, Page, expect

from deploy.local.installation import LocalInstallation
from events.installation import make_store
from events.people.administration import Administration
from events.proof.verification import verify
from events.runtime.wall_clock import now_ms
from tests.e2e.visitors import Visitor

REFUSE_ONCE = """() => {
  navigator.credentials.get = async () => {
    delete navigator.credentials.get;
    throw new DOMException("", "NotAllowedError");
  };
}"""
"""What a browser answers when its person closes the dialog of a passkey."""


class ByName(NamedTuple):
    """The installation by a name: browsers know no passkeys of addresses."""

    url: str


@pytest.fixture
def anna(installation: LocalInstallation, browser: Browser) -> Iterator[Visitor]:
    """Return a person with an account."""
    visitor = Visitor(browser, ByName(installation.url.replace("127.0.0.1", "localhost")))
    yield visitor.sign_up()
    assert visitor.leave() == []
    visitor.close()


def simulate_authenticator(page: Page) -> None:
    """Let the browser of ``page`` simulate an authenticator whose person confirms everything."""
    session = page.context.new_cdp_session(page)
    session.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasUserVerification": True,
        "isUserVerified": True,
        "automaticPresenceSimulation": True,
    }
    session.send("WebAuthn.addVirtualAuthenticator", {"options": options})


def add_key(anna: Visitor, kind: str) -> None:
    """Add a key in the settings, and ask to be asked."""
    page = anna.page
    page.goto("/settings")
    section = page.locator("#player-keys")
    section.get_by_text("Add a key").click()
    section.get_by_label("Name of the key").fill("The grey telephone")
    section.get_by_label(kind).check()
    section.get_by_label("Your password").fill("not my password")
    section.get_by_role("button", name="Add the key").click()
    expect(section).to_contain_text("Is not your password")
    section.get_by_label("Your password").fill("a tower of words")
    section.get_by_role("button", name="Add the key").click()
    expect(section.get_by_text("The grey telephone")).to_be_visible()
    section.get_by_label("Ask me to sign").check()
    expect(section).to_contain_text("Saved.")


def begin(anna: Visitor, black: Visitor) -> str:
    """Return a match of the two after two plies, which can be resigned."""
    match_id = anna.play_bashni(black)
    anna.move(match_id, "c3-d4")
    black.move(match_id, "b6-a5")
    return match_id


def signed_steps(anna: Visitor, match_id: str) -> str:
    """Return what a verifier says about signatures of players."""
    packed = anna.context.request.get(f"/api/v1/matches/{match_id}/bundle").body()
    return {step.name: step.found for step in verify(packed)}.get("player keys", "")


def test_a_passkey_signs_what_its_player_confirms_and_can_be_refused_or_left_out(
    anna: Visitor, visit: Callable[..., Visitor]
) -> None:
    page, black = anna.page, visit().be_guest()
    simulate_authenticator(page)
    add_key(anna, "A passkey")
    match_id = begin(anna, black)
    anna.open(match_id)

    page.evaluate(REFUSE_ONCE)
    page.get_by_role("button", name="Resign").click()
    expect(page.get_by_label("Sign it with your key")).to_be_checked()
    page.locator("#ask-yes").click()
    expect(page.locator("#announcements")).to_contain_text("Your passkey was not used. Nothing was sent.")
    assert anna.call("GET", f"/matches/{match_id}")["status"] == "playing"

    page.get_by_role("button", name="Offer a draw").click()
    expect(page.get_by_label("Sign it with your key")).to_be_checked()
    page.get_by_label("Sign it with your key").uncheck()
    page.locator("#ask-yes").click()
    expect(page.get_by_role("button", name="Offer a draw")).to_have_count(0)
    assert signed_steps(anna, match_id) == ""

    page.get_by_role("button", name="Resign").click()
    page.locator("#ask-yes").click()
    expect(page.locator("#standing")).to_contain_text("resign")
    assert "by passkey" in signed_steps(anna, match_id)


def test_a_key_of_the_browser_signs_an_appeal_and_a_resignation(
    anna: Visitor, visit: Callable[..., Visitor], installation: LocalInstallation
) -> None:
    page, black, arbiter = anna.page, visit().be_guest(), visit().sign_up()
    add_key(anna, "In this browser")
    match_id = begin(anna, black)
    black.call("POST", f"/matches/{match_id}/disputes", {"ply": 2, "ground": "conduct", "statement": "Not nice."})
    settings = installation.settings
    administration = Administration(make_store(settings).client, settings.prefix, now_ms)
    administration.grant(arbiter.call("GET", "/me")["id"], "arbiter", "console")
    arbiter.call("POST", f"/matches/{match_id}/rulings", {"ruling": "let-stand", "reason": "So be it.", "rule": "1"})
    page.goto(f"/matches/{match_id}/case")
    page.get_by_label("Why the ruling is wrong").fill("It was.")
    expect(page.get_by_label("Sign it with your key")).to_be_checked()
    page.get_by_role("button", name="Appeal").click()
    expect(page.get_by_text("It was.")).to_be_visible()
    assert "appeal of" in signed_steps(anna, match_id)

    anna.open(match_id).get_by_role("button", name="Resign").click()
    page.locator("#ask-yes").click()
    expect(page.locator("#standing")).to_contain_text("resign")
    assert "resignation of" in signed_steps(anna, match_id)
    page.goto("/settings")
    page.get_by_role("button", name="Remove The grey telephone").click()
    expect(page.get_by_text("The grey telephone")).to_have_count(0)
