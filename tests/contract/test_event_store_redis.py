"""What the store on Redis promises beyond the contract: about failures, keys, commands and installations."""

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files
from itertools import count
from pathlib import Path
from threading import Barrier

import pytest
from redis.crc import key_slot

from events.runtime.connections import StoreClient, connect
from events.runtime.errors import StoreError, StoreUnavailableError
from events.store.contract import (
    EMPTY,
    NO_CONDITIONAL_MOVES,
    DamagedStreamError,
    Head,
    Request,
    StaleVersionError,
    WrongInstallationError,
)
from events.store.redis import FORMAT, RedisStore
from tests.support.chains import verify_all
from tests.support.drafts import draft, drafts, grown, request
from tests.support.eventually import eventually
from tests.support.proxy import LossyProxy
from tests.support.server import RealServer


@pytest.fixture
def proxy(server: RealServer) -> Iterator[LossyProxy]:
    proxy = LossyProxy(server.port)
    yield proxy
    proxy.close()


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[RealServer]:
    server = RealServer(tmp_path / "redis")
    yield server
    server.close()


def events_key(store: RedisStore, stream: str) -> str:
    return f"{store.prefix}{{s{store.shard_of(stream):02d}}}:m:{stream}:e"


def dump(redis: StoreClient) -> dict[bytes, bytes]:
    return {key: redis.dump(key) for key in redis.scan_iter()}


def test_a_lost_reply_neither_doubles_an_append_nor_reports_a_conflict(redis: StoreClient, proxy: LossyProxy) -> None:
    store = RedisStore(connect(proxy.url))
    (first,) = grown(store, "m", [1])
    proxy.lose_reply_to(b"EVALSHA")
    second = store.append("m", first.head, drafts(2), request("lost"))
    assert proxy.lost.is_set()
    assert second.repeated
    assert RedisStore(redis).read("m") == first.events + second.events
    assert RedisStore(redis).head("m") == second.head


def test_a_lost_reply_to_a_lost_script_is_asked_for_again(redis: StoreClient, proxy: LossyProxy) -> None:
    store = RedisStore(connect(proxy.url))
    (first,) = grown(store, "m", [1])
    redis.script_flush()
    proxy.lose_reply_to(b"EVAL\r\n")
    assert store.append("m", first.head, drafts(1), request("key")).head.version == 2
    assert proxy.lost.is_set()


def test_a_server_that_was_killed_has_lost_nothing_acknowledged(own_server: RealServer) -> None:
    store = RedisStore(own_server.client())
    written = {}
    for round_number in range(3):
        for stream in ("m", "n", "o"):
            written[stream] = grown(store, stream, [1, 2, 1])[-1].head
        own_server.kill()
        own_server.start()
        assert {stream: store.head(stream) for stream in written} == written
        assert all(len(store.read(stream)) == 4 * (round_number + 1) for stream in written)
    announced = {(entry.stream, entry.version) for shard in range(16) for entry in store.feed(shard)}
    assert announced == {(stream, version) for stream in written for version in range(1, 13)}


def test_a_server_killed_under_load_keeps_what_it_acknowledged_and_doubles_nothing(own_server: RealServer) -> None:
    store = RedisStore(own_server.client())
    busy = Barrier(5)

    def write_until_killed(stream: str) -> tuple[str, Head, str]:
        head = EMPTY
        for number in count():
            if number == 50:
                busy.wait()
            key = f"{stream} {number}"
            try:
                head = store.append(stream, head, drafts(2), request(key)).head
            except StoreUnavailableError:
                return stream, head, key
        raise AssertionError("count() does not end")

    with ThreadPoolExecutor(4) as pool:
        writers = [pool.submit(write_until_killed, stream) for stream in ("m", "n", "o", "p")]
        busy.wait()
        own_server.kill()
        acknowledged = [writer.result() for writer in writers]
    own_server.start()
    for stream, head, unanswered in acknowledged:
        assert head.version >= 100
        assert store.head(stream).version in (head.version, head.version + 2)
        assert store.append(stream, head, drafts(2), request(unanswered)).head.version == head.version + 2
        assert len(store.read(stream)) == head.version + 2
    assert verify_all(store) == []
    for shard in range(store.shards):
        announced = store.feed(shard, limit=10**6)
        assert [entry.sequence for entry in announced] == list(range(1, len(announced) + 1))
        for stream in store.streams(shard):
            versions = [entry.version for entry in announced if entry.stream == stream]
            assert versions == list(range(1, store.head(stream).version + 1))


