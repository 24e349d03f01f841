"""Webhook endpoints are stored with their logs, bounded, exported without secrets, and erased."""

from dataclasses import replace

import pytest

from events.notices.endpoints import (
    DISABLED_AFTER_MS,
    MAX_ATTEMPTS_LOGGED,
    MIN_FAILURES_TO_DISABLE,
    OLD_KEYS_VALID_MS,
    Attempt,
    Endpoint,
    EndpointKeys,
    Endpoints,
    PayloadForm,
)
from events.notices.notice import NoticeKind
from events.runtime.connections import StoreClient
from tests.support.matches import T0


@pytest.fixture
def endpoints(redis: StoreClient) -> Endpoints:
    return Endpoints(redis, "test:", 4)


def endpoint(id: str = "w1", created_at: int = T0) -> Endpoint:
    return Endpoint(
        id=id,
        url="https://hooks.test/",
        kinds=(NoticeKind.TURN,),
        payload=PayloadForm.FULL,
        created_at=created_at,
        keys=(EndpointKeys(secret="whsec_1", private_key="whsk_1"),),
    )


def attempt(webhook_id: str = "n1") -> Attempt:
    return Attempt(
        webhook_id=webhook_id,
        type="match.turn",
        match="m1",
        at=T0,
        took_ms=12,
        url="https://hooks.test/",
        headers={"webhook-id": webhook_id},
        body='{"type":"match.turn"}',
        status=200,
        answer="ok",
        delivered=True,
        outcome="Delivered.",
    )


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
