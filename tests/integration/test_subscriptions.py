"""The stores of push subscriptions, of the key for push services and of feed addresses."""

import secrets
from pathlib import Path

import pytest

from events.notices.feed_addresses import FeedAddresses
from events.notices.subscriptions import (
    ENDED_KEPT_MS,
    MAX_ENDED,
    MAX_SUBSCRIPTIONS,
    Subscription,
    Subscriptions,
    subscription_id,
)
from events.proof.key_file import UnreadableKeyError
from events.push.encryption import encoded_point
from events.push.sender_key import SenderKeyStore
from events.runtime.connections import StoreClient
from events.runtime.errors import LimitReachedError
from events.runtime.notice_keys import PushKeys

NOW = 1_800_000_000_000


@pytest.fixture
def subscriptions(redis: StoreClient) -> Subscriptions:
    return Subscriptions(redis, "rk:", 4)


def made(number: int, now: int = NOW) -> Subscription:
    endpoint = f"https://web.push.apple.com/{number}"
    return Subscription(subscription_id(endpoint), endpoint, "point", "secret", f"Browser {number}", "session", now)


class TestSubscriptions:
    def test_one_that_is_saved_again_keeps_its_history(self, subscriptions: Subscriptions) -> None:
        subscriptions.save("panna", made(1))
        subscriptions.record("panna", made(1).id, "Apple answered 201.", NOW + 5, delivered=True)
        again = made(1, NOW + 9)._replace(session="another session", point="another point")
        saved = subscriptions.save("panna", again)
        assert saved == again._replace(
            created_at=NOW, delivered_at=NOW + 5, answer="Apple answered 201.", answered_at=NOW + 5
        )
        assert subscriptions.of("panna") == [saved]

    def test_a_failure_does_not_hide_when_something_was_delivered_last(self, subscriptions: Subscriptions) -> None:
        id = subscriptions.save("panna", made(1)).id
        subscriptions.record("panna", id, "Apple answered 201.", NOW + 1, delivered=True)
        subscriptions.record("panna", id, "Apple answered 500.", NOW + 2, delivered=False)
        (found,) = subscriptions.of("panna")
        assert (found.delivered_at, found.answer, found.answered_at) == (NOW + 1, "Apple answered 500.", NOW + 2)

    def test_one_that_has_ended_says_why_and_has_no_keys(self, subscriptions: Subscriptions) -> None:
        id = subscriptions.save("panna", made(1)).id
        subscriptions.end("panna", id, "The browser has unsubscribed.", NOW + 1)
        (found,) = subscriptions.of("panna")
        assert found == Subscription(
            id, "", "", "", "Browser 1", "", NOW, answered_at=NOW + 1, ended="The browser has unsubscribed."
        )
        assert subscriptions.live("panna") == []
        assert subscriptions.save("panna", made(1, NOW + 2)).ended == ""

    def test_one_that_was_made_again_meanwhile_does_not_end(self, subscriptions: Subscriptions) -> None:
        id = subscriptions.save("panna", made(1)).id
        again = subscriptions.save("panna", made(1)._replace(session="another session"))
        subscriptions.end("panna", id, "Signed out.", NOW + 1, "session")
        assert subscriptions.live("panna") == [again]
        subscriptions.end("panna", id, "Signed out.", NOW + 1, "another session")
        assert subscriptions.live("panna") == []

    def test_nothing_is_recorded_about_one_that_has_been_removed(self, subscriptions: Subscriptions) -> None:
        id = subscriptions.save("panna", made(1)).id
        assert subscriptions.remove("panna", id)
        assert not subscriptions.remove("panna", id)
        subscriptions.record("panna", id, "Apple answered 201.", NOW, delivered=True)
        subscriptions.end("panna", id, "Gone.", NOW)
        assert subscriptions.of("panna") == []

    def test_a_person_has_ten_at_most_and_an_ended_one_does_not_count(self, subscriptions: Subscriptions) -> None:
        for number in range(MAX_SUBSCRIPTIONS):
            subscriptions.save("panna", made(number))
        with pytest.raises(LimitReachedError, match="10 browsers"):
            subscriptions.save("panna", made(77))
        subscriptions.save("panna", made(3))
        subscriptions.save("panna", made(78), replaces=made(4).id)
        subscriptions.end("panna", made(5).id, "Gone.", NOW)
        subscriptions.save("panna", made(79))
        live = {each.label for each in subscriptions.live("panna")}
        assert live == {f"Browser {number}" for number in (0, 1, 2, 3, 6, 7, 8, 9, 78, 79)}

    def test_ended_ones_are_listed_for_a_month_and_ten_at_most(self, subscriptions: Subscriptions) -> None:
        for number in range(MAX_ENDED + 3):
            subscriptions.save("panna", made(number))
            subscriptions.end("panna", made(number).id, "Gone.", NOW + number)
        subscriptions.save("panna", made(50))
        kept = {each.label for each in subscriptions.of("panna") if each.ended}
        assert kept == {f"Browser {number}" for number in range(3, MAX_ENDED + 3)}
        subscriptions.save("panna", made(51, NOW + ENDED_KEPT_MS + 1000))
        assert [each.label for each in subscriptions.of("panna")] == ["Browser 50", "Browser 51"]


