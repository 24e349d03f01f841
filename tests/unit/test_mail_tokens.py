"""Tokens in mail addresses, and which incoming mails count."""

from dataclasses import replace

import pytest
from hypothesis import given, strategies as st

from domain.match.terms import DAY
from events.notify.inbox import Verdict
from events.notify.mail import admission
from events.notify.mail.tokens import (
    EXPIRY_MS,
    MATCH_KINDS,
    MAX_TOKEN_CHARACTERS,
    MatchToken,
    PlayerToken,
    Token,
    TokenError,
    TokenKind,
    bounce_address,
    is_expired,
    read_token,
    reply_address,
    verify_token,
    write_token,
)
from events.notify.notice import WhoMayWrite
from events.store.contract import VersionTag
from tests.support.draws import draws
from tests.support.matches import started
from tests.support.tables import table

SECRET, OTHER_SECRET = b"a secret of sixteen or more bytes", b"the secret of another player here"
LETTERS = "abcdefghijklmnopqrstuvwxyz234567"

ids = st.one_of(
    st.tuples(st.sampled_from("mp"), st.text(LETTERS, min_size=16, max_size=16)).map("".join),
    st.text("abcdefgh-0123456789", min_size=1, max_size=10),
)
tags = st.builds(VersionTag, st.integers(0, 2**32 - 1), st.binary(min_size=8, max_size=8).map(bytes.hex))
match_tokens = st.builds(
    MatchToken, kind=st.sampled_from(sorted(MATCH_KINDS)), match_id=ids, seat=st.integers(0, 255), tag=tags
)
player_tokens = st.builds(
    PlayerToken, kind=st.sampled_from(sorted(set(TokenKind) - MATCH_KINDS)), player=ids, detail=st.integers(0, 255)
)
tokens: st.SearchStrategy[Token] = match_tokens | player_tokens

TURN = MatchToken(kind=TokenKind.REPLY, match_id="mabcdefghijklmnop", seat=1, tag=VersionTag(7, "00112233445566ff"))
TEXT = write_token(TURN, SECRET)


@draws(40)
@given(tokens)
def test_a_token_is_read_as_it_was_written_whatever_its_case(token: Token) -> None:
    text = write_token(token, SECRET)
    assert text == text.lower()
    assert len(text) <= MAX_TOKEN_CHARACTERS
    assert read_token(text.upper()) == verify_token(text.upper(), SECRET) == token


@draws(40)
@given(tokens)
def test_a_token_counts_for_its_own_player_only(token: Token) -> None:
    with pytest.raises(TokenError, match="not made for this player"):
        verify_token(write_token(token, OTHER_SECRET), SECRET)


@draws(40)
@given(tokens, st.data())
def test_a_token_with_another_letter_is_refused(token: Token, data: st.DataObject) -> None:
    text = write_token(token, SECRET)
    place = data.draw(st.integers(0, len(text) - 1))
    letter = data.draw(st.sampled_from(LETTERS.replace(text[place], "")))
    with pytest.raises(TokenError):
        verify_token(text[:place] + letter + text[place + 1 :], SECRET)


def test_each_flipped_bit_is_refused() -> None:
    for place, letter in enumerate(TEXT):
        for bit in range(5):
            changed = LETTERS[LETTERS.index(letter) ^ (1 << bit)]
            with pytest.raises(TokenError):
                verify_token(TEXT[:place] + changed + TEXT[place + 1 :], SECRET)


def test_each_truncated_token_is_refused() -> None:
    for length in range(len(TEXT)):
        with pytest.raises(TokenError):
            verify_token(TEXT[:length], SECRET)


@given(st.binary(max_size=80).map(lambda raw: raw.decode("latin-1")))
def test_any_text_is_read_or_refused(text: str) -> None:
    with pytest.raises(TokenError):
        verify_token(text, SECRET)


@given(st.text(LETTERS, max_size=62))
def test_any_letters_are_read_or_refused(text: str) -> None:
    with pytest.raises(TokenError):
        verify_token(text, SECRET)


