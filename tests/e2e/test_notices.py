"""Notices in a browser: their settings, the ledger, what is in view, and the pages that mail links to.

The pages are served by this process: none of it needs a relay or workers.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

import pytest
from playwright.sync_api import Browser, expect

from api.services import EXTENSION, Services
from events.notify.addresses import wants
from events.notify.mail.tokens import PlayerToken, TokenKind, write_token
from events.notify.notice import DeliveryState, Notice, NoticeChannel, NoticeDelivery, NoticeKind, Timing
from events.runtime.settings import MailSettings
from tests.e2e.visitors import Visitor
from tests.support.callers import app_on
from tests.support.eventually import eventually
from tests.support.mailbox import open_mailbox
from tests.support.served_app import served
from tests.support.server import RealServer
from workers.composition import make_deliveries, make_mail_sender
from workers.notices.smtp import SmtpServer

HIDE = """() => {
  Object.defineProperty(document, "visibilityState", {value: "hidden", configurable: true});
  document.dispatchEvent(new Event("visibilitychange"));
}"""


class Site(NamedTuple):
    """An app of this process at ``url``, and what it works with."""

    url: str
    services: Services


@pytest.fixture
def site(server: RealServer) -> Iterator[Site]:
    """Return an app that a browser can reach, and whose stream is away: nothing listens at port 9.

    At the usual port may be that of an installation which somebody runs on this machine.
    """
    app = app_on(server.url)
    services = app.extensions[EXTENSION]
    services.settings = services.settings._replace(stream_url="http://127.0.0.1:9")
    with served(app) as url:
        yield Site(url, services)


@pytest.fixture
def anna(site: Site, browser: Browser) -> Iterator[Visitor]:
    """Return a person whose browser may report no error."""
    visitor = Visitor(browser, site).sign_up("Anna")
    yield visitor
    complaints = visitor.complaints
    visitor.close()
    assert complaints == []


def mailed_path(services: Services, address: str, begins: str) -> str:
    """Send the mails that are due over SMTP; return the path in that to ``address`` which ``begins`` so."""
    with open_mailbox() as mailbox:
        mail = MailSettings(mailbox.url, "mail.rookery.test")
        assert (
            make_deliveries(
                services, {NoticeChannel.MAIL: make_mail_sender(services, mail, SmtpServer(mail.smtp_url, mail.domain))}
            ).deliver_due()
            == 1
        )
        (message,) = mailbox.messages_to(address)
    text = message.get_body(("plain",))
    assert text is not None
    found = re.search(rf"{begins}\S+", text.get_content())
    assert found is not None
    return found[0]


def test_a_player_chooses_what_to_be_told_adds_a_webhook_and_has_a_notice_sent_again(site: Site, anna: Visitor) -> None:
    page, services, player = anna.page, site.services, anna.call("GET", "/me")["id"]
    page.goto("/settings/notices")
    page.get_by_label("Your turn, mail").select_option("Digest")
    page.get_by_label("Send nothing").check()
    page.get_by_label("until").select_option("09:00")
    page.get_by_role("button", name="Save").first.click()
    expect(page.locator("#timing-status")).to_have_text("Saved.")
    chosen = services.preferences.read(player)
    assert (chosen.mail[NoticeKind.TURN], chosen.quiet) == (Timing.DIGEST, (22, 9))

    page.get_by_text("Add a webhook").click()
    page.get_by_label("Address", exact=True).fill("http://bot.example.com")
    page.get_by_role("button", name="Add it").click()
    expect(page.locator("#new-webhook [data-error-for=url]")).not_to_be_empty()
    page.get_by_label("Address", exact=True).fill("https://bot.example.com/rookery")
    page.get_by_role("button", name="Add it").click()
    expect(page.locator(".secret code")).to_contain_text("whsec_")
    (webhook,) = services.endpoints.of(player)
    page.get_by_role("link", name="Send a test").click()
    page.wait_for_url("**/settings/webhooks/*")
    with page.expect_event("load"):  # the page loads itself again once the test is on its way
        page.get_by_role("button", name="Send a test").click()

    now = services.now()
    refused = NoticeDelivery(
        channel=NoticeChannel.WEBHOOK, target=webhook.id, state=DeliveryState.FAILED, reason="It was refused.", at=now
    )
    services.ledger.decide(
        Notice(
            id="n1", player=player, kind=NoticeKind.TURN, match=None, version=1, fact="f", summary="It is your turn.",
            reason="You want it at once.", at=now, decided_at=now, deliveries=(refused,),
        )
    )  # fmt: skip
    page.goto("/notices")
    expect(page.locator(".ledger")).to_contain_text("failed. It was refused.")
    page.get_by_role("button", name="Send now").click()
    expect(page.locator(".ledger")).to_contain_text("waiting. You asked for it to be sent again.")
    assert sorted(each.purpose for each in services.outbox.of(player)) == ["notice", "test"]


def test_the_server_knows_while_a_match_is_in_view(site: Site, anna: Visitor) -> None:
    player = anna.call("GET", "/me")["id"]
    match_id = anna.create("bashni", "start", [{"kind": "me"}, {"kind": "opponent", "level": 1}])

    def in_view() -> bool:
        return site.services.presence.watching(player, match_id, site.services.now())

    page = anna.open(match_id)
    eventually(in_view, "the report of a match in view")
    page.evaluate(HIDE)
    eventually(lambda: not in_view(), "the report of a hidden match")


def test_links_of_mails_stop_notices_and_change_a_forgotten_password_by_a_button(site: Site, anna: Visitor) -> None:
    page, services, player = anna.page, site.services, anna.call("GET", "/me")["id"]
    now = services.now()
    services.addresses.change(player, lambda stored: wants(stored, "anna@players.test", now))
    services.addresses.confirm(player, "anna@players.test", now)
    secret = services.addresses.secret(player)
    page.goto(f"/mail/stop/{write_token(PlayerToken(kind=TokenKind.UNSUBSCRIBE, player=player), secret)}")
    page.get_by_role("button", name="Stop them").click()
    expect(page.get_by_role("status")).to_contain_text("No more notices are sent by mail")
    page.get_by_role("link", name="Continue").click()
    page.get_by_role("button", name="Send them again").click()
    expect(page.get_by_text("No notices are sent by mail")).to_be_hidden()
    assert services.addresses.read(player).reachable

    anna.context.clear_cookies()
    page.goto("/sign-in")
    page.get_by_role("link", name="Forgotten your password?").click()
    page.get_by_label("Name or mail address").fill("anna@players.test")
    page.get_by_role("button", name="Send the link").click()
    expect(page.get_by_role("status")).to_contain_text("a mail with a link is on its way")
    page.goto(mailed_path(services, "anna@players.test", "/password-reset/"))
    page.get_by_label("New password").fill("another tower of words")
    page.get_by_role("button", name="Change the password").click()
    page.get_by_role("link", name="Continue").click()
    page.get_by_label("Name").fill("Anna")
    page.get_by_label("Password", exact=True).fill("another tower of words")
    page.locator("main").get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="My matches")).to_be_visible()
