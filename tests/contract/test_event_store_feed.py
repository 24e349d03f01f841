"""The shard feeds as workers read them."""

import pytest

from events.runtime.connections import StoreClient, connect
from events.runtime.errors import StoreUnavailableError
from events.store.feed import Delivery, FeedGroup, FeedTail, trim
from events.store.redis import RedisStore
from tests.support.drafts import grown
from tests.support.feed_groups import lags_of, parked_by
from tests.support.server import RealServer

SHARDS = 3


@pytest.fixture
def store(redis: StoreClient) -> RedisStore:
    store = RedisStore(redis, shards=SHARDS)
    store.installation()
    return store


def group(redis: StoreClient, name: str = "projections", consumer: str = "relay-1") -> FeedGroup:
    consuming = FeedGroup(redis, "rk:", SHARDS, name, consumer)
    consuming.ensure()
    return consuming


def acknowledge(redis: StoreClient, consuming: FeedGroup, deliveries: list[Delivery]) -> None:
    with redis.pipeline() as pipeline:
        consuming.acknowledge(pipeline, deliveries)
        pipeline.execute()


def places(deliveries: list[Delivery]) -> set[tuple[str, int]]:
    return {(delivery.stream, delivery.version) for delivery in deliveries}


def names_on_all_shards(store: RedisStore) -> list[str]:
    found: dict[int, str] = {}
    for number in range(100):
        found.setdefault(store.shard_of(f"m{number}"), f"m{number}")
    return [found[shard] for shard in range(SHARDS)]


def test_a_group_reads_what_was_appended_before_it_began_and_after(store: RedisStore, redis: StoreClient) -> None:
    names = names_on_all_shards(store)
    for name in names:
        grown(store, name, [2])
    consuming = group(redis)
    assert places(consuming.read()) == {(name, version) for name in names for version in (1, 2)}
    grown(store, names[1], [1])
    assert consuming.read() == [Delivery(1, "3-0", 3, names[1], 3)]
    assert consuming.read() == []


def test_making_a_group_again_keeps_its_place(store: RedisStore, redis: StoreClient) -> None:
    grown(store, "m", [2])
    assert len(group(redis).read()) == 2
    assert group(redis).read() == []


def test_a_read_gives_at_most_the_count_of_each_shard(store: RedisStore, redis: StoreClient) -> None:
    grown(store, "m", [5])
    consuming = group(redis)
    assert [entry.version for entry in consuming.read(count=2)] == [1, 2]
    assert [entry.version for entry in consuming.read(count=2)] == [3, 4]


def test_two_consumers_of_a_group_share_entries_and_two_groups_do_not(store: RedisStore, redis: StoreClient) -> None:
    grown(store, "m", [4])
    one, other = group(redis), group(redis, consumer="relay-2")
    assert places(one.read(count=2)) | places(other.read()) == {("m", version) for version in range(1, 5)}
    assert len(group(redis, "ratings").read()) == 4


def test_an_acknowledgement_takes_place_with_the_effect_or_not_at_all(store: RedisStore, redis: StoreClient) -> None:
    grown(store, "m", [2])
    consuming = group(redis)
    deliveries = consuming.read()
    with redis.pipeline() as pipeline:
        consuming.acknowledge(pipeline, deliveries)
        pipeline.set("effect", 1)
    assert sum(lag.pending for lag in lags_of(consuming)) == 2
    acknowledge(redis, consuming, deliveries)
    assert sum(lag.pending for lag in lags_of(consuming)) == 0


def test_entries_of_a_dead_consumer_are_claimed_with_their_deliveries(store: RedisStore, redis: StoreClient) -> None:
    names = names_on_all_shards(store)
    for name in names:
        grown(store, name, [3])
    dead, heir = group(redis), group(redis, consumer="relay-2")
    given = dead.read()
    acknowledge(redis, dead, [entry for entry in given if entry.version == 2])
    claimed = heir.claim(0)
    assert places(claimed) == {(name, version) for name in names for version in (1, 3)}
    assert {entry.times_delivered for entry in claimed} == {2}
    assert {entry.times_delivered for entry in heir.claim(0)} == {3}


def test_entries_that_were_given_recently_are_not_claimed(store: RedisStore, redis: StoreClient) -> None:
    grown(store, "m", [2])
    group(redis).read()
    assert group(redis, consumer="relay-2").claim(60_000) == []


def test_claimed_entries_that_were_trimmed_are_settled(store: RedisStore, redis: StoreClient) -> None:
    grown(store, "m", [3])
    consuming = group(redis)
    consuming.read()
    redis.xdel(f"rk:{{s{store.shard_of('m'):02d}}}:feed", "2-0")
    heir = group(redis, consumer="relay-2")
    assert [entry.version for entry in heir.claim(0)] == [1, 3]
    assert sum(lag.pending for lag in lags_of(heir)) == 2


def test_a_parked_entry_is_out_of_the_way_and_kept_with_its_reason(store: RedisStore, redis: StoreClient) -> None:
    grown(store, "m", [2])
    consuming = group(redis)
    first, _ = consuming.read()
    consuming.park(first, "it cannot be read: ♞")
    (parked,) = parked_by(consuming)
    assert parked == (store.shard_of("m"), "projections", 1, "m", 1, "it cannot be read: ♞")
    assert [entry.version for entry in consuming.claim(0)] == [2]
    assert parked_by(group(redis, "ratings")) == []


