"""URLs that name servers of another kind are refused with what to write instead; old clusters must not be resharded."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from deploy.cli import main
from deploy.local.installation import InstallationError, LocalInstallation
from events.runtime import topology
from events.runtime.connections import connect
from events.runtime.topology import Primary, Topology, WrongTopologyError, read_topology
from events.store.contract import WrongInstallationError
from events.store.redis import RedisStore
from tests.support.server import RealServer
from tests.support.three_masters import ThreeMasters


def test_a_server_of_a_cluster_is_no_single_store(cluster: ThreeMasters) -> None:
    url = cluster.servers[0].url
    with pytest.raises(WrongInstallationError, match=r"must begin with redis\+cluster://"):
        _ = RedisStore(connect(url)).shards
    refused = CliRunner().invoke(main, ["verify", "--redis", url])
    assert refused.exit_code == 1
    assert "its URL must begin with redis+cluster://" in refused.output


def test_a_url_of_another_kind_is_refused(server: RealServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REDIS_URL", server.url.replace("redis://", "redis+cluster://"))
    monkeypatch.setenv("BROKER_URL", "memory://")
    with pytest.raises(InstallationError, match=r"REDIS_URL cannot be used: .* must begin with redis://"):
        LocalInstallation(tmp_path).start()


def test_a_single_server_is_no_cluster(server: RealServer) -> None:
    with pytest.raises(WrongTopologyError, match="not a server of a cluster: its URL must begin with redis://"):
        read_topology(connect(server.url.replace("redis://", "redis+cluster://")))


def test_the_servers_of_a_cluster_are_printed_with_their_slots(cluster: ThreeMasters) -> None:
    printed = CliRunner().invoke(main, ["store", "topology", "--redis", cluster.url], env={"BROKER_URL": "memory://"})
    assert printed.exit_code == 0, printed.output
    assert "The store is a cluster:" in printed.output
    assert all(f"127.0.0.1:{server.port} valkey" in printed.output for server in cluster.servers)
    assert "may be moved in one step" in printed.output


def test_slots_that_are_moved_key_by_key_refuse_the_start(cluster: ThreeMasters) -> None:
    slot = next(first for first, _ in cluster.owners())
    owner = cluster.owner_of(slot)
    cluster.ask(owner, "CLUSTER", "SETSLOT", slot, "MIGRATING", cluster.ids[(owner + 1) % 3])
    try:
        with pytest.raises(WrongTopologyError, match=r"1 slots of .* are being moved key by key"):
            read_topology(connect(cluster.url))
    finally:
        cluster.ask(owner, "CLUSTER", "SETSLOT", slot, "STABLE")


def test_an_old_cluster_may_be_used_but_not_resharded(cluster: ThreeMasters, monkeypatch: pytest.MonkeyPatch) -> None:
    assert read_topology(connect(cluster.url)).cannot_move_slots == ""
    read_server = topology._read_server
    monkeypatch.setattr(topology, "_read_server", lambda *of: read_server(*of)._replace(version=(8, 1, 4)))
    reason = read_topology(connect(cluster.url)).cannot_move_slots
    assert reason.startswith("slots of this cluster must not be moved while Rookery runs: 127.0.0.1:")
    assert "upgrade to Valkey 9, Redis 8.4" in reason


@pytest.mark.parametrize(
    ("family", "version", "may"),
    [("redis", (8, 4, 0), True), ("redis", (8, 2, 3), False), ("valkey", (9, 0), True), ("valkey", (8, 1), False)],
)
def test_the_version_decides_whether_slots_may_be_moved(family: str, version: tuple[int, ...], may: bool) -> None:
    found = Topology("a cluster", (Primary("one:6379", family, version, "cluster", 16384),))
    assert (found.cannot_move_slots == "") is may