class TestTheKeyForPushServices:
    def test_it_is_made_once_and_stored_encrypted(self, redis: StoreClient, tmp_path: Path) -> None:
        first = SenderKeyStore(redis, "rk:", tmp_path / "secret").read()
        again = SenderKeyStore(redis, "rk:", tmp_path / "secret").read()
        assert encoded_point(first.public_key()) == encoded_point(again.public_key())
        scalar = first.private_numbers().private_value.to_bytes(32, "big")
        stored = redis.get(PushKeys("rk:").private_key)
        assert scalar not in (stored or b"")
        assert (stored or b"").startswith(b"AES-256-GCM:")

    def test_with_another_file_it_is_refused_until_it_is_replaced(self, redis: StoreClient, tmp_path: Path) -> None:
        lost = SenderKeyStore(redis, "rk:", tmp_path / "lost")
        assert not lost.replace_unreadable()
        lost.read()
        assert not lost.replace_unreadable()
        store = SenderKeyStore(redis, "rk:", tmp_path / "new")
        with pytest.raises(UnreadableKeyError, match="the key of push notices cannot be decrypted"):
            store.read()
        with pytest.raises(UnreadableKeyError, match="ROOKERY_KEY_FILE"):
            SenderKeyStore(redis, "rk:").read()
        assert not SenderKeyStore(redis, "rk:").replace_unreadable()
        # The file is there, and its secret is another.
        (tmp_path / "new").write_text(secrets.token_hex(32))
        assert store.replace_unreadable()
        assert store.read()

    def test_a_damaged_one_is_named(self, redis: StoreClient) -> None:
        redis.set(PushKeys("rk:").private_key, bytes(32))
        with pytest.raises(UnreadableKeyError, match="is damaged"):
            SenderKeyStore(redis, "rk:").read()


class TestFeedAddresses:
    @pytest.fixture
    def addresses(self, redis: StoreClient) -> FeedAddresses:
        return FeedAddresses(redis, "rk:", 4)

    @pytest.mark.parametrize("secret", ["", "panna", "-", "panna-", "panna-wrong", "pboris-" + "a" * 32, "x" * 5000])
    def test_no_other_secret_leads_to_anybody(self, addresses: FeedAddresses, secret: str) -> None:
        addresses.begin("panna", "a" * 32, NOW)
        assert addresses.owner(secret) is None

    def test_the_store_does_not_have_the_secret(self, addresses: FeedAddresses, redis: StoreClient) -> None:
        addresses.begin("panna", "a" * 32, NOW)
        (key,) = redis.keys("*panna*")
        assert b"a" * 32 not in (redis.get(key) or b"")