def test_a_store_that_is_away_says_so_and_comes_back_by_itself(own_server: RealServer) -> None:
    store = RedisStore(own_server.client())
    (first,) = grown(store, "m", [1])
    own_server.stop()
    with pytest.raises(StoreUnavailableError):
        store.append("m", first.head, drafts(1), request("key"))
    with pytest.raises(StoreUnavailableError):
        store.open("m")
    with pytest.raises(StoreUnavailableError):
        list(store.streams(0))
    own_server.start()
    assert store.append("m", first.head, drafts(1), request("key")).head.version == 2


def test_a_store_that_was_never_reached_can_be_made_and_used_later(own_server: RealServer) -> None:
    own_server.stop()
    store = RedisStore(own_server.client())
    with pytest.raises(StoreUnavailableError):
        store.installation()
    own_server.start()
    assert store.installation().shards == 16


def test_a_full_server_refuses_an_append_before_its_first_write(redis: StoreClient) -> None:
    store = RedisStore(redis)
    (first,) = grown(store, "m", [1])
    before = dump(redis)
    redis.config_set("maxmemory", 1)
    with pytest.raises(StoreUnavailableError, match="maxmemory"):
        store.append("m", first.head, drafts(3), request("key"), deadline=5)
    assert store.read("m") == first.events
    redis.config_set("maxmemory", 0)
    assert dump(redis) == before
    assert store.append("m", first.head, drafts(3), request("key")).head.version == 4


def test_a_replica_that_cannot_write_is_unavailable(redis: StoreClient) -> None:
    store = RedisStore(redis)
    (first,) = grown(store, "m", [1])
    redis.config_set("replica-read-only", "yes")
    redis.replicaof("127.0.0.1", "1")
    try:
        with pytest.raises(StoreUnavailableError):
            store.append("m", first.head, drafts(1), request("key"))
    finally:
        redis.replicaof("NO", "ONE")
    assert store.head("m") == first.head


def test_a_refused_append_changes_no_key(redis: StoreClient) -> None:
    store = RedisStore(redis)
    (first,) = grown(store, "m", [2])
    before = dump(redis)
    with pytest.raises(StaleVersionError):
        store.append("m", EMPTY, drafts(1), request("late"), deadline=9)
    with pytest.raises(StaleVersionError):
        store.append("m", Head(2, bytes(32)), drafts(1), request("late"), deadline=9)
    store.append("m", first.head, drafts(1), request("0+2"), deadline=9)
    assert dump(redis) == before


def test_a_stream_that_lost_an_entry_is_damaged_for_readers_and_writers(redis: StoreClient) -> None:
    store = RedisStore(redis)
    (appended,) = grown(store, "m", [4])
    redis.xdel(events_key(store, "m"), "2-0")
    before = dump(redis)
    for reading in (store.read, store.open):
        with pytest.raises(DamagedStreamError, match="version 2: the entry is missing") as damage:
            reading("m")
        assert (damage.value.stream, damage.value.version) == ("m", 2)
    with pytest.raises(DamagedStreamError, match="number of stored events"):
        store.append("m", appended.head, drafts(1), request("key"))
    assert dump(redis) == before


def test_a_stream_that_lost_its_end_is_damaged(redis: StoreClient) -> None:
    store = RedisStore(redis)
    grown(store, "m", [4])
    redis.xdel(events_key(store, "m"), "4-0")
    for after in (0, 2, 3):
        with pytest.raises(DamagedStreamError, match="version 4: the last event is missing"):
            store.open("m", after)


