"""Why the product has a client of a cluster of its own: what the one of redis-py does, and what ours does instead.

A test that fails with a later release of redis-py says that a reason has gone (``events.runtime.cluster``).
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from redis import Redis
from redis.cluster import RedisCluster
from redis.crc import key_slot
from redis.exceptions import RedisError

from events.runtime import connections
from events.runtime.connections import connect
from events.runtime.errors import StoreUnavailableError
from tests.support.pauses import check_lost_watch
from tests.support.three_masters import ThreeMasters

COUNT = "{match}:count"
SLOT = key_slot(b"match")
KEYS = [f"key-{number}" for number in range(30)]
"""They are spread over all servers."""


@pytest.fixture
def theirs(cluster: ThreeMasters) -> Iterator[Any]:
    """Return redis-py's own client of the cluster, with a short time limit."""
    with RedisCluster(host="127.0.0.1", port=cluster.servers[0].port, socket_timeout=0.5) as client:
        yield client


def received(cluster: ThreeMasters, number: int) -> int:
    """Return the connections that a server has received. The new one of this question is accepted after all others."""
    with Redis(host="127.0.0.1", port=cluster.servers[number].port) as client:
        count: int = client.info("stats")["total_connections_received"]
    return count


def break_connections(cluster: ThreeMasters) -> None:
    cluster.ask(cluster.owner_of(SLOT), "CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")


def move_slot(cluster: ThreeMasters) -> None:
    cluster.migrate_slots(SLOT, SLOT, (cluster.owner_of(SLOT) + 1) % 3)


Disturb = Callable[[ThreeMasters], None]
DISTURBANCES = pytest.mark.parametrize("disturb", [break_connections, move_slot])


@DISTURBANCES
def test_redis_py_loses_a_watch_and_overwrites_others(cluster: ThreeMasters, theirs: Any, disturb: Disturb) -> None:
    theirs.set(COUNT, 1)
    with theirs.pipeline(transaction=True) as pipeline:
        pipeline.watch(COUNT)
        disturb(cluster)
        value = int(pipeline.get(COUNT))
        connect(cluster.url).set(COUNT, 10)
        pipeline.multi()
        pipeline.set(COUNT, value + 1)
        pipeline.execute()
    assert theirs.get(COUNT) == b"2", "the update of the other client is lost"


@DISTURBANCES
def test_our_transaction_is_decided_again_when_its_watch_is_lost(cluster: ThreeMasters, disturb: Disturb) -> None:
    check_lost_watch(connect(cluster.url), connect(cluster.url), partial(disturb, cluster))


def test_redis_py_repeats_at_a_hung_server(cluster: ThreeMasters, theirs: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "ANSWER_TIMEOUT_S", 0.5)
    ours, number = connect(cluster.url), cluster.owner_of(SLOT)
    attempts = {}
    for name, client in (("ours", ours), ("theirs", theirs)):
        client.get(COUNT)
        before = received(cluster, number)
        cluster.pause(number)
        with pytest.raises((RedisError, StoreUnavailableError)):
            client.get(COUNT)
        cluster.resume(number)
        attempts[name] = received(cluster, number) - before - 1
        cluster.wait_until_complete()
    assert attempts["ours"] == 0
    assert attempts["theirs"] > 1


def test_redis_py_asks_for_the_keys_of_every_stream_read_and_ours_knows(cluster: ThreeMasters, theirs: Any) -> None:
    asked = {}
    for name, client in (("ours", connect(cluster.url)), ("theirs", theirs)):
        client.get(COUNT)
        for number in range(3):
            cluster.ask(number, "CONFIG", "RESETSTAT")
        for _ in range(5):
            client.xread({"{match}:stream": "0"})
        stats = [cluster.ask(number, "INFO", "commandstats") for number in range(3)]
        asked[name] = sum(found.get("cmdstat_command|getkeys", {"calls": 0})["calls"] for found in stats)
    assert asked["ours"] == 0
    assert asked["theirs"] >= 5


def test_redis_py_fails_a_pipeline_for_one_dead_server_and_ours_does_not(cluster: ThreeMasters, theirs: Any) -> None:
    ours = connect(cluster.url)
    key_of = {cluster.owner_of(key_slot(key.encode())): key for key in KEYS}
    for client in (ours, theirs):
        client.set(key_of[1], 0)
    cluster.kill(0)
    written = {}
    for name, client in (("ours", ours), ("theirs", theirs)):
        ours.set(key_of[1], 0)
        with client.pipeline(transaction=False) as pipeline:
            pipeline.incr(key_of[0])
            pipeline.incr(key_of[1])
            with pytest.raises((RedisError, StoreUnavailableError)):
                pipeline.execute()
        written[name] = ours.get(key_of[1])
    assert written == {"ours": b"1", "theirs": b"0"}
