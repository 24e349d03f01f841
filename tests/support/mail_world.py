"""A player whose mail goes to a mail server of the test."""

from dataclasses import replace
from email.message import EmailMessage
from typing import Any

from events.notify.addresses import MailAddress, wants
from events.notify.facts import turn_of
from events.notify.mail.tokens import verify_token
from events.notify.notice import DeliveryState, Notice, NoticeChannel, NoticeDelivery, NoticeKind
from events.notify.outbox import Dispatch, Letter, Purpose
from events.people.accounts import People
from events.runtime.settings import MailSettings
from events.runtime.work_list import LEASE_MS
from tests.support.callers import QUICK_HASHES
from tests.support.mailbox import Mailbox
from tests.support.server import RealServer
from tests.support.stepped_installation import SteppedInstallation
from workers.composition import make_mail_sender
from workers.notices.mail_sender import MailSender
from workers.notices.smtp import SmtpServer

DOMAIN = "mail.rookery.test"
ADDRESS = "anna@players.test"
NOTICE = "n" * 24


class World:
    """Anna, with a confirmed address, in a match against boris; mail goes to ``mailbox``."""

    def __init__(self, server: RealServer, mailbox: Mailbox) -> None:
        self.mailbox = mailbox
        self.stepped = SteppedInstallation(server.url)
        self.parts = parts = self.stepped.parts
        parts.people = People(parts.client, parts.prefix, parts.now, QUICK_HASHES)
        self.settings = MailSettings(mailbox.url, DOMAIN)
        parts.settings = parts.settings._replace(mail=self.settings, page_url="https://rookery.test")
        self.anna, self.boris = (parts.people.sign_up(name, "a fine secret") for name in ("anna", "boris"))
        self.match = self.stepped.start(self.anna.id, self.boris.id, game="towers", setup="two-player")
        self.give_address(self.anna.id, ADDRESS)
        self.stepped.disturb(self.anna.id)
        self.sender = self.sender_to(mailbox.url)

    def sender_to(self, url: str, **options: Any) -> MailSender:
        return make_mail_sender(self.parts, self.settings, SmtpServer(url, DOMAIN, timeout_s=5, **options))

    def give_address(self, player: str, address: str) -> None:
        self.parts.addresses.change(player, lambda stored: wants(stored, address, self.stepped.now))
        assert self.parts.addresses.confirm(player, address, self.stepped.now) is not None

    @property
    def stored(self) -> MailAddress:
        return self.parts.addresses.read(self.anna.id)

    def notify(self, *, id: str = NOTICE, match: str | None = None, **facts: Any) -> Dispatch:
        """Decide that anna is told of her turn by mail, at once; return what is in the outbox.

        ``facts`` are other ones of the notice.
        """
        match = match or self.match
        now, turn = self.stepped.now, turn_of(self.stepped.state(match))
        waiting = NoticeDelivery(channel=NoticeChannel.MAIL, state=DeliveryState.WAITING, reason="", due=now, at=now)
        notice = Notice(
            id=id, player=self.anna.id, kind=NoticeKind.TURN, match=match, version=3, fact=turn.name,
            summary=turn.summary, reason="You want to be told at once when it is your turn.", at=now, decided_at=now,
            deliveries=(waiting,),
        )  # fmt: skip
        assert self.parts.ledger.decide(replace(notice, **facts))
        return next(each for each in self.parts.outbox.of(self.anna.id) if id in each.notices)

    def letter(self, text: str = "The answer.", **more: Any) -> Dispatch:
        letter = Letter(to=ADDRESS, subject="An answer", text=text, **more)
        now = self.stepped.now
        return Dispatch(
            id="answer:1", player=self.anna.id, channel=NoticeChannel.MAIL, purpose=Purpose.LETTER, letter=letter,
            due=now, first_at=now,
        )  # fmt: skip

    def take(self, dispatch: Dispatch) -> Dispatch:
        """Claim ``dispatch`` as a worker does that takes over when another was killed; add it if it is not there."""
        self.parts.outbox.add(dispatch)
        self.stepped.now += LEASE_MS
        taken = iter(self.parts.outbox.take, None)
        return next(each for each in taken if each.id.startswith(dispatch.id))

    def send(self, dispatch: Dispatch) -> tuple[DeliveryState, str]:
        outcome = self.sender.send(self.take(dispatch), self.stepped.now)
        return outcome.state, outcome.reason

    def token_of(self, address: str) -> Any:
        secret = self.parts.addresses.secret(self.anna.id)
        return verify_token(address.partition("@")[0].partition("-")[2], secret)


def text_of(message: EmailMessage) -> str:
    part = message.get_body(("plain",))
    assert part is not None
    return str(part.get_content()).replace("\r\n", "\n")
