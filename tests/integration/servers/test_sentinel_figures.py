"""What operators see of a store under sentinels: its primary, and how far each replica is behind."""

from events.runtime.connections import connect
from events.store.servers import server_figures
from tests.support.watched_servers import Watched


def test_each_replica_is_shown_with_what_it_lacks(watched: Watched) -> None:
    client = connect(watched.url)
    client.set("key", "value")
    watched.ask(watched.primary(), "WAIT", 2, 5000)
    found = {figure.name: figure.values for figure in server_figures(client)}
    (primary,) = found["rookery_aof_write_ok"]
    assert found["rookery_server_replicas"] == {primary: 2.0}
    replicas = {key[1] for key in found["rookery_replica_lag_bytes"]}
    assert len(replicas) == 2
    assert primary[0] not in replicas
    assert all(lag < 10_000 for lag in found["rookery_replica_lag_bytes"].values())
    assert found["rookery_replica_silence_seconds"].keys() == found["rookery_replica_lag_bytes"].keys()
