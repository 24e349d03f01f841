"""Webhook endpoints, push subscriptions, keys and feed addresses as they are stored."""

import secrets
from dataclasses import replace
from pathlib import Path

import pytest

from events.notify.endpoints import (
    DISABLED_AFTER_MS,
    MAX_ATTEMPTS_LOGGED,
    MAX_ENDPOINTS_PER_PERSON,
    MIN_FAILURES_TO_DISABLE,
    OLD_KEYS_VALID_MS,
    Endpoint,
    EndpointKeys,
    Endpoints,
    PayloadForm,
    SentWebhook,
)
from events.notify.feed_addresses import FeedAddresses
from events.notify.notice import NoticeKind
from events.notify.push.encryption import encoded_point
from events.notify.push.sender_key import SenderKeyStore
from events.notify.subscriptions import (
    ENDED_KEPT_MS,
    MAX_ENDED,
    MAX_SUBSCRIPTIONS,
    Subscription,
    Subscriptions,
    subscription_id,
)
from events.proof.key_file import UnreadableKeyError
from events.runtime.connections import StoreClient
from events.runtime.errors import LimitReachedError
from events.runtime.notice_keys import PushKeys
from tests.support.matches import T0


@pytest.fixture
def endpoints(redis: StoreClient) -> Endpoints:
    return Endpoints(redis, "test:", 4)


def endpoint(id: str = "w1", created_at: int = T0) -> Endpoint:
    return Endpoint(
        id=id, url="https://hooks.test/", kinds=(NoticeKind.TURN,), payload=PayloadForm.FULL, created_at=created_at,
        keys=(EndpointKeys(secret="whsec_1", private_key="whsk_1"),),
    )  # fmt: skip


def attempt(webhook_id: str = "n1") -> SentWebhook:
    return SentWebhook(
        webhook_id=webhook_id, type="match.turn", match="m1", at=T0, took_ms=12, url="https://hooks.test/",
        headers={"webhook-id": webhook_id}, body='{"type":"match.turn"}', status=200, answer="ok", delivered=True,
        outcome="Delivered.",
    )  # fmt: skip


def test_an_endpoint_may_be_saved_again_when_the_limit_is_reached(endpoints: Endpoints) -> None:
    for number in (*range(MAX_ENDPOINTS_PER_PERSON), 0):
        endpoints.add("alice", endpoint(f"w{number}"))
    assert len(endpoints.of("alice")) == MAX_ENDPOINTS_PER_PERSON
    with pytest.raises(LimitReachedError):
        endpoints.add("alice", endpoint("more"))


def test_an_endpoint_is_changed_in_place_and_removed_with_its_log(endpoints: Endpoints) -> None:
    endpoints.add("alice", endpoint())
    endpoints.log("alice", "w1", attempt())
    changed = endpoints.change("alice", "w1", lambda known: replace(known, url="https://other.test/"))
    assert changed == endpoints.find("alice", "w1")
    assert endpoints.change("alice", "w2", lambda known: known) is None
    assert endpoints.remove("alice", "w1")
    assert not endpoints.remove("alice", "w1")
    assert endpoints.attempts("alice", "w1") == []


def test_the_log_keeps_the_last_attempts_and_expires(endpoints: Endpoints, redis: StoreClient) -> None:
    endpoints.add("alice", endpoint())
    for number in range(MAX_ATTEMPTS_LOGGED + 3):
        endpoints.log("alice", "w1", attempt(f"n{number}"))
    logged = endpoints.attempts("alice", "w1")
    assert [each.webhook_id for each in logged] == [f"n{number}" for number in range(52, 2, -1)]
    (key,) = redis.scan_iter("test:*log*")
    assert redis.ttl(key) > 0


def test_an_endpoint_that_was_removed_meanwhile_leaves_no_log(endpoints: Endpoints, redis: StoreClient) -> None:
    endpoints.log("alice", "w1", attempt())
    assert list(redis.scan_iter("test:*")) == []


def test_old_keys_sign_beside_the_new_ones_for_a_day() -> None:
    first, second, third = (EndpointKeys(secret=f"whsec_{n}", private_key=f"whsk_{n}") for n in (1, 2, 3))
    rotated = replace(endpoint(), keys=(first,)).with_fresh_keys(second, T0)
    assert [keys.secret for keys in rotated.keys_at(T0 + OLD_KEYS_VALID_MS - 1)] == ["whsec_2", "whsec_1"]
    assert [keys.secret for keys in rotated.keys_at(T0 + OLD_KEYS_VALID_MS)] == ["whsec_2"]
    again = rotated.with_fresh_keys(third, T0 + 1)
    assert [keys.secret for keys in again.keys_at(T0 + 2)] == ["whsec_3", "whsec_2"]


def test_five_days_of_failures_disable_an_endpoint() -> None:
    failing = endpoint()
    for _ in range(MIN_FAILURES_TO_DISABLE - 1):
        failing = failing.after_failure(T0)
    assert failing.after_failure(T0 + DISABLED_AFTER_MS - 1).disabled is None
    disabled = failing.after_failure(T0 + DISABLED_AFTER_MS)
    assert disabled.disabled == "Every attempt has failed for 5 days."
    assert not disabled.wants(NoticeKind.TURN)
    assert disabled.enabled().wants(NoticeKind.TURN)


def test_one_failure_long_ago_does_not_disable_an_endpoint() -> None:
    assert endpoint().after_failure(T0).after_failure(T0 + 10 * DISABLED_AFTER_MS).disabled is None


def test_a_success_begins_the_count_again() -> None:
    failing = endpoint()
    for _ in range(MIN_FAILURES_TO_DISABLE):
        failing = failing.after_failure(T0, held_until=T0 + 1)
    succeeded = failing.after_success(T0 + 2)
    assert (succeeded.failures, succeeded.failing_since, succeeded.held_until) == (0, None, None)
    assert succeeded.after_failure(T0 + DISABLED_AFTER_MS).disabled is None


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
        (key,) = [key for server in redis.servers() for key in server.keys("*panna*")]
        assert b"a" * 32 not in (redis.get(key) or b"")
