"""Mail that comes back: what servers report is read, counted once, and believed only about the present address."""

from datetime import UTC, datetime
from email.message import EmailMessage
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from events.mail.bounces import Bounce, is_hard, read_bounce, record_bounce
from events.notices.addresses import AddressStore, wants
from events.runtime.connections import StoreClient
from tests.support.draws import draws
from tests.support.tables import table

ANNA = "pannaannaannaann2"
ADDRESS = "anna@players.test"
DAY_MS = 86_400_000
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
