"""The client of a primary that sentinels watch, on real servers: it follows a failover."""

from collections import Counter
from collections.abc import Callable
from functools import partial

import pytest

from events.runtime import connections, sentinels
from events.runtime.connections import connect
from events.runtime.errors import StoreUnavailableError
from events.runtime.keys import InstallationKeys
from events.runtime.scripts import Script
from events.runtime.topology import WATCHED_SERVER, WrongTopologyError, read_topology
from events.store.contract import Request
from events.store.redis import RedisStore
from tests.support.drafts import drafts
from tests.support.eventually import eventually
from tests.support.pauses import Load, check_lost_watch, check_replies
from tests.support.watched_servers import Watched


def test_the_client_follows_a_failover(watched: Watched) -> None:
    client = connect(watched.url)
    double = Script(client, "return redis.call('INCRBY', KEYS[1], ARGV[1])")
    found = read_topology(client)
    assert (found.kind, found.cannot_move_slots) == (WATCHED_SERVER, "")
    assert [server.address for server in found.servers] == [f"127.0.0.1:{watched.servers[watched.primary()].port}"]
    assert double(keys=["count"], args=[2]) == 2
    watched.ask(watched.primary(), "WAIT", 2, 5000)
    watched.fail_over()
    eventually(lambda: _is_written(lambda: double(keys=["count"], args=[3])), "that the new primary is written to")
    with client.pipeline(transaction=True) as pipeline:
        pipeline.incr("count")
        assert pipeline.execute() == [6]


def test_an_idle_client_leaves_an_old_primary(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sentinels, "PRIMARY_INTERVAL_S", 0)
    monkeypatch.setattr(connections, "SENTINEL_TIMEOUT_S", 10.0)  # a busy machine is not a sentinel that is silent
    client, old = connect(watched.url), watched.primary()
    client.set("seen", "before")
    watched.pause(old)
    watched.wait_for_another_primary(old)
    watched.ask(watched.primary(), "SET", "seen", "after")
    watched.resume(old)
    assert watched.ask(old, "GET", "seen") == "before"
    assert client.get("seen") == b"after"


def test_late_replies_of_a_primary_answer_nothing_else(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "ANSWER_TIMEOUT_S", 1.0)
    monkeypatch.setattr(connections, "SENTINEL_TIMEOUT_S", 10.0)
    primary = watched.primary()
    with watched.patient_sentinels():
        check_replies(connect(watched.url), partial(watched.pause, primary), partial(watched.resume, primary))
    assert watched.primary() == primary


def test_a_hanging_primary_is_left_by_reads_and_writes(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "ANSWER_TIMEOUT_S", 1.0)
    store = RedisStore(connect(watched.url), wait_replicas=1)
    counts: Counter[str] = Counter()

    def append(name: str) -> None:
        stream, request = f"m-{name}", Request(str(counts[name]), "")
        store.append(stream, store.head(stream), drafts(1), request)
        counts[name] += 1
        assert len(store.read(stream)) == counts[name]

    load, primary = Load(append, (StoreUnavailableError,)), watched.primary()
    reader = connect(watched.url)
    with load.running():
        load.await_rounds(10)
        assert reader.exists(InstallationKeys("rk:").installation)
        watched.pause(primary)
        watched.wait_for_another_primary(primary)
        load.await_rounds(10)
        eventually(lambda: _is_written(lambda: reader.exists(InstallationKeys("rk:").installation)), "reads")
        assert watched.primary() != primary, "the old one is still paused"
    assert load.faults == []


def test_a_watch_that_a_broken_connection_takes_away_is_noticed(watched: Watched) -> None:
    kill = partial(watched.ask, watched.primary(), "CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
    check_lost_watch(connect(watched.url), connect(watched.url), kill)


def test_replies_of_a_primary_held_down_count_not(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sentinels, "PRIMARY_INTERVAL_S", 0)
    client, primary = connect(watched.url), watched.primary()
    client.set("seen", "before")
    for number in watched.replicas():
        watched.pause(number)  # none can be promoted
    with watched.hidden_from_sentinels(primary):
        eventually(watched.is_down, "that the primary is held to be down")
        with pytest.raises(StoreUnavailableError, match="down"):
            client.get("seen")
        assert watched.ask(primary, "GET", "seen") == "before", "it answers others"
    eventually(lambda: _is_written(lambda: client.get("seen") == b"before"), "that its replies count again")


def test_a_store_works_on_while_no_sentinel_can_be_reached(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sentinels, "PRIMARY_INTERVAL_S", 0)
    monkeypatch.setattr(connections, "SENTINEL_TIMEOUT_S", 0.2)
    client = connect(watched.url)
    client.set("seen", "before")
    watched.pause_sentinels()
    assert client.get("seen") == b"before"


def test_an_unknown_service_is_refused_with_those_that_there_are(sentinel_url: str) -> None:
    with pytest.raises(WrongTopologyError, match="know no service 'chess', only rookery"):
        read_topology(connect(sentinel_url.replace("/rookery/", "/chess/")))


def test_servers_are_not_taken_for_sentinels_nor_sentinels_for_servers(watched: Watched) -> None:
    with pytest.raises(WrongTopologyError, match="no sentinel"):
        read_topology(connect(f"redis+sentinel://127.0.0.1:{watched.servers[0].port}/rookery"))
    with pytest.raises(WrongTopologyError, match=r"must be like redis\+sentinel://"):
        read_topology(connect(f"redis://127.0.0.1:{watched.sentinels[0]}"))


def _is_written(write: Callable[[], object]) -> bool:
    try:
        return bool(write())
    except StoreUnavailableError:
        return False