def test_opening_after_a_version_that_the_stream_does_not_have_gives_its_head(redis: StoreClient) -> None:
    store = RedisStore(redis)
    (appended,) = grown(store, "m", [2])
    assert store.open("m", 7) == ([], appended.head, None, None, NO_CONDITIONAL_MOVES)


@pytest.mark.parametrize("stored", [b"{", b"[]", b'["t",1,2,"a",[]]', b'["t",true,2,"a",{}]', b"\xff", b'"t"'])
def test_an_entry_that_is_no_event_is_damage_with_its_place(redis: StoreClient, stored: bytes) -> None:
    store = RedisStore(redis)
    grown(store, "m", [1])
    redis.delete(events_key(store, "m"))
    redis.xadd(events_key(store, "m"), {"b": stored, "h": bytes(32)}, "1-0")
    with pytest.raises(DamagedStreamError, match="m is damaged at version 1"):
        store.read("m")


def test_a_key_of_another_kind_is_an_error_of_the_store(redis: StoreClient) -> None:
    store = RedisStore(redis)
    grown(store, "m", [1])
    redis.delete(events_key(store, "m"))
    redis.set(events_key(store, "m"), "x")
    with pytest.raises(StoreError, match="WRONGTYPE"):
        store.read("m")


def test_all_keys_of_a_shard_lie_in_one_cluster_slot(redis: StoreClient) -> None:
    store = RedisStore(redis, prefix="test:", shards=3)
    for number in range(9):
        head = store.append(f"m{number}", EMPTY, drafts(1), request(1), deadline=5).head
        store.save_snapshot(f"m{number}", head.version, {})
    slots: dict[bytes, set[int]] = {}
    for key in redis.scan_iter():
        if key != b"test:rookery":
            tag = re.fullmatch(rb"test:(\{s\d\d\}):.+", key)
            assert tag is not None, key
            slots.setdefault(tag[1], set()).add(key_slot(key))
    assert set(slots) == {b"{s00}", b"{s01}", b"{s02}"}
    assert all(len(numbers) == 1 for numbers in slots.values())


def test_the_store_works_on_a_redis_cluster(tmp_path: Path) -> None:
    node = RealServer(tmp_path / "redis", "--cluster-enabled", "yes")
    try:
        client = node.client()
        client.cluster("ADDSLOTS", *range(16384))
        eventually(lambda: client.execute_command("CLUSTER INFO")["cluster_state"] == "ok", "a cluster")
        store = RedisStore(connect(f"redis+cluster://127.0.0.1:{node.port}"), shards=4)
        for number in range(8):
            grown(store, f"m{number}", [2, 1])
            store.save_snapshot(f"m{number}", 2, {"at": 2})
        assert all(len(store.open(f"m{number}", None).events) == 1 for number in range(8))
        assert sum(len(store.feed(shard)) for shard in range(4)) == 24
    finally:
        node.close()


def test_scripts_touch_only_keys_that_are_passed_and_commands_of_6_2() -> None:
    scripts = [script for script in files("events.store").iterdir() if script.name.endswith(".lua")]
    assert {script.name.removesuffix(".lua") for script in scripts} == {
        "append", "open", "save_snapshot", "save_conditional_moves", "drop_idle_consumers", "acknowledge",
        "read_groups",
    }  # fmt: skip
    of_6_2 = {
        "EXISTS", "HGET", "HGETALL", "HMGET", "HSET", "HDEL", "HINCRBY", "XRANGE", "XLEN", "XADD", "INCRBY", "RPUSH",
        "ZADD", "ZREM", "PEXPIRE", "TIME", "XINFO", "XGROUP", "XREADGROUP", "XACK",
    }  # fmt: skip
    for script in scripts:
        calls = re.findall(r"redis\.call\(([^,)]+)(?:, '[A-Z]+')?(?:, ([^,)]+))?", script.read_text())
        calls += re.findall(r"redis\.pcall\('(XREADGROUP)', .*'STREAMS', (KEYS\[\d\]),", script.read_text())
        assert calls
        for command, key in calls:
            assert command.strip("'") in of_6_2
            assert re.fullmatch(r"KEYS\[\d\]", key) or command == "'TIME'"


