"""The feeds on a cluster: every shard is read, and stays read while its slot moves to another server."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

import pytest
from redis.crc import key_slot

from events.matches.readmodels import summarise
from events.people.chats import subscribe
from events.runtime.connections import connect
from events.runtime.keys import ShardKeys
from events.store.contract import Request
from events.store.feed import FeedTail, feed_states
from events.store.redis import RedisStore
from events.store.wake_ups import WakeUps
from tests.support.drafts import grown
from tests.support.eventually import eventually
from tests.support.relays import running
from tests.support.stepped_installation import PREFIX, SHARDS, SteppedInstallation
from tests.support.three_masters import ThreeMasters
from workers.relay import Relay


@pytest.fixture
def shop(cluster_url: str) -> SteppedInstallation:
    return SteppedInstallation(cluster_url)


def name_in(store: RedisStore, shard: int) -> str:
    """Return the name of a stream of ``shard``."""
    return next(name for name in (f"m{number}" for number in count()) if store.shard_of(name) == shard)


@contextmanager
def following(tail: FeedTail) -> Iterator[list[tuple[str, int]]]:
    """Yield what ``tail`` reads until the block ends."""
    found: list[tuple[str, int]] = []
    stop = threading.Event()

    def read() -> None:
        while not stop.is_set():
            found.extend((delivery.stream, delivery.version) for delivery in tail.read(200))

    thread = threading.Thread(target=read)
    thread.start()
    try:
        yield found
    finally:
        stop.set()
        thread.join()
        tail.close()


def test_wake_ups_come_from_the_new_server_of_a_slot(cluster: ThreeMasters, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("events.store.wake_ups.WAIT_S", 0.05)
    monkeypatch.setattr("events.store.wake_ups.RETRY_PAUSE_S", 0.05)
    store = RedisStore(connect(cluster.url), PREFIX, SHARDS)
    names = [name_in(store, shard) for shard in range(SHARDS)]
    wake_ups = WakeUps(store.client, PREFIX, SHARDS)
    moved = key_slot(ShardKeys(PREFIX, 0).feed.encode())
    target = next(number for number in cluster.primaries() if number != cluster.owner_of(moved))

    def all_are_announced() -> bool:
        wake_ups.follow(range(SHARDS))
        for name in names:
            grown(store, name, [1])
        ends = {shard: state.sequence for shard, state in feed_states(store.client, PREFIX, range(SHARDS)).items()}
        return wake_ups._announced == ends

    eventually(all_are_announced, "wake-ups of all shards")
    cluster.migrate_slots(moved, moved, target)
    eventually(all_are_announced, "wake-ups of all shards")
    wake_ups.close()


def test_a_chat_message_reaches_subscribers_at_any_server(shop: SteppedInstallation, cluster: ThreeMasters) -> None:
    with subscribe(connect(cluster.url), PREFIX) as chats:
        eventually(lambda: chats.get_message(timeout=0.1), "the subscription")
        for number in range(6):
            shop.parts.chats.post(f"m{number}", "alice", "hello", Request(f"k{number}", ""))
            message = eventually(lambda: chats.get_message(timeout=0.1), "the message")
            assert message["data"] == f"m{number}".encode()


def test_relays_and_tails_follow_a_moved_slot_during_play(shop: SteppedInstallation, cluster: ThreeMasters) -> None:
    tail = FeedTail(connect(cluster.url), PREFIX, SHARDS)
    moved = key_slot(ShardKeys(PREFIX, 0).feed.encode())
    source = cluster.owner_of(moved)
    target = next(number for number in cluster.primaries() if number != source)
    with running(Relay(shop.settings, lambda: shop.now)), following(tail) as told:
        matches = [shop.start("alice", "bob") for _ in range(3 * SHARDS)]
        assert {shop.keys.shard_of(match) for match in matches} == set(range(SHARDS))
        cluster.begin_migration(moved, moved, target)
        for match in matches:
            shop.play(match, 3)
        cluster.wait_for_owner(moved, moved, target)
        for match in matches:
            shop.play(match, 1)
        states = [shop.state(match) for match in matches]
        summaries = [summarise(state) for state in states]
        eventually(lambda: [shop.readmodels.summary(match) for match in matches] == summaries, "all projections")
        expected = {
            (match, version)
            for match, state in zip(matches, states, strict=True)
            for version in range(1, state.version + 1)
        }
        eventually(lambda: set(told) >= expected, "all events in the tail")
    assert len(told) == len(expected), "none twice"
