"""Mail addresses: their form, how they are confirmed and changed, and mail that comes back."""

from dataclasses import replace
from datetime import UTC, datetime
from email.message import EmailMessage
from email.utils import format_datetime

import pytest
from hypothesis import given, strategies as st

from events.notify.addresses import (
    HARD_SCORE,
    NO_ADDRESS,
    SOFT_SCORE,
    AddressStore,
    InvalidAddressError,
    MailAddress,
    address_digest,
    parse_address,
    resumed,
    stopped,
    wants,
    with_bounce,
    without_address,
)
from events.notify.mail.bounces import Bounce, is_hard, read_bounce, record_bounce
from events.notify.notice import PauseCause, WhoMayWrite
from events.runtime.connections import StoreClient
from tests.support.draws import draws
from tests.support.server import RealServer
from tests.support.tables import table

DAY_MS = 86_400_000
ANNA = "pannaannaannaann2"
ADDRESS = "anna@players.test"
KNOWN = MailAddress(address=ADDRESS, confirmed_at=1)


def store_of(redis: StoreClient) -> AddressStore:
    return AddressStore(redis, "rk:", 16)


@pytest.mark.parametrize(("text", "address"), table(__file__, "an address is read as it is meant"))
def test_an_address_is_read_as_it_is_meant(text: str, address: str) -> None:
    assert parse_address(text) == address


@pytest.mark.parametrize("text", table(__file__, "what is no address that can be written to is refused"))
def test_what_is_no_address_that_can_be_written_to_is_refused(text: str) -> None:
    with pytest.raises(InvalidAddressError):
        parse_address(text, "rookery.test")


def test_addresses_are_the_same_in_capitals() -> None:
    assert address_digest("Anna@Example.org ") == address_digest("anna@example.org")


def test_without_an_address_the_secret_and_who_may_write_stay() -> None:
    strict = replace(KNOWN, who_may_write=WhoMayWrite.TOKEN_FROM_AND_DMARC, secret="00" * 20)
    assert without_address(strict) == replace(NO_ADDRESS, who_may_write=strict.who_may_write, secret=strict.secret)


def test_two_hard_bounces_pause_mail_with_the_words_of_the_server() -> None:
    once = with_bounce(KNOWN, "one", HARD_SCORE, "550 no such user", 10)
    assert once.reachable
    twice = with_bounce(once, "two", HARD_SCORE, "550 5.1.1 no\r\nsuch\x07 user", DAY_MS)
    assert twice.pause is not None
    assert twice.pause.cause == PauseCause.BOUNCES
    assert twice.pause.reason.endswith("The last answer was: 550 5.1.1 no such user")
    assert twice.why_not == "mail to you is paused"


def test_the_same_bounce_counts_once() -> None:
    once = with_bounce(KNOWN, "one", HARD_SCORE, "", 10)
    assert with_bounce(once, "one", HARD_SCORE, "", 20) == once


def test_soft_bounces_now_and_then_are_forgotten() -> None:
    stored = KNOWN
    for month in range(24):
        stored = with_bounce(stored, f"{month}", SOFT_SCORE, "", month * 30 * DAY_MS)
    assert stored.reachable
    for day in range(4):
        stored = with_bounce(stored, f"day {day}", SOFT_SCORE, "", 24 * 30 * DAY_MS + day * DAY_MS)
    assert not stored.reachable


def test_bounces_are_forgotten_when_the_person_resumes_but_old_ones_do_not_count_again() -> None:
    paused = with_bounce(with_bounce(KNOWN, "one", HARD_SCORE, "", 10), "two", HARD_SCORE, "", 11)
    going_on = resumed(paused)
    assert going_on.reachable
    assert with_bounce(going_on, "two", HARD_SCORE, "", 12) == going_on


def test_what_is_stored_is_read_again_and_can_be_erased(redis: StoreClient) -> None:
    store = store_of(redis)
    assert store.read(ANNA) == NO_ADDRESS
    store.change(ANNA, lambda stored: wants(stored, ADDRESS, 5))
    assert store.confirm(ANNA, "other@players.test", 6) is None
    assert store.confirm(ANNA, ADDRESS, 6) == MailAddress(address=ADDRESS, confirmed_at=6)
    assert store.confirm(ANNA, ADDRESS, 7) is None
    paused = store.change(ANNA, lambda stored: stopped(stored, 8))
    assert store.read(ANNA) == paused
    assert store.holders("ANNA@players.test") == [ANNA]
    store.erase(ANNA)
    assert redis.keys() == []


def test_holders_are_those_who_have_the_address_now(redis: StoreClient) -> None:
    store = store_of(redis)
    for player in (ANNA, "pb"):
        store.change(player, lambda stored: wants(stored, ADDRESS, 5))
        store.confirm(player, ADDRESS, 6)
    assert store.holders(ADDRESS) == [ANNA, "pb"]
    store.change(ANNA, without_address)
    assert store.holders(ADDRESS) == ["pb"]


def test_a_secret_stays_until_old_mail_is_made_worthless(redis: StoreClient) -> None:
    store = store_of(redis)
    first = store.secret(ANNA)
    assert len(first) == 20
    assert store.secret(ANNA) == first
    store.make_old_mail_worthless(ANNA)
    assert store.secret(ANNA) != first
    assert store.secret("pb") != store.secret(ANNA)


