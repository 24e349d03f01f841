"""Tokens in mail addresses: who has not got the secret of the player writes none that counts."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.match.terms import DAY
from events.mail.tokens import (
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
from events.store.contract import VersionTag
from tests.support.draws import draws
from tests.support.matches import started

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
