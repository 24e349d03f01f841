"""What operators see of a store on a cluster: everything, and each of its servers."""

from tests.support.stepped_installation import SteppedInstallation
from tests.support.three_masters import ThreeMasters


def test_every_figure_is_read_from_a_cluster_and_each_of_its_servers_is_shown(cluster: ThreeMasters) -> None:
    shop = SteppedInstallation(cluster.url)
    shop.parts.settings = shop.settings._replace(broker_url="memory://")
    shop.all_consumers()
    shop.start("alice", "opponent-1")
    found = {figure.name: dict(figure.values) for figure in shop.parts.figures.read()}
    assert found["rookery_feed_lag"]["projections",] == 2
    assert found["rookery_feed_age_seconds"]["projections",] >= 0
    servers = {(f"127.0.0.1:{server.port}",) for server in cluster.servers[:3]}
    assert found["rookery_aof_write_ok"] == dict.fromkeys(servers, 1.0)
    assert found["rookery_server_memory_bytes"].keys() == servers
