"""An installation with people who can be told by mail, driven step by step."""

from dataclasses import replace
from functools import partial
from typing import Any

from events.notify.addresses import wants
from events.notify.notice import Notice, NoticeChannel
from events.notify.outbox import Dispatch
from events.runtime.keys import PeopleKeys
from events.runtime.settings import MailSettings
from events.store.contract import Request
from tests.support.stepped_installation import SteppedInstallation, drain


class PostOffice(SteppedInstallation):
    """An installation that sends mail, with people who have accounts and addresses."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.parts.settings = self.settings._replace(mail=MailSettings("smtp+plain://127.0.0.1:1", "mail.example.org"))
        self._consumer = self.notices()
        self.office = self.deliveries()

    def enrol(self, *players: str, kind: str = "person", mail: bool = True) -> None:
        """Give ``players`` accounts, and confirmed mail addresses."""
        for player in players:
            account = {"name": player.title(), "kind": kind, "created_at": self.now, "password": "-"}
            self.disturb(player)
            self.client.hset(PeopleKeys(self.settings.prefix).account(player), mapping=account)
            if mail:
                address = f"{player}@example.org"
                self.parts.addresses.change(player, partial(wants, address=address, now=self.now))
                assert self.parts.addresses.confirm(player, address, self.now)

    def decide(self) -> None:
        drain(self._consumer)

    def pass_time(self, time_ms: int) -> None:
        """Let so much time pass, and happen what it makes due."""
        self.now += time_ms
        self.notice_rounds.do_round()
        self.office.deliver_due()

    def told(self, player: str) -> list[Notice]:
        """Return the ledger of ``player``, the latest first."""
        return self.ledger.page(player).notices

    def mails(self, player: str = "") -> list[Dispatch]:
        """Return the mails that were sent, to ``player`` if that is given."""
        return [each for each in self.senders[NoticeChannel.MAIL].sent if player in ("", each.player)]


def prefer(office: PostOffice, player: str, **facts: Any) -> None:
    office.parts.preferences.change(player, lambda before: replace(before, **facts))


def say(office: PostOffice, match: str, author: str) -> None:
    chats = office.parts.chats
    office.parts.checks.mark_chat(match, chats.length(match), office.now)
    chats.post(match, author, "the secret plan", Request(f"{author} {office.now}", ""))
