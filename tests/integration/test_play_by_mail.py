"""Whole matches by mail alone: notices go out over SMTP, players answer them to the gateway, answers come back."""

from collections.abc import Iterator
from email.message import EmailMessage
from email.policy import SMTP
from typing import Any

import pytest

from api.mail.gateway import Gateway
from domain.games import find_ruleset
from domain.match.enums import Channel, Status
from domain.match.events import MoveSubmitted
from events.notify.inbox import MAX_REFUSALS
from events.notify.letters import confirmation, password_reset
from events.notify.mail.tokens import TokenKind
from events.notify.notice import NoticeChannel
from events.runtime.settings import MailSettings
from events.store.codec import event_of
from tests.support.mail_gateway import DOMAIN, bring, open_gateway
from tests.support.mail_play import MailSite
from tests.support.mailbox import Mailbox, open_mailbox
from tests.support.server import RealServer
from tests.support.stepped_installation import drain
from workers.composition import make_deliveries, make_mail_sender
from workers.notices.senders import Sender
from workers.notices.smtp import SmtpServer

TOWERS = (
    "+g2 g6-g7 +b7 +g7 +g2 b1-c1 +a6 a2-b2 +a6 +g6 +b7 +b2 g2-d2 +g7 b7-b4 +a2 +f2 b2-c2 +f2 g7-f7 a6-d6 a2-a1 f2-f4"
)
FOUR_TOWERS = (
    "b3+d2 k8-k7 d2-e4 i8-i7 e4-d5 j8-j7 I:Pa4,Rb3,Pb4,Pc3,Bc4 f9-f8 c4+b3 i7+j7 i2+h2 B/g10xa4 B/b3xa4 e10+d11 a4+b3 "
    "h9+h8 h2+g2 f8-g8 Q/d5xd9 h8-i7 b3+d5 f10-f8 d9<>d5"
)
PLAYER_KINDS = (TokenKind.ACCOUNT, TokenKind.BOUNCE, TokenKind.UNSUBSCRIBE)


class MailProgram:
    """The mail program of a person: it knows nothing but the mails that have come."""

    def __init__(self, office: "PostOffice", address: str) -> None:
        self._office = office
        self.address = address
        self.seen = 0
        self._sent = 0

    def unread(self) -> list[EmailMessage]:
        """Return the mails that have come since the last call."""
        received = self._office.mailbox.received
        fresh, self.seen = received[self.seen :], len(received)
        return [mail.message for mail in fresh if self.address in mail.recipients]

    def answer(self, mail: EmailMessage, text: str, *, to: str = "Reply-To", **headers: str) -> tuple[int, str]:
        """Answer ``mail`` as mail programs do, with what it says quoted below ``text``.

        ``to`` is the header whose address they take.
        """
        self._sent += 1
        answer = EmailMessage()
        answer["From"] = self.address
        answer["To"] = str(mail[to])
        answer["Subject"] = f"Re: {mail['Subject']}"
        answer["Message-ID"] = f"<{self._sent}.{self.address}>"
        answer["In-Reply-To"] = str(mail["Message-ID"])
        for name, value in headers.items():
            answer[name.replace("_", "-")] = value
        body = mail.get_body(("plain",))
        assert body is not None
        quoted = "".join(f"> {line}\n" for line in body.get_content().splitlines())
        answer.set_content(f"{text}\n\nOn Sunday, Rookery wrote:\n{quoted}")
        (recipient,) = mail[to].addresses
        return bring(self._office.gateway, answer.as_bytes(policy=SMTP), recipient.addr_spec, self.address)


class PostOffice:
    """Everything between two people: a stepped installation, its gateway, and the mailbox that gets its mail."""

    def __init__(self, site: MailSite, gateway: Gateway, mailbox: Mailbox) -> None:
        self.site, self.gateway, self.mailbox = site, gateway, mailbox
        self._consumers = [site.projections(), site.notices()]
        mail = site.parts.settings.mail
        server = SmtpServer(mail.smtp_url, mail.domain)
        senders: dict[NoticeChannel, Sender] = {
            **site.senders,
            NoticeChannel.MAIL: make_mail_sender(site.parts, mail, server),
        }
        self._deliveries = make_deliveries(site.parts, senders)
        self.site.heartbeat.beat(site.now, site.now)

    def program(self, name: str) -> MailProgram:
        self.site.enrol(name)
        return MailProgram(self, f"{name}@home.example")

    def work(self) -> None:
        """Do what relay and workers do until nothing is left."""
        while True:
            done = self.site.reader.read_due() + drain(*self._consumers) + self._deliveries.deliver_due()
            if not done:
                return


