"""People who play by mail on a stepped installation."""

from collections.abc import Callable
from dataclasses import replace

from events.notify.addresses import MailAddress
from events.notify.inbox import ReceivedMail, mail_digest, text_digest
from events.notify.mail.tokens import MatchToken, PlayerToken, Token, TokenKind, write_token
from events.notify.outbox import Letter
from events.people.person import Person
from events.runtime.settings import MailSettings
from tests.support.mail_gateway import DOMAIN
from tests.support.stepped_installation import SteppedInstallation
from workers.composition import make_mail_reader

SETTINGS = MailSettings("smtp+plain://127.0.0.1:25", DOMAIN, "mx.example")


class MailSite(SteppedInstallation):
    """An installation to which people write; ``reader`` reads what has arrived."""

    def __init__(self, url: str, settings: MailSettings = SETTINGS) -> None:
        super().__init__(url)
        self.parts.settings = self.settings = self.settings._replace(mail=settings)
        self.reader = make_mail_reader(self.parts, settings)

    def enrol(self, name: str, change: Callable[[MailAddress], MailAddress] = lambda stored: stored) -> str:
        """Return the id of a new person with a confirmed address at home.example."""
        person = Person(f"p{name}", name, "person", self.now)
        self.parts.people.enrol(person, "")
        self.parts.addresses.change(
            person.id, lambda _: change(MailAddress(address=f"{name}@home.example", confirmed_at=self.now))
        )
        self.disturb(person.id)
        return person.id

    def token(self, player: str, match_id: str = "", kind: TokenKind | None = None) -> str:
        """Return a local part for ``player``, about the match as it stands or about none."""
        token: Token = PlayerToken(kind=kind or TokenKind.ACCOUNT, player=player)
        if match_id:
            seat = self.state(match_id).seat_of(player)
            assert seat is not None
            tag = self.store.head(match_id).tag
            token = MatchToken(kind=kind or TokenKind.REPLY, match_id=match_id, seat=seat, tag=tag)
        prefix = "b-" if token.kind is TokenKind.BOUNCE else "r-"
        return prefix + write_token(token, self.parts.addresses.secret(player))

    def deliver(
        self, player: str, local_part: str, body: str, *headers: str, sender: str | None = None, number: int = 1
    ) -> ReceivedMail:
        """Put a mail into the inbox of ``player`` and return it; nothing is read yet."""
        sender, self.now = sender or f"{player[1:]}@home.example", self.now + 1
        message_id = f"<{number}@home.example>"
        content = "\r\n".join([f"From: {sender}", f"Message-ID: {message_id}", *headers, "", body, ""]).encode()
        mail = ReceivedMail(
            digest=mail_digest(message_id, local_part, content), player=player, recipient=local_part,
            return_path=sender, sender=sender, subject="", size=len(content), at=self.now, text=text_digest(content),
        )  # fmt: skip
        assert self.parts.inbox.add(mail, content)
        return mail

    def letters(self, player: str) -> list[Letter]:
        """Return the letters in the outbox of ``player``."""
        return [dispatch.letter for dispatch in self.parts.outbox.of(player) if dispatch.letter is not None]


def without_address(stored: MailAddress) -> MailAddress:
    """Return ``stored`` without a confirmed address."""
    return replace(stored, address=None)
