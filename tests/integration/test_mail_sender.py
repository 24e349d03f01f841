"""Sending mail over a real SMTP conversation: what is sent, how failures are judged, and that nothing goes twice."""

import ssl
from collections.abc import Iterator
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest

from domain.match.commands import OfferDraw
from events.mail.tokens import MatchToken, PlayerToken, TokenKind, verify_token
from events.notices import letters
from events.notices.addresses import MailAddress, stopped, wants
from events.notices.facts import turn_of
from events.notices.kinds import DeliveryState, NoticeChannel, NoticeKind
from events.notices.notice import Delivery, Notice
from events.notices.outbox import Dispatch, Letter, Purpose
from events.people.accounts import People
from events.runtime.errors import StoreUnavailableError
from events.runtime.settings import MailSettings
from tests.support.callers import QUICK_HASHES
from tests.support.mailbox import CLOSE, HANG, Mailbox, make_authority, open_mailbox
from tests.support.server import RealServer
from tests.support.stepped_installation import SteppedInstallation
from workers.notices.deliver import LEASE_MS, Deliveries
from workers.notices.mail_sender import MailSender
from workers.notices.smtp import MAX_CONVERSATION_S, SmtpServer

DOMAIN = "mail.rookery.test"
ADDRESS = "anna@players.test"
NOTICE = "n" * 24
HOUR_MS = 3_600_000


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
        self.sender = self.sender_to(mailbox.url)

    def sender_to(self, url: str, **options: Any) -> MailSender:
        return MailSender(self.parts, self.settings, SmtpServer(url, DOMAIN, timeout_s=5, **options))

    def give_address(self, player: str, address: str) -> None:
        self.parts.addresses.change(player, lambda stored: wants(stored, address, self.stepped.now))
        assert self.parts.addresses.confirm(player, address, self.stepped.now) is not None

    @property
    def stored(self) -> MailAddress:
        return self.parts.addresses.read(self.anna.id)

    def notify(self, *, id: str = NOTICE, summary: str = "It is your turn in a match of Towers.") -> Dispatch:
        """Decide that anna is told of her turn by mail, at once; return what is in the outbox."""
        now, turn = self.stepped.now, turn_of(self.stepped.state(self.match))
        waiting = Delivery(channel=NoticeChannel.MAIL, state=DeliveryState.WAITING, reason="", due=now, at=now)
        notice = Notice(
            id=id,
            player=self.anna.id,
            kind=NoticeKind.TURN,
            match=self.match,
            version=3,
            fact=turn.name,
            summary=summary,
            reason="You want to be told at once when it is your turn.",
            at=now,
            decided_at=now,
            deliveries=(waiting,),
        )
        assert self.parts.ledger.decide(notice)
        return next(each for each in self.parts.outbox.of(self.anna.id) if id in each.notices)

    def letter(self, text: str = "The answer.", **more: Any) -> Dispatch:
        letter = Letter(to=ADDRESS, subject="An answer", text=text, **more)
        now = self.stepped.now
        return Dispatch(
            id="answer:1",
            player=self.anna.id,
            channel=NoticeChannel.MAIL,
            purpose=Purpose.LETTER,
            letter=letter,
            due=now,
            first_at=now,
        )

    def send(self, dispatch: Dispatch) -> tuple[DeliveryState, str]:
        outcome = self.sender.send(dispatch, self.stepped.now)
        return outcome.state, outcome.reason

    def token_of(self, address: str) -> Any:
        secret = self.parts.addresses.secret(self.anna.id)
        return verify_token(address.partition("@")[0].partition("-")[2], secret)


def text_of(message: EmailMessage) -> str:
    """Return the plain text of a mail."""
    part = message.get_body(("plain",))
    assert part is not None
    return str(part.get_content()).replace("\r\n", "\n")


@pytest.fixture
def mailbox() -> Iterator[Mailbox]:
    with open_mailbox() as opened:
        yield opened


@pytest.fixture
def world(server: RealServer, mailbox: Mailbox) -> World:
    return World(server, mailbox)


