"""The client of a primary that sentinels watch, on real servers: it follows a failover."""

from collections.abc import Callable

import pytest

from events.runtime import connections
from events.runtime.connections import connect
from events.runtime.errors import StoreUnavailableError
from events.runtime.scripts import Script
from events.runtime.topology import WATCHED_SERVER, WrongTopologyError, read_topology
from tests.support.eventually import eventually
from tests.support.topologies import Watched


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


def test_an_old_primary_that_wakes_up_is_not_asked_by_a_client_that_was_idle(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "PRIMARY_INTERVAL_S", 0)
    monkeypatch.setattr(connections, "SENTINEL_TIMEOUT_S", 10.0)  # a busy machine is not a sentinel that is silent
    client, old = connect(watched.url), watched.primary()
    client.set("seen", "before")
    watched.pause(old)
    watched.wait_for_another_primary(old)
    watched.ask(watched.primary(), "SET", "seen", "after")
    watched.resume(old)
    assert watched.ask(old, "GET", "seen") == "before"
    assert client.get("seen") == b"after"


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