def test_the_lag_counts_entries_undelivered_and_unacknowledged(store: RedisStore, redis: StoreClient) -> None:
    grown(store, "m", [5])
    consuming = group(redis)
    shard = store.shard_of("m")
    assert lags_of(consuming)[shard] == (5, 0)
    deliveries = consuming.read(count=3)
    assert lags_of(consuming)[shard] == (2, 3)
    acknowledge(redis, consuming, deliveries[:1])
    assert lags_of(consuming)[shard] == (2, 2)
    assert [lag for number, lag in enumerate(lags_of(consuming)) if number != shard] == [(0, 0)] * (SHARDS - 1)


def test_a_group_that_does_not_exist_yet_is_behind_by_everything(store: RedisStore, redis: StoreClient) -> None:
    grown(store, "m", [2])
    lags = lags_of(FeedGroup(redis, "rk:", SHARDS, "later", "metrics"))
    assert lags == [(2, 0) if shard == store.shard_of("m") else (0, 0) for shard in range(SHARDS)]


def test_only_idle_consumers_that_hold_nothing_are_dropped(store: RedisStore, redis: StoreClient) -> None:
    grown(store, "m", [2])
    holding, idle, own = (group(redis, consumer=name) for name in ("holding", "idle", "own"))
    acknowledge(redis, idle, idle.read(count=1))
    holding.read()
    assert own.drop_dead_consumers(idle_ms=60_000) == 0
    dropped = own.drop_dead_consumers(idle_ms=0)
    feeds = [f"rk:{{s{shard:02d}}}:feed" for shard in range(SHARDS)]
    left = [{consumer["name"] for consumer in redis.xinfo_consumers(feed, "projections")} for feed in feeds]
    assert left[store.shard_of("m")] >= {b"holding"}
    assert all(b"idle" not in consumers for consumers in left)
    assert dropped >= 1
    assert places(own.claim(0)) == {("m", 2)}


def test_a_tail_sees_only_what_comes_after_it_was_made(store: RedisStore, redis: StoreClient) -> None:
    grown(store, "m", [2])
    tail = FeedTail(redis, "rk:", SHARDS)
    assert tail.read(None) == []
    for name in names_on_all_shards(store):
        grown(store, name, [1])
    assert {entry.stream for entry in tail.read(None)} == set(names_on_all_shards(store))
    assert tail.read(None) == []


def test_a_tail_misses_nothing_between_two_reads_nor_while_the_server_is_away(server: RealServer) -> None:
    store = RedisStore(server.client(), shards=SHARDS)
    store.installation()
    tail = FeedTail(connect(server.url), "rk:", SHARDS)
    (appended,) = grown(store, "m", [1])
    server.kill()
    with pytest.raises(StoreUnavailableError):
        tail.read(None)
    server.start()
    grown(store, "m", [2])
    assert appended.head.version == 1
    assert [entry.version for entry in tail.read(None)] == [1, 2, 3]


def test_a_tail_follows_a_store_that_was_put_back(store: RedisStore, redis: StoreClient) -> None:
    grown(store, "m", [3])
    tail = FeedTail(redis, "rk:", SHARDS)
    redis.flushall()
    restored = RedisStore(redis, shards=SHARDS)
    grown(restored, "m", [1])
    tail.read(None)
    grown(restored, "m", [1])
    assert [entry.version for entry in tail.read(None)] == [2]


def test_only_entries_that_all_groups_have_acknowledged_are_trimmed(store: RedisStore, redis: StoreClient) -> None:
    redis.config_set("stream-node-max-entries", 1)
    try:
        grown(store, "m", [10])
    finally:
        redis.config_set("stream-node-max-entries", 100)
    quick, slow = group(redis), group(redis, "ratings")
    acknowledge(redis, quick, quick.read())
    held = slow.read(count=6)
    acknowledge(redis, slow, [entry for entry in held if entry.version != 4])
    assert trim(redis, "rk:", range(SHARDS)) == 3
    assert [entry.version for entry in store.feed(store.shard_of("m"))] == list(range(4, 11))
    assert places(slow.claim(0)) == {("m", 4)}
    assert places(slow.read()) == {("m", version) for version in range(7, 11)}


def test_a_feed_without_groups_is_kept_whole(store: RedisStore, redis: StoreClient) -> None:
    grown(store, "m", [3])
    assert trim(redis, "rk:", range(SHARDS)) == 0
    assert len(store.feed(store.shard_of("m"))) == 3


def test_a_trimmed_feed_goes_on_where_it_was(store: RedisStore, redis: StoreClient) -> None:
    grown(store, "m", [3])
    consuming = group(redis)
    acknowledge(redis, consuming, consuming.read())
    redis.xtrim(f"rk:{{s{store.shard_of('m'):02d}}}:feed", maxlen=0, approximate=False)
    grown(store, "m", [1])
    assert [(entry.sequence, entry.version) for entry in consuming.read()] == [(4, 4)]
    assert sum(lag.undelivered for lag in lags_of(consuming)) == 0