def test_what_a_token_says_cannot_be_carried_to_another_seat_version_kind_or_match() -> None:
    mac = TEXT[-19:]
    others = (
        replace(TURN, seat=2),
        replace(TURN, kind=TokenKind.CONFIRM_RESIGNATION),
        replace(TURN, tag=VersionTag(8, TURN.tag.digest)),
        replace(TURN, match_id="mabcdefghijklmnoq"),
    )
    for other in others:
        forged = write_token(other, OTHER_SECRET)[:-19] + mac
        with pytest.raises(TokenError):
            verify_token(forged, SECRET)


def test_a_token_is_not_written_with_what_does_not_fit_into_it() -> None:
    for token in (
        replace(TURN, match_id="a-long-name-of-a-match"),
        replace(TURN, match_id=""),
        replace(TURN, tag=VersionTag(2**32, TURN.tag.digest)),
        replace(TURN, seat=256),
        replace(TURN, kind=TokenKind.BOUNCE),
        PlayerToken(kind=TokenKind.REPLY, player="p1"),
    ):
        with pytest.raises(ValueError):  # noqa: PT011
            write_token(token, SECRET)
    with pytest.raises(ValueError, match="at least 16 bytes"):
        write_token(TURN, b"short")


def test_the_local_part_of_an_address_has_at_most_64_octets() -> None:
    longest = write_token(replace(TURN, tag=VersionTag(2**32 - 1, "f" * 16)), SECRET)
    for address in (reply_address(longest, "mail.example"), bounce_address(longest, "mail.example")):
        assert len(address.partition("@")[0]) <= 64


def test_tokens_expire_thirty_days_after_the_end_of_the_match() -> None:
    match = started().state
    assert not is_expired(match, 10**15)
    ended = replace(match, result=replace(match.result, ended_at=1000))
    assert not is_expired(ended, 1000 + EXPIRY_MS - 1)
    assert is_expired(ended, 1000 + 30 * DAY)


ALICE = "alice@home.example"
RULES = admission.AdmissionRules(
    address=ALICE, who_may_write=WhoMayWrite.TOKEN_AND_FROM, domain="play.example", authserv_id="mx.example"
)
STRICT = replace(RULES, who_may_write=WhoMayWrite.TOKEN_FROM_AND_DMARC)


def mail(*headers: str, sender: str = f"Alice <{ALICE}>", body: str = "a3-b4") -> bytes:
    lines = [f"From: {sender}", "Message-ID: <1@home.example>", *headers, "", body]
    return "\r\n".join(lines).encode()


def verdict(content: bytes, return_path: str = ALICE, rules: admission.AdmissionRules = RULES) -> Verdict | None:
    return admission.admit(content, return_path, rules).verdict


def test_a_mail_of_the_confirmed_address_counts() -> None:
    assert admission.admit(mail("Subject: Re: Your turn"), ALICE, RULES) == admission.ADMITTED
    assert (
        admission.admit(mail(sender="ALICE@Home.example (at work)"), "other@home.example", RULES) == admission.ADMITTED
    )


@pytest.mark.parametrize("line", table(__file__, "a mail with a mark of a program is automatic"))
def test_a_mail_with_a_mark_of_a_program_is_automatic(line: str) -> None:
    assert verdict(mail(line)) is Verdict.AUTOMATIC
    assert admission.automatic_mark(mail(line), "?")


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
    admission.header(admission.read_headers(mail(f"Subject: Re: {word}")), "Subject").encode()


def test_without_a_server_to_believe_nothing_passes_dmarc() -> None:
    assert not admission.passes_dmarc(admission.read_headers(mail(PASS)), None)


@draws(25)
@given(st.binary(max_size=300), st.text(max_size=20))
def test_no_bytes_are_beyond_admission(content: bytes, return_path: str) -> None:
    for head in (b"", b"From: a@b.c\r\nSubject: ", b"From: ", b"From: alice@home.example\r\nAuthentication-Results: "):
        admission.admit(head + content, return_path, STRICT)
        admission.author_of(admission.read_headers(head + content))