def test_a_notice_goes_out_with_board_thread_tokens_and_ways_to_stop(world: World) -> None:
    state, reason = world.send(world.notify())
    assert (state, reason) == (DeliveryState.SENT, "The mail server has accepted it: 250 2.0.0 accepted")
    received = world.mailbox.received[0]
    message = received.message
    tag = world.parts.matches.load(world.match).head.tag
    expected = MatchToken(kind=TokenKind.REPLY, match_id=world.match, seat=0, tag=tag)
    assert world.token_of(message["Reply-To"].addresses[0].addr_spec) == expected
    assert world.token_of(received.sender) == PlayerToken(kind=TokenKind.BOUNCE, player=world.anna.id)
    assert message["Message-ID"].endswith(f".{NOTICE}@{DOMAIN}>")
    assert message["References"] == message["In-Reply-To"] == f"<match.{world.match}.{world.anna.id}@{DOMAIN}>"
    assert message["Subject"] == "Your turn: Towers against boris"
    assert message["Auto-Submitted"] == "auto-generated"
    assert message["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert [part.get_content_type() for part in message.walk()] == [
        *("multipart/alternative", "text/plain", "multipart/related", "text/html", "image/png"),
    ]
    text = text_of(message)
    assert text.startswith("----- Write above this line -----\n\nIt is your turn in a match of Towers.\n")
    assert "| 7  .     ww    .     .     .     bb    .\n" in text
    assert f"https://rookery.test/matches/{world.match}" in text


def test_an_answer_has_no_return_path_and_acts_upon_the_board_that_it_shows(world: World) -> None:
    shown = world.parts.matches.load(world.match).head.tag
    dispatch = world.letter(
        automatic=True, match=world.match, seat=0, tag=str(shown), in_reply_to="<her-mail@players.test>"
    )
    world.stepped.play(world.match, 2)
    assert world.send(dispatch)[0] == DeliveryState.SENT
    received = world.mailbox.received[0]
    assert received.sender == ""
    assert received.message["Auto-Submitted"] == "auto-replied"
    assert received.message["In-Reply-To"] == "<her-mail@players.test>"
    assert world.token_of(received.message["Reply-To"].addresses[0].addr_spec).tag == shown
    assert "List-Unsubscribe" not in received.message
    assert received.message.get_content_type() == "text/plain"


def test_a_digest_lists_what_is_most_urgent_first(world: World) -> None:
    first, second = world.notify(id="a" * 24, summary="First."), world.notify(id="b" * 24, summary="Second.")
    digest = Dispatch(
        id="digest:1",
        player=world.anna.id,
        channel=NoticeChannel.MAIL,
        purpose=Purpose.DIGEST,
        notices=(*first.notices, *second.notices),
        due=1,
        first_at=1,
    )
    assert world.send(digest)[0] == DeliveryState.SENT
    message = world.mailbox.received[0].message
    assert message["Subject"] == "2 notices from your matches"
    assert "First." in text_of(message)
    assert "Second." in text_of(message)
    assert world.token_of(message["Reply-To"].addresses[0].addr_spec).kind == TokenKind.ACCOUNT


def test_nothing_is_sent_to_an_address_that_is_paused_removed_or_unconfirmed(world: World) -> None:
    dispatch = world.notify()
    world.parts.addresses.change(world.anna.id, lambda stored: stopped(stored, 9))
    assert world.send(dispatch) == (DeliveryState.NOT_SENT, "Not sent by mail, because mail to you is paused.")
    world.parts.addresses.change(world.anna.id, lambda stored: wants(MailAddress(), "new@players.test", 9))
    assert world.send(dispatch)[1] == "Not sent by mail, because you have confirmed no mail address."
    assert world.mailbox.received == []


# Letters that the server writes by itself


