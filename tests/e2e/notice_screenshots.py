"""Take the pictures of notices for the documents: ``python -m tests.e2e.notice_screenshots [DIRECTORY]``.

What they show has really happened: events, decisions and mail of an app in this process, with a clock that is set.
"""

import base64
import sys
import tempfile
from email.message import EmailMessage
from pathlib import Path
from typing import NamedTuple

from flask import Flask
from playwright.sync_api import Browser, ViewportSize

from api.services import EXTENSION, Services
from events.notify.addresses import wants
from events.notify.notice import DeliveryState, NoticeChannel
from events.notify.outbox import Dispatch
from events.notify.subscriptions import Subscription
from events.runtime.settings import MailSettings
from tests.e2e.png import shrunk
from tests.e2e.screenshots import line, tall_columns
from tests.e2e.visitors import Visitor, chromium
from tests.support.callers import ME, Caller, app_on, invited
from tests.support.looks import look_at_match
from tests.support.mailbox import Mailbox, open_mailbox
from tests.support.served_app import served
from tests.support.server import RealServer
from tests.support.watch import Watch
from workers.composition import make_deliveries, make_mail_sender, make_observer
from workers.notices.senders import Sender, SendOutcome
from workers.notices.smtp import SmtpServer

HOUR_MS = 3_600_000
START = 1_795_165_200_000
"""Friday 20 November 2026, 09:00 UTC, in milliseconds since 1970 UTC."""

ADDRESS = "anna@example.org"
DESKTOP: ViewportSize = {"width": 1200, "height": 860}
PHONE: ViewportSize = {"width": 390, "height": 844}
MAIL: ViewportSize = {"width": 700, "height": 600}


class Site(NamedTuple):
    """What serves the pages, at ``url``."""

    url: str


class AcceptingSender:
    """A push service that takes everything."""

    def send(self, dispatch: Dispatch, now: int) -> SendOutcome:
        return SendOutcome(DeliveryState.SENT, "Mozilla has taken it for Firefox on Linux.")


class Story:
    """Fourteen hours in which Anna is told of a match."""

    def __init__(self, app: Flask, watch: Watch, mailbox: Mailbox) -> None:
        self.services: Services = app.extensions[EXTENSION]
        self._anna, self._boris = (Caller(app).sign_up(name) for name in ("Anna", "Boris"))
        self._watch = watch
        self._observer = make_observer(self.services)
        mail = MailSettings(mailbox.url, "mail.example.org")
        self.services.settings = self.services.settings._replace(mail=mail)
        senders: dict[NoticeChannel, Sender] = {NoticeChannel.PUSH: AcceptingSender()}
        senders[NoticeChannel.MAIL] = make_mail_sender(self.services, mail, SmtpServer(mail.smtp_url, mail.domain))
        self._deliveries = make_deliveries(self.services, senders)

    def tell(self) -> None:
        """Let Anna be reached by mail and in a browser, and let happen what she is told of, from nine o'clock on."""
        anna, boris = self._anna, self._boris
        self._reach_anna()
        match = boris.create(ME, invited("Anna"), game="bashni")
        self._look(match)
        self._pass(2)
        anna.post(f"/matches/{match}/joins")
        moves = line("bashni", "start", range(12, 13), tall_columns)
        for number, move in enumerate(moves[:11]):
            (anna if number % 2 else boris).move(match, move)
        self._look(match)
        self._pass(9.5)
        anna.put("/me/presence", {"match": match, "visible": True})
        anna.move(match)
        boris.move(match)
        self._look(match)
        anna.move(match)
        self._pass(2)
        anna.put("/me/notice-settings", {**anna.get("/me/notice-settings").json, "quiet": {"since": 22, "until": 7}})
        boris.move(match)
        self._look(match)
        boris.post(f"/matches/{match}/chat", {"text": "A quiet opening. I shall take my time."})
        checks = self.services.checks
        checks.work.discard(match)
        checks.mark_chat(match, 0, 0)
        self._observer.look_at_check(checks.take())
        self._pass(0.5)

    def _reach_anna(self) -> None:
        now, player = self._watch.now, self._anna.id
        self.services.addresses.change(player, lambda stored: wants(stored, ADDRESS, now))
        self.services.addresses.confirm(player, ADDRESS, now)
        endpoint = "https://updates.push.services.mozilla.com/wpush/v2/x"
        browser = Subscription("b", endpoint, "point", "secret", "Firefox on Linux", "session", now)
        self.services.subscriptions.save(player, browser)

    def _look(self, match_id: str) -> None:
        """Decide about the last event of a match, and send what is due."""
        self.services.projector.project([match_id])
        look_at_match(self._observer, match_id, {self.services.matches.load(match_id).head.version})
        self._deliveries.deliver_due()

    def _pass(self, hours: float) -> None:
        self._watch.advance(round(hours * HOUR_MS))
        self._deliveries.deliver_due()


def html_of(mail: EmailMessage) -> str:
    """Return the HTML part of a mail with its picture in it, as a mail program shows it."""
    pictures = {part["Content-ID"].strip("<>"): part.get_content() for part in mail.walk() if part["Content-ID"]}
    text = next(part for part in mail.walk() if part.get_content_type() == "text/html").get_content()
    for id, png in pictures.items():
        text = text.replace(f"cid:{id}", f"data:image/png;base64,{base64.b64encode(png).decode()}")
    return str(text)


def take(target: Path) -> None:
    """Write the pictures to ``target``."""
    target.mkdir(parents=True, exist_ok=True)
    watch = Watch(START)
    with tempfile.TemporaryDirectory() as directory, open_mailbox() as mailbox:
        server = RealServer(Path(directory))
        app = app_on(server.url, now=watch)
        Story(app, watch, mailbox).tell()
        with served(app) as url, chromium() as browser:
            take_of(browser, url, mailbox, target)
        server.close()


def take_of(browser: Browser, url: str, mailbox: Mailbox, target: Path) -> None:
    """Write the pictures of Anna's pages at ``url`` and of her last mail with a board."""
    anna = Visitor(browser, Site(url))
    anna.call("POST", "/sessions", {"name": "Anna", "password": "the secret of Anna"})

    def keep(name: str) -> None:
        (target / f"{name}.png").write_bytes(shrunk(anna.page.screenshot(full_page=True)))

    anna.page.set_viewport_size(DESKTOP)
    anna.page.goto("/notices")
    keep("notices")
    anna.page.goto("/settings/notices")
    keep("notice-settings")
    anna.page.set_viewport_size(PHONE)
    anna.page.emulate_media(color_scheme="dark")
    anna.page.goto("/notices")
    keep("phone-notices")
    anna.page.emulate_media(color_scheme="light")
    anna.page.set_viewport_size(MAIL)
    anna.page.goto("about:blank")  # a mail program does not have the policy of Rookery's pages
    anna.page.set_content(html_of([mail for mail in mailbox.messages_to(ADDRESS) if mail.is_multipart()][-1]))
    keep("mail")


if __name__ == "__main__":
    take(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/screenshots"))
