"""Wake-ups: an append tells the readers of its shard, and a subscription that is broken is opened again."""

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import pytest
from redis.client import PubSub

from api.live import stream_hub
from events.runtime.connections import StoreClient, connect
from events.runtime.errors import StoreUnavailableError
from events.runtime.keys import ShardKeys
from events.store import wake_ups as subscriptions
from events.store.feed import FeedTail, feed_states
from events.store.redis import RedisStore
from events.store.wake_ups import WakeUps, Woken
from tests.support.drafts import grown
from tests.support.eventually import eventually
from tests.support.server import RealServer

SHARDS = 3


@pytest.fixture
def store(redis: StoreClient) -> RedisStore:
    store = RedisStore(redis, shards=SHARDS)
    store.installation()
    return store


@pytest.fixture
def wake_ups(redis: StoreClient, monkeypatch: pytest.MonkeyPatch) -> Iterator[WakeUps]:
    """Return a subscription that follows nothing yet, and notices soon what it is to follow."""
    monkeypatch.setattr("events.store.wake_ups.WAIT_S", 0.05)
    wake_ups = WakeUps(redis, "rk:", SHARDS)
    yield wake_ups
    wake_ups.close()


def reader_of(wake_ups: WakeUps, *shards: int) -> Woken:
    """Return a reader that knows of everything that was appended in ``shards`` before, and is told of what follows."""
    woken = Woken()
    wake_ups.add_reader(lambda shard: woken.add((shard,)))
    wake_ups.follow(shards)
    wait_for(woken, *shards)
    return woken


def wait_for(woken: Woken, *shards: int) -> None:
    """Wait until the reader has been told to look at ``shards``, which it is when they are subscribed."""
    found: set[int] = set()

    def told() -> bool:
        found.update(woken.take(0.01))
        return found >= set(shards)

    eventually(told, "the beginning of a subscription")


def name_in(store: RedisStore, shard: int) -> str:
    """Return the name of a stream of ``shard``."""
    return next(name for name in (f"m{number}" for number in count()) if store.shard_of(name) == shard)


def test_a_reader_is_woken_for_the_shards_that_it_follows(store: RedisStore, wake_ups: WakeUps) -> None:
    woken = reader_of(wake_ups, 0, 1)
    grown(store, name_in(store, 2), [1])
    grown(store, name_in(store, 1), [1])
    assert woken.take(20) == {1}
    wake_ups.follow([2])
    wait_for(woken, 2)
    grown(store, name_in(store, 2), [1])
    assert woken.take(20) == {2}


def test_an_older_server_is_followed(store: RedisStore, wake_ups: WakeUps, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("events.store.wake_ups._has_shard_channels", lambda _: False)
    woken = reader_of(wake_ups, 1)
    store.client.publish(ShardKeys("rk:", 1).feed, 1)
    assert woken.take(20) == {1}


def test_a_subscription_that_was_killed_with_its_server_goes_on(server: RealServer) -> None:
    store = RedisStore(server.client(), shards=SHARDS)
    store.installation()
    wake_ups = WakeUps(connect(server.url), "rk:", SHARDS)
    woken = reader_of(wake_ups, 1)
    server.kill()
    server.start()
    assert woken.take(20) == {1}, "it is opened again, and what happened meanwhile is unknown"
    grown(store, name_in(store, 1), [1])
    assert woken.take(20) == {1}
    wake_ups.close()


def test_a_subscription_that_stays_silent_about_events_is_opened_again(wake_ups: WakeUps) -> None:
    woken = reader_of(wake_ups, 1)
    wake_ups.confirm({1: 4})
    wake_ups.confirm({1: 5})
    wake_ups.confirm({1: 5})
    assert woken.take(20) == {1}, "nothing was published"


def test_a_subscription_that_tells_of_events_in_time_stays_open(store: RedisStore, wake_ups: WakeUps) -> None:
    woken, name = reader_of(wake_ups, 1), name_in(store, 1)
    for _ in range(3):
        wake_ups.confirm({shard: state.sequence for shard, state in feed_states(store.client, "rk:", [1]).items()})
        grown(store, name, [2])
        assert woken.take(20) == {1}
    assert woken.take(0) == set()


def test_a_waiting_tail_is_woken(store: RedisStore, redis: StoreClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("events.store.feed.POLL_S", 60)
    tail, name = FeedTail(redis, "rk:", SHARDS), name_in(store, 2)
    assert tail.read(1) == []
    grown(store, name, [1])
    assert [entry.version for entry in tail.read(20_000)] == [1]
    monkeypatch.setattr("events.store.wake_ups.Woken.take", lambda *_: set())
    tail._look_at = 0
    grown(store, name, [1])
    assert [entry.version for entry in tail.read(20_000)] == [2]
    tail.close()


def test_a_full_read_of_a_tail_is_followed_by_the_rest(store: RedisStore, redis: StoreClient) -> None:
    tail = FeedTail(redis, "rk:", SHARDS)
    grown(store, name_in(store, 0), [5])
    read = [[entry.version for entry in tail.read(20_000, 2)] for _ in range(3)]
    assert read == [[1, 2], [3, 4], [5]]
    tail.close()


@pytest.mark.parametrize("await_message", [subscriptions._next_message, stream_hub._next_message])
def test_closing_a_connection_elsewhere_is_told(redis: StoreClient, await_message: Callable[[PubSub], Any]) -> None:
    with redis.pubsub() as subscriber:
        subscriber.subscribe("a channel")
        connection: Any = subscriber.connection
        connection._parser._sock = None
        with pytest.raises(StoreUnavailableError, match=r"^the connection was closed$"):
            await_message(subscriber)