def test_the_mail_that_asks_for_confirmation_leads_to_the_address(world: World) -> None:
    now = world.stepped.now
    world.parts.addresses.change(world.anna.id, lambda stored: wants(stored, "new@players.test", now))
    assert world.send(letters.confirmation(world.anna.id, "new@players.test", now))[0] == DeliveryState.SENT
    [message] = world.mailbox.messages_to("new@players.test")
    assert f"https://rookery.test/mail/confirm/{world.anna.id}." in text_of(message)
    world.parts.addresses.confirm(world.anna.id, "new@players.test", now)
    again = letters.confirmation(world.anna.id, "new@players.test", now + 1)
    assert world.send(again)[0] == DeliveryState.NOT_SENT


def test_why_a_mail_that_asks_for_confirmation_did_not_arrive_is_shown_with_the_address(world: World) -> None:
    now = world.stepped.now
    world.parts.addresses.change(world.anna.id, lambda stored: wants(stored, "new@players.test", now))
    world.mailbox.answer("RCPT", "550 5.1.1 no such mailbox")
    assert world.send(letters.confirmation(world.anna.id, "new@players.test", now))[0] == DeliveryState.FAILED
    assert world.stored.problem == "The mail server refused the mail: 550 5.1.1 no such mailbox"
    assert world.stored.bounces.score == 0, "the confirmed address is another one"


def test_a_former_address_is_told_only_of_a_change_that_has_happened(world: World) -> None:
    told = letters.address_changed(world.anna.id, ADDRESS, world.stepped.now)
    assert world.send(told)[0] == DeliveryState.NOT_SENT
    world.give_address(world.anna.id, "new@players.test")
    assert world.send(told)[0] == DeliveryState.SENT
    assert world.mailbox.received[0].recipients == [ADDRESS]


@pytest.mark.parametrize("asked", ["ANNA", "Anna@Players.test"])
def test_a_new_password_is_offered_by_name_and_by_address(world: World, asked: str) -> None:
    assert world.send(letters.password_reset(asked, world.stepped.now))[0] == DeliveryState.SENT
    [message] = world.mailbox.messages_to(ADDRESS)
    assert f"https://rookery.test/password-reset/{world.anna.id}." in text_of(message)


def test_one_mail_offers_new_passwords_for_all_accounts_of_an_address(world: World) -> None:
    world.give_address(world.boris.id, ADDRESS)
    world.send(letters.password_reset(ADDRESS, world.stepped.now))
    [message] = world.mailbox.messages_to(ADDRESS)
    assert '"anna"' in text_of(message)
    assert '"boris"' in text_of(message)


@pytest.mark.parametrize("asked", ["nobody", "boris", "nobody@players.test", "x@y@z", "a\r\nb", "guest-abcdef"])
def test_no_mail_goes_to_whom_nobody_knows(world: World, asked: str) -> None:
    assert world.send(letters.password_reset(asked, world.stepped.now))[0] == DeliveryState.NOT_SENT
    assert world.mailbox.received == []


def test_links_are_not_sent_when_they_have_expired(world: World) -> None:
    now = world.stepped.now
    world.parts.addresses.change(world.anna.id, lambda stored: wants(stored, "new@players.test", now))
    asked = [letters.confirmation(world.anna.id, "new@players.test", now), letters.password_reset("anna", now)]
    world.stepped.now += 24 * HOUR_MS
    assert [world.send(letter)[0] for letter in asked] == [DeliveryState.NOT_SENT] * 2
    assert world.stored.problem == "The mail could not be sent within a day: ask for it once more."


# Servers that fail


@pytest.mark.parametrize(
    ("command", "answer", "state"),
    [
        ("EHLO", CLOSE, DeliveryState.WAITING),
        ("MAIL", "451 4.3.0 later", DeliveryState.WAITING),
        ("MAIL", "550 5.7.1 not from you", DeliveryState.WAITING),
        ("MAIL", CLOSE, DeliveryState.WAITING),
        ("RCPT", "450 4.2.0 greylisted", DeliveryState.WAITING),
        ("RCPT", "421 4.7.0 too many", DeliveryState.WAITING),
        ("RCPT", "550 5.1.1 no such mailbox", DeliveryState.FAILED),
        ("DATA", "451 4.3.0 disk full", DeliveryState.WAITING),
        ("DATA", "554 5.7.1 looks like spam", DeliveryState.FAILED),
        ("DATA", CLOSE, DeliveryState.WAITING),
    ],
)
def test_a_failure_is_judged_by_what_was_answered_to_what(
    world: World, command: str, answer: str, state: DeliveryState
) -> None:
    world.mailbox.answer(command, answer)
    found, reason = world.send(world.notify())
    assert found == state
    assert answer == CLOSE or answer in reason


