"""Which incoming mails count: automatic mail, loops, strangers, forged results of the sender's authentication."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from events.mail.admission import ADMITTED, Rules, admit, author_of, automatic_mark, header, passes_dmarc, read_headers
from events.notices.inbox import Verdict
from events.notices.notice import WhoMayWrite
from tests.support.draws import draws
from tests.support.tables import table

ALICE = "alice@home.example"
RULES = Rules(address=ALICE, who_may_write=WhoMayWrite.TOKEN_AND_FROM, domain="play.example", authserv_id="mx.example")
STRICT = replace(RULES, who_may_write=WhoMayWrite.TOKEN_FROM_AND_DMARC)


def mail(*headers: str, sender: str = f"Alice <{ALICE}>", body: str = "a3-b4") -> bytes:
    lines = [f"From: {sender}", "Message-ID: <1@home.example>", *headers, "", body]
    return "\r\n".join(lines).encode()


def verdict(content: bytes, return_path: str = ALICE, rules: Rules = RULES) -> Verdict | None:
    return admit(content, return_path, rules).verdict


def test_a_mail_of_the_confirmed_address_counts() -> None:
    assert admit(mail("Subject: Re: Your turn"), ALICE, RULES) == ADMITTED
    assert admit(mail(sender="ALICE@Home.example (at work)"), "other@home.example", RULES) == ADMITTED


@pytest.mark.parametrize("line", table(__file__, "a mail with a mark of a program is automatic"))
def test_a_mail_with_a_mark_of_a_program_is_automatic(line: str) -> None:
    assert verdict(mail(line)) is Verdict.AUTOMATIC
    assert automatic_mark(mail(line), "?")


@pytest.mark.parametrize("subject", table(__file__, "automatic replies are known by their subjects"))
def test_automatic_replies_are_known_by_their_subjects(subject: str) -> None:
    content = f"From: {ALICE}\r\nSubject: {subject}\r\n\r\nI am away.".encode()
    assert verdict(content) is Verdict.AUTOMATIC


@pytest.mark.parametrize(
    "subject",
    ["Re: Your turn in Bashni", "AW: Du bist dran", "", "Auto", "automobile", "Re: Automatic reply", "=?x-no?q?a?="],
)
def test_other_subjects_are_those_of_people(subject: str) -> None:
    assert verdict(mail(f"Subject: {subject}")) is None


@pytest.mark.parametrize(
    "sender", ["MAILER-DAEMON@home.example", "postmaster@x.example", "no-reply@x.example", "noreply+1@x.example"]
)
def test_programs_are_known_by_their_addresses(sender: str) -> None:
    assert verdict(mail(sender=f"Mail System <{sender}>")) is Verdict.AUTOMATIC
    assert verdict(mail(), return_path=sender) is Verdict.AUTOMATIC


def test_a_return_path_that_a_forwarding_server_has_rewritten_is_no_mark() -> None:
    assert verdict(mail(), return_path="bounces+SRS=2Hb0F=QR@relay.example") is None
    assert verdict(mail(sender="bounces@relay.example")) is Verdict.AUTOMATIC


def test_a_mail_without_a_return_path_is_automatic() -> None:
    assert verdict(mail(), return_path="") is Verdict.AUTOMATIC


def test_a_mail_that_asks_for_no_automatic_answers_is_a_persons() -> None:
    assert verdict(mail("X-Auto-Response-Suppress: All", "Auto-Submitted: no")) is None


def test_an_invitation_to_an_appointment_is_automatic_and_an_attached_calendar_is_not() -> None:
    part = "--x\r\nContent-Type: text/calendar; charset=utf-8;\r\n {}\r\n\r\nBEGIN:VCALENDAR\r\n--x--"
    mixed = "Content-Type: multipart/alternative; boundary=x"
    assert verdict(mail(mixed, body=part.format("method=REQUEST"))) is Verdict.AUTOMATIC
    assert verdict(mail(mixed, body=part.format("name=deadlines.ics"))) is None


def test_rookerys_own_mail_is_a_loop() -> None:
    assert verdict(mail(sender="rookery@play.example")) is Verdict.LOOP
    assert verdict(mail(), return_path="b-abc@PLAY.example") is Verdict.LOOP
    assert verdict(mail().replace(b"<1@home.example>", b"<r-x.1@play.example>")) is Verdict.LOOP
    assert verdict(mail(*["Received: by x"] * 51)) is Verdict.LOOP


@pytest.mark.parametrize("sender", table(__file__, "a mail of another sender is refused"))
def test_a_mail_of_another_sender_is_refused(sender: str) -> None:
    assert verdict(mail(sender=sender)) is Verdict.NOT_ALLOWED


def test_names_of_domains_are_compared_as_servers_see_them() -> None:
    rules = replace(RULES, address="alice@xn--bcher-kva.example")
    assert verdict(mail(sender="Alice@bücher.example"), rules=rules) is None


def test_a_mail_with_two_from_headers_is_refused() -> None:
    assert verdict(mail("From: eve@other.example")) is Verdict.NOT_ALLOWED


def test_nobody_writes_for_an_account_without_a_confirmed_address() -> None:
    assert verdict(mail(), rules=replace(RULES, address=None)) is Verdict.NOT_ALLOWED


PASS = (
    "Authentication-Results: mx.example 1; spf=pass smtp.mailfrom=x.example;\r\n"
    " dmarc=pass (p=none) header.from=home.example"
)


@pytest.mark.parametrize(("lines", "counts"), table(__file__, "dmarc counts where the own server says so on top"))
def test_dmarc_counts_where_the_own_server_says_so_on_top(lines: list[str], counts: bool) -> None:
    assert (verdict(mail(*lines), rules=STRICT) is None) is counts
    assert verdict(mail(*lines)) is None


@pytest.mark.parametrize("word", ["=?unicode_escape?q?=5Cud800?=", "=?utf-7?q?+2AA-?=", "=?nonsense?q?=FF?="])
def test_a_header_has_no_halves_of_characters(word: str) -> None:
    header(read_headers(mail(f"Subject: Re: {word}")), "Subject").encode()


def test_without_a_server_to_believe_nothing_passes_dmarc() -> None:
    assert not passes_dmarc(read_headers(mail(PASS)), None)


@draws(25)
@given(st.binary(max_size=300), st.text(max_size=20))
def test_no_bytes_are_beyond_admission(content: bytes, return_path: str) -> None:
    for head in (b"", b"From: a@b.c\r\nSubject: ", b"From: ", b"From: alice@home.example\r\nAuthentication-Results: "):
        admit(head + content, return_path, STRICT)
        author_of(read_headers(head + content))