@pytest.fixture
def office(server: RealServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[PostOffice]:
    # To draw the board at every move would take longer than all the rest.
    monkeypatch.setattr("workers.notices.mail_composer.board_picture", lambda *_: None)
    with open_mailbox() as mailbox:
        site = MailSite(server.url, MailSettings(mailbox.url, DOMAIN))
        with open_gateway(site.parts) as gateway:
            yield PostOffice(site, gateway, mailbox)


def play_by_mail(office: PostOffice, match_id: str, programs: list[MailProgram], moves: list[str]) -> None:
    """Let people play ``moves``, each in answer to the mail that says that it is their turn."""
    for ply, move in enumerate(moves):
        office.work()
        mover = programs[ply % len(programs)]
        mails = mover.unread()
        told = [mail for mail in mails if mail["Auto-Submitted"] == "auto-generated"]
        assert len(told) == 1, [str(mail["Subject"]) for mail in mails]
        assert mover.answer(told[0], move)[0] == 250
    office.work()
    assert list(office.site.state(match_id).play.moves) == moves


def events_of(office: PostOffice, match_id: str) -> list[Any]:
    return [event_of(event) for event in office.site.store.read(match_id)]


def test_two_people_play_a_whole_match_of_towers_by_mail_alone(office: PostOffice) -> None:
    alice, bob = office.program("alice"), office.program("bob")
    match_id = office.site.start("palice", "pbob", game="towers", setup="two-player")
    play_by_mail(office, match_id, [alice, bob], TOWERS.split())
    state = office.site.state(match_id)
    assert (state.status, state.result.scores, state.result.reason) == (Status.FINISHED, (1.0, 0.0), "castles")
    moves = [event for event in events_of(office, match_id) if isinstance(event, MoveSubmitted)]
    assert {event.channel for event in moves} == {Channel.MAIL}
    received = [mail.message for mail in office.mailbox.received]
    answers = [mail for mail in received if mail["Auto-Submitted"] == "auto-replied"]
    assert len(answers) == len(TOWERS.split())
    assert len({str(mail["Message-ID"]) for mail in received}) == len(received)
    over = [str(mail["Subject"]) for mail in bob.unread() if mail["Auto-Submitted"] == "auto-generated"]
    assert len(over) == 1


@pytest.mark.thorough
def test_a_third_plays_four_towers_by_mail_with_a_rearrangement(office: PostOffice) -> None:
    carol, alice = office.program("carol"), office.program("alice")
    match_id = office.site.start("pcarol", "palice", game="four-towers", setup="standard")
    play_by_mail(office, match_id, [carol, alice], FOUR_TOWERS.split())
    state = office.site.state(match_id)
    assert (state.result.scores, state.result.reason) == ((1.0, 0.0), "checkmate")
    assert state.play.moves[6].startswith("I:")
    assert find_ruleset(state.game, state.ruleset).id == "four-towers"


def test_nothing_goes_on_between_rookery_and_a_vacation_responder(office: PostOffice) -> None:
    alice, bob = office.program("alice"), office.program("bob")
    office.site.start("palice", "pbob", game="towers", setup="two-player")
    office.work()
    (told,) = alice.unread()
    for marks in ({"Auto_Submitted": "auto-replied"}, {"Precedence": "bulk"}, {}):
        alice.answer(told, "I am on holiday until Monday.", **marks)
        office.work()
    # The one without any mark is answered, and so are those that answer the answers, until the last one of the hour.
    answers = 0
    while answer := alice.unread():
        answers += len(answer)
        alice.answer(answer[0], "I am on holiday until Monday.")
        office.work()
    assert answers == MAX_REFUSALS
    assert bob.unread() == []


def test_a_gateway_that_is_mailed_by_another_one_answers_nothing(office: PostOffice) -> None:
    alice = office.program("alice")
    office.program("bob")
    match_id = office.site.start("palice", "pbob", game="towers", setup="two-player")
    office.work()
    (told,) = alice.unread()
    (recipient,) = told["Reply-To"].addresses
    for mail in (office.mailbox.received[0].content, told.as_bytes(policy=SMTP)):
        assert bring(office.gateway, mail, recipient.addr_spec, office.mailbox.received[0].sender)[0] == 250
    office.work()
    assert alice.unread() == []
    assert not office.site.state(match_id).play.moves


def test_programs_that_know_no_reply_to_answer_to_the_sender(office: PostOffice) -> None:
    alice, bob = office.program("alice"), office.program("bob")
    match_id = office.site.start("palice", "pbob", game="towers", setup="two-player")
    for program, move in ((alice, "+g2"), (bob, "g6-g7")):
        office.work()
        told = program.unread()[-1]
        assert program.answer(told, move, to="From")[0] == 250
    office.work()
    assert office.site.state(match_id).play.moves == ("+g2", "g6-g7")


def test_neither_addresses_nor_tokens_are_logged(office: PostOffice, capfd: pytest.CaptureFixture[str]) -> None:
    alice, eve = office.program("alice"), MailProgram(office, "eve@evil.example")
    office.program("bob")
    site = office.site
    site.start("palice", "pbob", game="towers", setup="two-player")
    site.outbox.add(password_reset("alice@home.example", site.now))
    site.outbox.add(confirmation("pbob", "bob.new@home.example", site.now))
    office.work()
    told = next(mail for mail in alice.unread() if mail["Reply-To"] is not None)
    assert eve.answer(told, "+g2")[0] == 250
    for text in ("+g2", "+g2", "nonsense", "stop mail"):
        assert alice.answer(told, text)[0] == 250
    bounce = office.mailbox.received[0].sender
    assert (
        bring(office.gateway, "From: mailer-daemon@home.example\r\n\r\n550 no alice@home.example", bounce, "<>")[0]
        == 250
    )
    assert bring(office.gateway, "", "r-forged@play.example")[0] == 550
    office.mailbox.answer("RCPT", "550 5.1.1 <alice@home.example> is unknown")
    office.work()
    said = "".join(capfd.readouterr())
    assert "mail read" in said
    tokens = [site.token(player, kind=kind) for player in ("palice", "pbob") for kind in PLAYER_KINDS]
    secrets = [site.parts.addresses.secret(player).hex() for player in ("palice", "pbob")]
    assert [word for word in ("@", bounce, "forged", *tokens, *secrets) if word in said] == []
