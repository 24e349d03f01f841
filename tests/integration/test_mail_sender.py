"""Sending mail over a real SMTP conversation: how failures are judged, and that nothing goes twice."""

import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest

from domain.match.commands import OfferDraw
from events.notify.notice import DeliveryState, NoticeChannel
from events.notify.outbox import Dispatch
from events.runtime.errors import StoreUnavailableError
from tests.support.mail_world import DOMAIN, NOTICE, World
from tests.support.mailbox import CLOSE, HANG, Mailbox, make_authority, open_mailbox
from tests.support.server import RealServer
from tests.support.tables import table
from workers.composition import make_deliveries, make_mail_sender
from workers.notices.deliver import MAX_DELIVERY_S
from workers.notices.smtp import MAX_CONVERSATION_S, SmtpServer

HOUR_MS = 3_600_000


@pytest.fixture
def mailbox() -> Iterator[Mailbox]:
    with open_mailbox() as opened:
        yield opened


@pytest.fixture
def world(server: RealServer, mailbox: Mailbox) -> World:
    return World(server, mailbox)


# Servers that fail


@pytest.mark.parametrize(("command", "answer", "state"), table(__file__, "a failure is judged by code and stage"))
def test_a_failure_is_judged_by_code_and_stage(world: World, command: str, answer: str, state: str) -> None:
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
    world.sender = make_mail_sender(world.parts, world.settings, SmtpServer(world.mailbox.url, DOMAIN, timeout_s=0.05))
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
    assert MAX_CONVERSATION_S < MAX_DELIVERY_S


def test_a_server_that_is_down_for_a_day_loses_no_mail(world: World) -> None:
    world.notify()
    nowhere = world.sender_to("smtp+plain://127.0.0.1:1")
    began, attempts = world.stepped.now, 0
    while world.stepped.now < began + 24 * HOUR_MS:
        attempts += make_deliveries(world.parts, {NoticeChannel.MAIL: nowhere}).deliver_due()
        [delivery] = world.parts.ledger.find(world.anna.id, NOTICE).deliveries
        assert delivery.state == DeliveryState.WAITING
        assert "takes no mail now: [Errno 111] Connection refused" in delivery.reason
        world.stepped.now = delivery.due
    assert attempts > 5
    assert make_deliveries(world.parts, {NoticeChannel.MAIL: world.sender}).deliver_due() == 1
    [delivery] = world.parts.ledger.find(world.anna.id, NOTICE).deliveries
    assert (delivery.state, delivery.attempts) == (DeliveryState.SENT, attempts + 1)
    assert len(world.mailbox.received) == 1


# Kills


def test_a_kill_after_the_servers_answer_was_recorded_sends_nothing_again(world: World) -> None:
    dispatch = world.notify()
    assert world.send(dispatch)[0] == DeliveryState.SENT
    assert world.send(dispatch) == (DeliveryState.SENT, "The mail server has accepted it: 250 2.0.0 accepted")
    assert len(world.mailbox.received) == 1


def test_a_kill_before_the_answer_was_recorded_repeats_the_mail(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    dispatch = world.notify()

    record = world.parts.outbox.record_progress

    def die(dispatch: Dispatch, progress: str) -> None:
        if progress.startswith("accepted"):
            raise StoreUnavailableError("killed")
        record(dispatch, progress)

    with monkeypatch.context() as patched:
        patched.setattr(world.parts.outbox, "record_progress", die)
        with pytest.raises(StoreUnavailableError):
            world.send(dispatch)
    world.stepped.do(world.match, OfferDraw(player=world.boris.id), world.boris.id)
    state, reason = world.send(dispatch)
    assert state == DeliveryState.SENT
    assert "both copies have the same Message-ID" in reason
    first, second = (each.message["Message-ID"] for each in world.mailbox.received)
    assert first == second


def test_a_kill_before_the_content_sends_it_once(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    dispatch = world.notify()

    def die(*_: object) -> None:
        raise StoreUnavailableError("killed")

    with monkeypatch.context() as patched:
        patched.setattr(world.parts.outbox, "record_progress", die)
        with pytest.raises(StoreUnavailableError):
            world.send(dispatch)
    assert world.send(dispatch) == (DeliveryState.SENT, "The mail server has accepted it: 250 2.0.0 accepted")
    assert len(world.mailbox.received) == 1


def test_a_mail_that_is_asked_for_once_more_is_another_mail(world: World) -> None:
    dispatch = world.notify()
    world.send(dispatch)
    world.parts.outbox.finish(world.take(dispatch), DeliveryState.SENT, "", world.stepped.now)
    world.stepped.now += 1000
    assert world.parts.ledger.send_again(world.anna.id, NOTICE, NoticeChannel.MAIL, "", world.stepped.now)
    (again,) = world.parts.outbox.of(world.anna.id)
    world.send(again)
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
