"""The feed watch of a relay: what it costs while nothing happens, and what is taken over from a relay that is gone."""

from collections.abc import Iterator, Mapping, Sequence

import pytest

from events.matches.readmodels import summarise
from events.matches.readmodels.projector import Failures
from events.runtime.connections import StoreClient
from events.runtime.errors import StoreUnavailableError
from events.runtime.liveness import RedisLiveness
from events.runtime.wall_clock import now_ms
from events.store.feed import Delivery, FeedGroup
from events.store.redis import RedisStore
from tests.support.eventually import eventually
from tests.support.relays import running
from tests.support.stepped_installation import PREFIX, SteppedInstallation
from workers.consumers import Consumer
from workers.feed_watch import FeedWatch
from workers.relay import Relay
from workers.shares import Shares

SHARDS = 64

# What the feeds of 16 shards cost in a second while each of six groups blocked for a second and claimed every two: a
# read for each group; every two seconds XAUTOCLAIM, XINFO GROUPS and GET for each group and shard. Sent at once, that
# was a read, and every two seconds two pipelines, for each group.
MAX_COMMANDS_PER_S = 6 + 6 * 16 * 3 / 2
MAX_ROUND_TRIPS_PER_S = 6 + 6 * 2 / 2


@pytest.fixture
def consumers(redis: StoreClient) -> list[Consumer]:
    """Return a consumer of each group, which takes what it is given for done."""
    RedisStore(redis, PREFIX, SHARDS).installation()
    groups = [FeedGroup(redis, PREFIX, SHARDS, f"group-{number}", "one") for number in range(6)]
    return [Consumer(group, lambda _: {}, now_ms) for group in groups]


@pytest.fixture
def watch(redis: StoreClient, consumers: list[Consumer]) -> Iterator[FeedWatch]:
    """Return the feed watch of a relay with ``consumers``."""
    shares = Shares(RedisLiveness(redis, PREFIX), "one", SHARDS)
    watch = FeedWatch(RedisStore(redis, PREFIX), shares, consumers, ["projections"])
    yield watch
    watch._wake_ups.close()


def commands(client: StoreClient) -> Mapping[str, int]:
    """Return how often each command has been called."""
    return {name.removeprefix("cmdstat_"): stat["calls"] for name, stat in client.info("commandstats").items()}


def test_64_idle_shards_cost_no_more_than_16(redis: StoreClient, watch: FeedWatch, consumers: list[Consumer]) -> None:
    watch.step()
    for consumer in consumers:
        consumer.step(consumer.woken.take(0))
    eventually(lambda: redis.pubsub_shardnumsub(f"{PREFIX}{{s63}}:feed")[0][1], "the subscription")
    for consumer in consumers:
        consumer.step(consumer.woken.take(0.01))
    before, reads = commands(redis), redis.info("stats")["total_reads_processed"]
    watch.step()
    for consumer in consumers:
        consumer.step(consumer.woken.take(0))
    trips = redis.info("stats")["total_reads_processed"] - reads - 1
    called = {name: calls - before.get(name, 0) for name, calls in commands(redis).items()}
    feeds = {name: calls for name, calls in called.items() if calls and not name.startswith("info")}
    assert sum(feeds.values()) <= MAX_COMMANDS_PER_S, feeds
    assert trips <= MAX_ROUND_TRIPS_PER_S
    assert "xreadgroup" not in feeds


def test_waiting_consumers_are_given_one_event(redis: StoreClient, watch: FeedWatch, consumers: list[Consumer]) -> None:
    for consumer in consumers[1:]:
        consumer.group.ensure()
        consumer._ready = consumer._waits = True
    consumers[1]._waits = False  # it is at work
    redis.xgroup_destroy(f"{PREFIX}{{s03}}:feed", consumers[2].group.group)
    redis.xadd(f"{PREFIX}{{s03}}:feed", {"m": "m1", "v": 1, "o": "request"}, id="1-0")
    redis.script_flush()  # another test may have loaded the script
    before = commands(redis)
    watch._read(3)
    called = {name: calls - before.get(name, 0) for name, calls in commands(redis).items()}
    assert called["eval"] + called["evalsha"] == 2, "the first time it is not known by its digest"
    of_each = [(consumer._take_handed(), consumer.woken.take(0), consumer._ready) for consumer in consumers]
    delivery = Delivery(3, "1-0", 1, "m1", 1, origin="request")
    assert of_each[3:] == [([delivery], set(), True)] * 3
    assert of_each[1:3] == [([], {3}, True), ([], {3}, False)], "one reads later, one finds out what is wrong"


def test_what_could_not_be_handled_is_given_on(redis: StoreClient, watch: FeedWatch, consumers: list[Consumer]) -> None:
    consumer, given = consumers[0], list[int]()
    consumer.group.ensure()
    consumer._ready = consumer._waits = True

    def handle(deliveries: Sequence[Delivery]) -> Failures:
        given.append(len(deliveries))
        if len(given) == 1:
            raise StoreUnavailableError
        return {}

    consumer._handle = handle
    redis.xadd(f"{PREFIX}{{s03}}:feed", {"m": "m1", "v": 1}, id="1-0")
    watch._read(3)
    with pytest.raises(StoreUnavailableError):
        consumer.step(consumer.woken.take(0), consumer._take_handed())
    consumer.start_over()
    consumer.step(consumer.woken.take(0), consumer._take_handed())
    assert given == [1, 1]


def test_entries_of_a_dead_relay_are_taken_over(shop: SteppedInstallation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("events.runtime.liveness.MAX_REPORT_AGE_MS", 500)
    monkeypatch.setattr("workers.shares.MAX_REPORT_AGE_MS", 500)
    monkeypatch.setattr("workers.feed_watch.POLL_S", 0.05)
    monkeypatch.setattr("workers.consumers.MIN_CLAIM_IDLE_MS", 3_600_000)
    monkeypatch.setattr("workers.sweeper.Sweeper.sweep", lambda _: 0)
    matches = [shop.start("alice", "bob") for _ in range(8)]
    dead = shop.group("projections", "dead")
    assert dead.read()
    shop.parts.liveness.report("dead", {})
    with running(Relay(shop.settings, lambda: shop.now)):
        states = [summarise(shop.state(match)) for match in matches]
        eventually(lambda: [shop.readmodels.summary(match) for match in matches] == states, "all projections")


def test_a_relay_that_stops_leaves_its_share_to_others_at_once(shop: SteppedInstallation) -> None:
    with running(Relay(shop.settings, lambda: shop.now)):
        eventually(lambda: len(shop.parts.liveness.reports()) == 1, "the report")
    assert shop.parts.liveness.reports() == []