def test_a_kill_before_the_confirmation_leaves_no_holder(server: RealServer, redis: StoreClient) -> None:
    store = store_of(redis)
    store.change(ANNA, lambda stored: wants(stored, ADDRESS, 5))
    redis.sadd(store._holders(ADDRESS), ANNA)
    assert store.holders(ADDRESS) == []


NOW = 1_700_000_000_000


def report(
    action: str = "failed",
    status: str = "5.1.1",
    said: str = "smtp; 550 5.1.1 no such mailbox",
    to: str = ADDRESS,
    arrived: int | None = NOW,
    number: int = 1,
) -> bytes:
    """Return a delivery status notification (RFC 3464) as a mail server writes it."""
    fields = ["Reporting-MTA: dns; mx.players.test"]
    if arrived is not None:
        fields.append(f"Arrival-Date: {format_datetime(datetime.fromtimestamp(arrived / 1000, UTC))}")
    fields += [
        "",
        f"Final-Recipient: rfc822; {to}",
        f"Action: {action}",
        f"Status: {status}",
        f"Diagnostic-Code: {said}",
    ]
    return (
        "From: MAILER-DAEMON@players.test (Mail Delivery System)\n"
        f"Message-ID: <{number}@players.test>\n"
        "Subject: Undelivered Mail Returned to Sender\n"
        "MIME-Version: 1.0\n"
        'Content-Type: multipart/report; report-type=delivery-status; boundary="b"\n\n'
        "--b\nContent-Type: text/plain\n\nI'm sorry.\n"
        "--b\nContent-Type: message/delivery-status\n\n" + "\n".join(fields) + "\n\n"
        "--b\nContent-Type: message/rfc822\n\nSubject: Your turn\n\nmove c3-d4\n--b--\n"
    ).encode()


@pytest.mark.parametrize(("status", "hard"), table(__file__, "only a wrong address is a hard bounce"))
def test_only_a_wrong_address_is_a_hard_bounce(status: str, hard: bool) -> None:
    assert is_hard(status) is hard


def test_a_report_of_failure_is_read_with_the_words_of_the_server() -> None:
    assert read_bounce(report()) == Bounce(True, "550 5.1.1 no such mailbox", NOW, ADDRESS)
    full = read_bounce(report(status="5.2.2", said="smtp; 552 5.2.2 mailbox\n full", arrived=None))
    assert full == Bounce(False, "552 5.2.2 mailbox full", None, ADDRESS)


@pytest.mark.parametrize("action", ["delayed", "delivered", "relayed", "expanded", ""])
def test_a_report_of_anything_else_is_none(action: str) -> None:
    assert read_bounce(report(action=action)) is None


def test_an_automatic_reply_is_no_bounce_and_an_old_fashioned_one_is_soft() -> None:
    reply = EmailMessage()
    reply["From"], reply["Subject"] = ADDRESS, "Out of office"
    reply.set_content("550 5.1.1 is a number.")
    assert read_bounce(reply.as_bytes()) is None
    reply.replace_header("From", "mailer-daemon@old.test")
    assert read_bounce(reply.as_bytes()) == Bounce(False, "Out of office")


@draws(100)
@given(st.binary(max_size=300))
def test_nothing_that_arrives_makes_reading_fail(noise: bytes) -> None:
    read_bounce(noise)
    read_bounce(report()[:-100].replace(b"Action", noise))


@pytest.fixture
def addresses(redis: StoreClient) -> AddressStore:
    """Return a store in which anna has confirmed ADDRESS a day ago."""
    store = AddressStore(redis, "rk:", 16)
    store.change(ANNA, lambda stored: wants(stored, ADDRESS, NOW - DAY_MS))
    store.confirm(ANNA, ADDRESS, NOW - DAY_MS)
    return store


def test_two_reports_pause_mail_and_the_same_one_twice_does_not(addresses: AddressStore) -> None:
    assert record_bounce(addresses, ANNA, report(), NOW) == "A mail to you came back."
    record_bounce(addresses, ANNA, report(), NOW)
    assert addresses.read(ANNA).reachable
    assert record_bounce(addresses, ANNA, report(number=2), NOW) == (
        "A mail to you came back. Notices by mail are paused."
    )
    assert "550 5.1.1 no such mailbox" in addresses.read(ANNA).pause.reason


def test_mail_to_a_former_address_counts_for_nobody(addresses: AddressStore) -> None:
    said = record_bounce(addresses, ANNA, report(arrived=NOW - 2 * DAY_MS), NOW)
    assert said == "It is about mail to a former address, so nothing was counted."
    assert record_bounce(addresses, "pnobody", report(), NOW) == said
    assert addresses.read(ANNA).bounces.score == 0


def test_a_mail_that_asks_for_confirmation_and_comes_back_is_shown_with_the_address(addresses: AddressStore) -> None:
    addresses.change(ANNA, lambda stored: wants(stored, "new@players.test", NOW))
    record_bounce(addresses, ANNA, report(to="New@players.test"), NOW)
    stored = addresses.read(ANNA)
    assert stored.problem == "The mail came back: 550 5.1.1 no such mailbox"
    assert stored.bounces.score == 0
