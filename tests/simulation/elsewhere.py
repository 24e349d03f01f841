"""What the people of a simulated year are reached through: a mail server, receivers, browsers and their accounts."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from random import Random
from typing import NamedTuple

from domain.match.terms import DAY, HOUR
from events.notify.mail.messages import Outgoing
from events.notify.notice import NoticeChannel
from events.people.person import Person as Account
from events.runtime.egress import Egress, EgressResponse
from events.runtime.egress_rules import EgressError
from events.runtime.reads import Read
from tests.simulation.people import Person
from tests.support.push_service import Browser
from workers.notices.smtp import Reply, SmtpServer, Stage

MAIL_SERVER_DOWN = ((60 * DAY, 61 * DAY + 6 * HOUR), (200 * DAY, 203 * DAY))
"""From and until, since the beginning of the year."""


class Accepted(NamedTuple):
    """What the other end of ``channel`` has accepted: ``id`` is its Message-ID or webhook-id with the receiver."""

    channel: NoticeChannel
    id: str
    content: bytes


class Elsewhere:
    """The mail server and the receivers of a year, and what they have ``accepted``."""

    def __init__(self, now: Callable[[], int], begin: int, random: Random) -> None:
        self.accepted: list[Accepted] = []
        self.counts: Counter[str] = Counter()
        self.mail_server = MailServer(self, now, begin, random)
        self.receivers = Receivers(self, random)

    def accept(self, channel: NoticeChannel, id: str, content: bytes) -> None:
        self.accepted.append(Accepted(channel, id, content))
        self.counts[f"accepted: {channel}"] += 1


class MailServer(SmtpServer):
    """A mail server that is down for days, and now and then has no time."""

    def __init__(self, elsewhere: Elsewhere, now: Callable[[], int], begin: int, random: Random) -> None:
        super().__init__("smtp://mail.example", "rookery.example")
        self._elsewhere, self._now, self._begin, self._random = elsewhere, now, begin, random

    def deliver(self, mail: Outgoing, before_content: Callable[[], None]) -> Reply:
        """Accept ``mail``, or not."""
        at = self._now() - self._begin
        if any(since <= at < until for since, until in MAIL_SERVER_DOWN):
            self._elsewhere.counts["mail server: down"] += 1
            return Reply(Stage.CONNECTION, 0, "connection refused")
        if self._random.random() < 0.05:
            self._elsewhere.counts["mail server: busy"] += 1
            return Reply(Stage.SENDER, 451, "451 4.3.0 try again later")
        before_content()
        self._elsewhere.accept(NoticeChannel.MAIL, str(mail.message["Message-ID"]), mail.as_bytes())
        return Reply(Stage.CONTENT, 250, "250 2.0.0 accepted")


class Receivers(Egress):
    """Receivers of webhooks and push services, some of which fail."""

    def __init__(self, elsewhere: Elsewhere, random: Random) -> None:
        super().__init__()
        self._elsewhere, self._random = elsewhere, random
        self.browsers: dict[str, Browser] = {}

    def post(self, url: str, headers: Mapping[str, str], body: bytes, *, timeout_s: float = 0) -> EgressResponse:
        """Accept ``body``, or not."""
        drawn = self._random.random()
        if "receiver-3" in url or drawn < 0.03:
            raise EgressError("There was no complete answer within 15 seconds.")
        if drawn < 0.08:
            return EgressResponse(500, {}, b"", True)
        if url in self.browsers:
            self._elsewhere.accept(NoticeChannel.PUSH, url, self.browsers[url].decrypt(body))
            return EgressResponse(201, {}, b"", True)
        self._elsewhere.accept(NoticeChannel.WEBHOOK, f"{headers['webhook-id']} {url}", body)
        return EgressResponse(204, {}, b"", True)


class KnownPeople:
    """The accounts of the people of a year, each of whom has one session with the same id."""

    def __init__(self, people: Sequence[Person], begin: int) -> None:
        self.credentials = self
        self._accounts = {each.id: Account(each.id, f"Player-{each.id}", "person", begin) for each in people}

    def persons(self, ids: Iterable[str]) -> dict[str, Account]:
        return {id: self._accounts[id] for id in ids if id in self._accounts}

    def read_of(self, ids: Iterable[str]) -> Read[dict[str, Account]]:
        wanted = list(ids)
        return Read(lambda _: None, lambda _: self.persons(wanted))

    def person(self, id: str) -> Account | None:
        return self._accounts.get(id)

    def person_of(self, session: str) -> Account | None:
        return self._accounts.get(session)