def test_two_refused_recipients_pause_mail_with_the_words_of_the_server(world: World) -> None:
    world.mailbox.answer("RCPT", "550 5.1.1 no such mailbox", "550 5.1.1 no such mailbox")
    world.send(world.notify(id="a" * 24))
    assert world.stored.reachable
    world.send(world.notify(id="b" * 24))
    assert world.stored.pause is not None
    assert world.stored.pause.reason.endswith("The last answer was: 550 5.1.1 no such mailbox")


def test_refused_contents_and_senders_that_are_refused_pause_nothing_at_once(world: World) -> None:
    world.mailbox.answer("DATA", "554 5.7.1 spam", "554 5.7.1 spam")
    world.mailbox.answer("MAIL", "250 OK", "250 OK", "550 5.7.1 no")
    for letter in "abc":
        world.send(world.notify(id=letter * 24))
    assert world.stored.reachable
    assert 0 < world.stored.bounces.score <= 2


def test_a_server_that_is_silent_holds_nothing_up_for_longer_than_the_time_limit(world: World) -> None:
    world.mailbox.answer("MAIL", HANG)
    world.sender = MailSender(world.parts, world.settings, SmtpServer(world.mailbox.url, DOMAIN, timeout_s=0.05))
    state, reason = world.send(world.notify())
    assert (state, "timed out" in reason) == (DeliveryState.WAITING, True)


def test_the_log_has_no_address_that_the_server_repeats(world: World, capfd: pytest.CaptureFixture[str]) -> None:
    world.mailbox.answer("MAIL", "550 5.7.1 <b-token@play.example>: sender anna@players.test is not allowed")
    state, reason = world.send(world.notify())
    assert (state, "b-token@play.example" in reason) == (DeliveryState.WAITING, True)
    said = "".join(capfd.readouterr())
    assert "the mail server takes no mail" in said
    assert "@" not in said


def test_no_conversation_lasts_as_long_as_a_lease() -> None:
    assert MAX_CONVERSATION_S * 1000 < LEASE_MS


def test_a_server_that_is_down_for_a_day_loses_no_mail(world: World) -> None:
    world.notify()
    nowhere = world.sender_to("smtp+plain://127.0.0.1:1")
    began, attempts = world.stepped.now, 0
    while world.stepped.now < began + 24 * HOUR_MS:
        attempts += Deliveries(world.parts, {NoticeChannel.MAIL: nowhere}).deliver_due()
        [delivery] = world.parts.ledger.find(world.anna.id, NOTICE).deliveries
        assert delivery.state == DeliveryState.WAITING
        assert "takes no mail now: [Errno 111] Connection refused" in delivery.reason
        world.stepped.now = delivery.due
    assert attempts > 5
    assert Deliveries(world.parts, {NoticeChannel.MAIL: world.sender}).deliver_due() == 1
    [delivery] = world.parts.ledger.find(world.anna.id, NOTICE).deliveries
    assert (delivery.state, delivery.attempts) == (DeliveryState.SENT, attempts + 1)
    assert len(world.mailbox.received) == 1


# Kills


def test_a_kill_after_the_servers_answer_was_recorded_sends_nothing_again(world: World) -> None:
    dispatch = world.notify()
    assert world.send(dispatch)[0] == DeliveryState.SENT
    assert world.send(dispatch) == (
        DeliveryState.SENT,
        "The mail server has accepted it: 250 2.0.0 accepted",
    )
    assert len(world.mailbox.received) == 1


