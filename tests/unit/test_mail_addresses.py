"""Mail addresses: their form, how they are confirmed and changed, and when mail to them is paused."""

from dataclasses import replace

import pytest

from events.notices.addresses import (
    HARD_SCORE,
    NO_ADDRESS,
    SOFT_SCORE,
    AddressStore,
    InvalidAddressError,
    MailAddress,
    address_digest,
    confirmed,
    parse_address,
    resumed,
    stopped,
    wants,
    with_bounce,
    without_address,
)
from events.notices.notice import PauseCause, WhoMayWrite
from events.runtime.connections import StoreClient
from tests.support.server import RealServer

DAY_MS = 86_400_000
ANNA = "pannaannaannaann2"
ADDRESS = "anna@players.test"
KNOWN = MailAddress(address=ADDRESS, confirmed_at=1)


def store_of(redis: StoreClient) -> AddressStore:
    return AddressStore(redis, "rk:", 16)


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("anna@example.org", "anna@example.org"),
        ("  Anna.B+towers@EXAMPLE.org ", "Anna.B+towers@example.org"),
        ("anna@bücher.example", "anna@xn--bcher-kva.example"),
        ("änna@example.org", "änna@example.org"),
        ("o'hara_%=!#@sub.example.org", "o'hara_%=!#@sub.example.org"),
    ],
)
def test_an_address_is_read_as_it_is_meant(text: str, address: str) -> None:
    assert parse_address(text) == address


@pytest.mark.parametrize(
    "text",
    [
        *("", "anna", "@example.org", "anna@", "anna@example", "anna@@example.org", "anna bell@example.org"),
        *("anna@example.org\r\nBcc: all@example.org", "anna\n@example.org", "<anna@example.org>", '"a b"@example.org'),
        *("anna@[127.0.0.1]", "anna@127.0.0.1", "anna@-x.example", "anna@exa_mple.org", "an,na@example.org"),
        *(".anna@example.org", "anna.@example.org", "an..na@example.org", "a" * 65 + "@example.org"),
        *("anna\u202e@example.org", "anna@" + "x." * 125 + "org", "r-abc@rookery.test", "anna\x00@example.org"),
    ],
)
def test_what_is_no_address_that_can_be_written_to_is_refused(text: str) -> None:
    with pytest.raises(InvalidAddressError):
        parse_address(text, "rookery.test")


def test_addresses_are_the_same_in_capitals() -> None:
    assert address_digest("Anna@Example.org ") == address_digest("anna@example.org")


def test_the_confirmed_address_stays_until_the_new_one_is_confirmed() -> None:
    waiting = wants(KNOWN, "anna@new.test", 5)
    assert (waiting.address, waiting.wanted, waiting.reachable) == (ADDRESS, "anna@new.test", True)
    assert confirmed(waiting, "another@new.test", 6) == waiting
    assert confirmed(waiting, "anna@new.test", 6) == MailAddress(address="anna@new.test", confirmed_at=6)
    assert wants(waiting, ADDRESS, 7) == KNOWN


def test_a_new_address_is_reached_only_once_it_is_confirmed() -> None:
    waiting = wants(NO_ADDRESS, ADDRESS, 5)
    assert not waiting.reachable
    assert waiting.why_not == "you have confirmed no mail address"
    assert confirmed(waiting, ADDRESS, 6).reachable


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


def test_a_person_stops_mail_and_resumes_it() -> None:
    silent = stopped(KNOWN, 5)
    assert silent.pause is not None
    assert silent.pause.cause == PauseCause.STOPPED
    assert stopped(silent, 9) == silent
    assert resumed(silent) == KNOWN


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
