"""A backup of an installation on a cluster goes into a single server, and one of a single server into a cluster."""

from pathlib import Path

from tests.integration.test_backup_commands import back_up, read_all, restore_into
from tests.support.chains import verify_all
from tests.support.fleet import rebuild
from tests.support.server import RealServer
from tests.support.stepped_installation import SteppedInstallation


def test_a_backup_moves_between_cluster_and_server(server: RealServer, cluster_url: str, tmp_path: Path) -> None:
    shop = SteppedInstallation(server.url)
    shop.win("alice", "bob")
    shop.play(shop.start("alice", "bob", match="running"), 3)
    shop.project_all()
    shop.rate_all()
    shop.checkpoints.sign(shop.now)
    back_up(shop, tmp_path / "one")
    on_cluster = restore_into(cluster_url, read_all(tmp_path / "one"), shop)
    rebuild(on_cluster.settings)
    assert on_cluster.dump() == shop.dump()
    on_cluster.play("running", 1)
    back_up(on_cluster, tmp_path / "two")
    back = restore_into(f"{server.url.rpartition('/')[0]}/5", read_all(tmp_path / "two"), on_cluster)
    assert verify_all(back.store) == []
    assert back.store.read("running") == on_cluster.store.read("running")
    assert back.checkpoints.leaves(0, 10) == shop.checkpoints.leaves(0, 10)
    assert back.checkpoints.stored() == shop.checkpoints.stored()
