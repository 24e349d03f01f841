"""The client of a cluster, on three real servers: the same commands, pipelines and transactions as on one."""

from functools import partial

import pytest
from redis.crc import key_slot

from events.people.chats import subscribe
from events.runtime import connections
from events.runtime.clients import StorePipeline
from events.runtime.connections import connect
from events.runtime.errors import StoreCommandError, StoreUnavailableError
from events.runtime.keys import ChatKeys
from events.runtime.scripts import Script
from events.runtime.transactions import transact
from events.store import copies
from events.store.contract import EMPTY, Request
from events.store.redis import RedisStore
from events.store.rewriting import MIN_BETWEEN_REWRITES_MS, TO_BE_REWRITTEN, Rewriting
from tests.support.drafts import drafts
from tests.support.eventually import eventually
from tests.support.pauses import check_replies
from tests.support.three_masters import ThreeMasters

KEYS = [f"key-{number}" for number in range(30)]
"""They are spread over all servers."""


def test_a_pipeline_is_answered_by_all_servers_in_the_order_of_its_commands(cluster_url: str) -> None:
    client = connect(cluster_url)
    with client.pipeline(transaction=False) as pipeline:
        for number, key in enumerate(KEYS):
            pipeline.set(key, number)
        pipeline.execute()
        for key in KEYS:
            pipeline.get(key)
        assert pipeline.execute() == [str(number).encode() for number in range(len(KEYS))]
    assert sorted(client.scan_iter("key-*")) == sorted(key.encode() for key in KEYS)
    assert all(server.info("keyspace") for server in client.servers())


def test_an_error_of_one_command_does_not_hide_the_replies_to_others(cluster_url: str) -> None:
    client = connect(cluster_url)
    client.set("text", "text")
    with client.pipeline(transaction=False) as pipeline:
        pipeline.incr("text")
        pipeline.incr("count")
        replies = pipeline.execute(raise_on_error=False)
        assert (type(replies[0]).__name__, replies[1]) == ("ResponseError", 1)
        pipeline.incr("text")
        with pytest.raises(StoreCommandError, match="not an integer"):
            pipeline.execute()


def test_a_transaction_over_several_slots_is_refused_and_writes_nothing(cluster_url: str) -> None:
    client = connect(cluster_url)
    with client.pipeline(transaction=True) as pipeline:
        pipeline.set("key-1", 1)
        pipeline.set("key-2", 2)
        with pytest.raises(StoreCommandError, match="one hash tag"):
            pipeline.execute()
    assert client.get("key-1") is None


def test_a_transaction_reads_only_the_slot_that_it_watches(cluster_url: str) -> None:
    client = connect(cluster_url)
    with pytest.raises(StoreCommandError, match="one hash tag"):
        transact(client, ["{match}:count"], lambda pipeline: pipeline.get("{other}:count"))


def test_a_command_that_concerns_one_server_is_not_sent_to_any(cluster_url: str) -> None:
    with pytest.raises(StoreCommandError, match=r"INFO concerns one server of a cluster"):
        connect(cluster_url).info()


def test_commands_pipelines_transactions_and_scripts_follow_a_slot(cluster: ThreeMasters) -> None:
    client = connect(cluster.url)
    slot = key_slot(b"match")
    double = Script(client, "return redis.call('SET', KEYS[1], redis.call('GET', KEYS[1]) * 2)")

    def add_one(pipeline: StorePipeline) -> None:
        value = int(pipeline.get("{match}:count") or 0)
        pipeline.multi()
        pipeline.set("{match}:count", value + 1)

    def follow() -> None:
        cluster.migrate_slots(slot, slot, (cluster.owner_of(slot) + 1) % 3)

    transact(client, ["{match}:count"], add_one)
    double(keys=["{match}:count"])
    follow()
    transact(client, ["{match}:count"], add_one)
    follow()
    double(keys=["{match}:count"])
    follow()
    with client.pipeline(transaction=False) as pipeline:
        for key in ("{match}:count", "key-1", "{match}:count"):
            pipeline.incr(key)
        assert pipeline.execute() == [7, 1, 8]
    follow()
    with client.pipeline(transaction=True) as pipeline:
        pipeline.incr("{match}:count")
        assert pipeline.execute() == [9]
    follow()
    assert client.get("{match}:count") == b"9"


def test_a_transaction_is_decided_again_when_its_slot_moves_while_keys_are_watched(cluster: ThreeMasters) -> None:
    client = connect(cluster.url)
    slot = key_slot(b"match")
    calls: list[int] = []

    def move_once(pipeline: StorePipeline) -> None:
        value = int(pipeline.get("{match}:count") or 0)
        if not calls:
            cluster.migrate_slots(slot, slot, (cluster.owner_of(slot) + 1) % 3)
        calls.append(value)
        pipeline.multi()
        pipeline.set("{match}:count", value + 1)

    transact(client, ["{match}:count"], move_once)
    assert calls == [0, 0]
    assert client.get("{match}:count") == b"1"


def test_the_rest_of_a_cluster_works_while_one_server_is_down(cluster: ThreeMasters) -> None:
    client = connect(cluster.url)
    key_of = {cluster.owner_of(key_slot(key.encode())): key for key in KEYS}
    client.set(key_of[1], "kept")
    cluster.kill(0)
    assert client.get(key_of[1]) == b"kept"
    with pytest.raises(StoreUnavailableError):
        client.get(key_of[0])
    with client.pipeline(transaction=False) as pipeline:
        pipeline.get(key_of[0])
        pipeline.get(key_of[1])
        with pytest.raises(StoreUnavailableError):
            pipeline.execute()
    cluster.revive()
    cluster.wait_until_complete()
    assert client.get(key_of[0]) is None


def test_late_replies_of_a_server_answer_nothing_else(cluster: ThreeMasters, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "ANSWER_TIMEOUT_S", 1.0)
    check_replies(connect(cluster.url), partial(cluster.pause, 0), partial(cluster.resume, 0))


def test_what_is_published_at_any_server_is_heard(cluster_url: str) -> None:
    client = connect(cluster_url)
    subscription = subscribe(client, "rk:")
    eventually(lambda: subscription.get_message(timeout=1), "the subscription")
    for server in client.servers():
        server.publish(ChatKeys("rk:").channel, server.info("server")["tcp_port"])
    heard = [eventually(lambda: subscription.get_message(timeout=1), "a message")["data"] for _ in range(3)]
    assert len(set(heard)) == 3


def test_an_append_that_no_replica_has_says_so_in_a_cluster(cluster_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copies, "MAX_WAIT_MS", 1)
    store = RedisStore(connect(cluster_url), shards=2, wait_replicas=1)
    with pytest.raises(copies.NotCopiedError, match="0 instead of 1 replicas"):
        store.append("m", EMPTY, drafts(1), Request("r", ""))
    assert store.head("m").version == 1


def test_what_was_erased_leaves_the_files_of_all_servers(cluster: ThreeMasters) -> None:
    client = connect(cluster.url)
    clock = [0]
    rewriting = Rewriting(client, "rk:", lambda: clock[0])
    written = [server.info("persistence")["aof_rewrites"] for server in client.servers()]
    assert rewriting.note("person") == TO_BE_REWRITTEN
    clock[0] += MIN_BETWEEN_REWRITES_MS

    def follow_up() -> bool:
        rewriting.follow_up(lambda person: None)
        return rewriting.is_complete()

    eventually(follow_up, "the rewrite")
    assert all(
        server.info("persistence")["aof_rewrites"] > before
        for server, before in zip(client.servers(), written, strict=True)
    )