def test_a_kill_before_the_servers_answer_was_recorded_sends_the_same_mail_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    dispatch = world.notify()

    def die(*_: object) -> None:
        raise StoreUnavailableError("killed")

    with monkeypatch.context() as patched:
        patched.setattr(world.sender._attempts, "accept", die)
        with pytest.raises(StoreUnavailableError):
            world.send(dispatch)
    world.stepped.do(world.match, OfferDraw(player=world.boris.id), world.boris.id)
    state, reason = world.send(dispatch)
    assert state == DeliveryState.SENT
    assert "both copies have the same Message-ID" in reason
    first, second = (each.message["Message-ID"] for each in world.mailbox.received)
    assert first == second


@pytest.mark.parametrize("step", ["answer", "open", "begin"])
def test_a_kill_before_the_content_is_sent_sends_it_once(
    world: World, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    dispatch = world.notify()

    def die(*_: object) -> None:
        raise StoreUnavailableError("killed")

    with monkeypatch.context() as patched:
        patched.setattr(world.sender._attempts, step, die)
        with pytest.raises(StoreUnavailableError):
            world.send(dispatch)
    assert world.send(dispatch) == (DeliveryState.SENT, "The mail server has accepted it: 250 2.0.0 accepted")
    assert len(world.mailbox.received) == 1


def test_a_mail_that_is_asked_for_once_more_is_another_mail(world: World) -> None:
    dispatch = world.notify()
    world.send(dispatch)
    world.parts.outbox.finish(dispatch, DeliveryState.SENT, "", world.stepped.now)
    world.stepped.now += 1000
    assert world.parts.ledger.send_again(world.anna.id, NOTICE, NoticeChannel.MAIL, "", world.stepped.now)
    world.send(world.parts.outbox.of(world.anna.id)[0])
    assert len({each.message["Message-ID"] for each in world.mailbox.received}) == 2


# Encryption and letters beyond ASCII


@pytest.mark.filterwarnings("ignore:Session.login_data")
def test_mail_is_encrypted_and_certificates_are_verified(server: RealServer, tmp_path: Path) -> None:
    authority = make_authority(tmp_path)
    trusting = ssl.create_default_context(cafile=str(authority.certificate))
    with (
        open_mailbox(tls=authority.server, login=("rookery", "p@ss")) as starting,
        open_mailbox(tls=authority.server, tls_from_start=True) as encrypted,
    ):
        world = World(server, starting)
        by_starttls = f"smtp://rookery:p%40ss@localhost:{starting.port}"
        for url in (by_starttls, f"smtps://localhost:{encrypted.port}"):
            world.sender = world.sender_to(url, context=trusting)
            assert world.send(world.notify(id=f"{len(url):024}"))[0] == DeliveryState.SENT, url
        world.sender = world.sender_to(by_starttls)
        state, reason = world.send(world.notify(id="x" * 24))
        assert (state, "CERTIFICATE_VERIFY_FAILED" in reason) == (DeliveryState.WAITING, True)
        assert (len(starting.received), len(encrypted.received)) == (1, 1)


def test_without_encryption_nothing_is_sent_unless_the_address_of_the_server_says_so(world: World) -> None:
    world.sender = world.sender_to(world.mailbox.url.replace("smtp+plain", "smtp"))
    state, reason = world.send(world.notify())
    assert state == DeliveryState.WAITING
    assert "does not offer encryption" in reason
    assert world.mailbox.received == []


def test_an_address_beyond_ascii_is_written_to_where_the_server_can(world: World) -> None:
    world.give_address(world.anna.id, "änna@players.test")
    assert world.send(world.notify())[0] == DeliveryState.SENT
    assert world.mailbox.received[0].recipients == ["änna@players.test"]
    with open_mailbox(utf8=False) as narrow:
        world.sender = world.sender_to(narrow.url)
        state, reason = world.send(world.notify(id="o" * 24))
        assert state == DeliveryState.FAILED
        assert "cannot write to addresses with such letters" in reason
