"""Which incoming mails count: automatic mail, loops, strangers, forged results of the sender's authentication."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from events.mail.admission import ADMITTED, Rules, admit, author_of, header, is_automatic, passes_dmarc, read_headers
from events.notices.inbox import Verdict
from events.notices.kinds import WhoMayWrite

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


@pytest.mark.parametrize(
    "line",
    [
        "Auto-Submitted: auto-replied",
        "Auto-Submitted: auto-generated (vacation); owner=x",
        "auto-submitted: AUTO-NOTIFIED",
        "Precedence: bulk",
        "Precedence: List",
        "Precedence: junk",
        "Precedence: auto_reply",
        "List-Id: <players.example>",
        "List-Unsubscribe: <https://x.example>",
        "X-Autoreply: yes",
        "X-Autorespond: vacation",
        "X-Failed-Recipients: somebody@x.example",
        "Return-Path: <>",
        "Content-Type: multipart/report; report-type=delivery-status; boundary=x",
        "Content-Type: message/disposition-notification",
        "Content-Type: text/calendar; method=REPLY",
    ],
)
def test_a_mail_with_a_mark_of_a_program_is_automatic(line: str) -> None:
    assert verdict(mail(line)) is Verdict.AUTOMATIC
    assert is_automatic(mail(line))


@pytest.mark.parametrize(
    "subject",
    [
        *("Automatic reply: Your turn", "Out of Office Re: Your turn", "Auto: away", "Undeliverable: Your turn"),
        *("Delivery Status Notification (Failure)", "Abwesenheitsnotiz: Urlaub", "Automatische Antwort: Ihr Zug"),
        *(
            "Réponse automatique : à vous",
            "=?utf-8?q?R=C3=A9ponse_automatique?=",
            "Absence du bureau",
            "Fuera de la oficina",
        ),
        *("Respuesta automática: turno", "Risposta automatica: turno", "Fuori sede", "Resposta automática: vez"),
        *("Automatisch antwoord: beurt", "Afwezig: beurt", "Autosvar: din tur", "Automatiskt svar: din tur"),
        *("Automaattinen vastaus: vuorosi", "Automatyczna odpowiedź: ruch", "Automatická odpověď: tah"),
        *(
            "Automatikus válasz: lépés",
            "Otomatik yanıt: sıra",
            "Автоматический ответ: ход",
            "Автоответ",
            "自動応答: 手番",
        ),
        *("自动回复: 轮到你", "자동 회신: 차례", "=?utf-8?b?6Ieq5Yqo5Zue5aSNOg==?= your turn", "Accepted: Meeting"),
    ],
)
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


@pytest.mark.parametrize(
    "sender",
    [
        "eve@other.example",
        f"{ALICE} <eve@other.example>",
        f'"{ALICE}" <eve@other.example>',
        f"eve@other.example ({ALICE})",
        f"Alice <{ALICE}>, Eve <eve@other.example>",
        f"Alice <{ALICE}.other.example>",
        f"{ALICE}(<eve@other.example>",
        f"eve@other.example <{ALICE}>",
        "",
    ],
)
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


@pytest.mark.parametrize(
    ("lines", "counts"),
    [
        ([PASS], True),
        ([PASS.replace("mx.example 1", "MX.example")], True),
        ([], False),
        ([PASS.replace("mx.example", "other.example")], False),
        ([PASS.replace("dmarc=pass", "dmarc=fail")], False),
        ([PASS.replace("dmarc=pass", "dmarc=passed")], False),
        ([PASS.replace("header.from=home.example", "header.from=other.example")], False),
        ([PASS.replace(" header.from=home.example", "")], False),
        (["Authentication-Results: mx.example; dmarc=fail header.from=home.example", PASS], False),
        (["Authentication-Results: mx.example; none", PASS], False),
        ([PASS, "Authentication-Results: mx.example; dmarc=fail header.from=home.example"], True),
        (["Authentication-Results: mx.example; (dmarc=pass header.from=home.example) spf=pass"], False),
        (["Authentication-Results: mx.example; dmarc=fail (dmarc=pass (or not)) header.from=home.example"], False),
        (['Authentication-Results: mx.example; spf=pass reason="; dmarc=pass header.from=home.example"'], False),
        ([PASS + "; dmarc=fail header.from=home.example"], False),
    ],
)
def test_dmarc_counts_where_the_own_server_says_so_on_top(lines: list[str], counts: bool) -> None:
    assert (verdict(mail(*lines), rules=STRICT) is None) is counts
    assert verdict(mail(*lines)) is None


@pytest.mark.parametrize("word", ["=?unicode_escape?q?=5Cud800?=", "=?utf-7?q?+2AA-?=", "=?nonsense?q?=FF?="])
def test_a_header_has_no_halves_of_characters(word: str) -> None:
    header(read_headers(mail(f"Subject: Re: {word}")), "Subject").encode()


def test_without_a_server_to_believe_nothing_passes_dmarc() -> None:
    assert not passes_dmarc(read_headers(mail(PASS)), None)


@settings(max_examples=25)
@given(st.binary(max_size=300), st.text(max_size=20))
def test_no_bytes_are_beyond_admission(content: bytes, return_path: str) -> None:
    for head in (b"", b"From: a@b.c\r\nSubject: ", b"From: ", b"From: alice@home.example\r\nAuthentication-Results: "):
        admit(head + content, return_path, STRICT)
        author_of(read_headers(head + content))