def test_the_first_use_writes_down_the_installation_once(redis: StoreClient) -> None:
    first = RedisStore(redis, shards=4).installation()
    assert (first.shards, first.format) == (4, FORMAT)
    assert RedisStore(redis).installation() == first
    assert RedisStore(redis, shards=4).installation() == first


def test_another_number_of_shards_is_refused_before_anything_is_written(redis: StoreClient) -> None:
    grown(RedisStore(redis, shards=4), "m", [1])
    before = dump(redis)
    with pytest.raises(WrongInstallationError, match="installed with 4 shards and cannot be opened with 8"):
        RedisStore(redis, shards=8).append("m", EMPTY, drafts(1), request("key"))
    assert dump(redis) == before


@pytest.mark.parametrize(
    ("layout", "remedy"), [(1, "commit d4bdd19 is the last that reads it"), (FORMAT + 1, "update Rookery")]
)
def test_a_store_of_another_layout_is_refused_with_the_remedy(redis: StoreClient, layout: int, remedy: str) -> None:
    RedisStore(redis).installation()
    redis.hset("rk:rookery", "format", layout)
    before = dump(redis)
    with pytest.raises(WrongInstallationError, match=f"has layout {layout}, .* layout {FORMAT} only: {remedy}"):
        RedisStore(redis).append("m", EMPTY, drafts(1), request("key"))
    assert dump(redis) == before


def test_two_prefixes_are_two_stores(redis: StoreClient) -> None:
    one, other = RedisStore(redis, prefix="a:"), RedisStore(redis, prefix="b:", shards=2)
    grown(one, "m", [2])
    assert other.head("m") == EMPTY
    assert one.installation().id != other.installation().id


def test_a_long_list_of_streams_is_read_page_by_page(redis: StoreClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("events.store.redis.STREAMS_PER_PAGE", 3)
    store = RedisStore(redis, shards=1)
    names = [f"m{number}" for number in range(10)]
    for name in names:
        grown(store, name, [1])
    assert list(store.streams(0)) == names


def test_a_snapshot_goes_away_by_itself(redis: StoreClient) -> None:
    store = RedisStore(redis)
    grown(store, "m", [1])
    store.save_snapshot("m", 1, {"a": 1})
    (key,) = redis.keys("*:m:m:s")
    assert 0 < redis.pttl(key) <= 30 * 24 * 3600 * 1000


def test_a_snapshot_of_a_stream_that_is_not_live_goes_away_within_an_hour(redis: StoreClient) -> None:
    RedisStore(redis).save_snapshot("m", 1, {"a": 1})
    (key,) = redis.keys("*:m:m:s")
    assert 0 < redis.pttl(key) <= 3600 * 1000


def test_a_feed_that_fell_behind_refuses_before_an_event_is_written(redis: StoreClient) -> None:
    store = RedisStore(redis, shards=1)
    (first,) = grown(store, "m", [2])
    redis.set("rk:{s00}:sequence", 0)
    with pytest.raises(StoreError, match="XADD"):
        store.append("m", first.head, [draft(9)], request("key"))
    assert store.open("m", None, request("key")) == (first.events, first.head, None, None, NO_CONDITIONAL_MOVES)


def test_long_request_keys_keep_the_compact_form_of_a_stream(redis: StoreClient) -> None:
    store = RedisStore(redis)
    head = EMPTY
    for number in range(100):
        head = store.append("m", head, drafts(1), Request(f"{number}" * 60, "f" * 64)).head
    (key,) = redis.scan_iter("*:m:m:h")
    assert redis.object("encoding", key) in (b"listpack", b"ziplist")


def test_an_error_in_a_pipeline_does_not_repeat_what_was_to_be_written(server: RealServer) -> None:
    client = connect(server.url)
    client.config_set("maxmemory", 1)
    for transaction in (True, False):
        pipeline = client.pipeline(transaction=transaction)
        pipeline.set("key", "a secret")
        with pytest.raises(StoreError) as caught:
            pipeline.execute()
        assert "maxmemory" in str(caught.value)
        assert "secret" not in str(caught.value)
