"""The relay finds what a server of a cluster has lost; one that comes back empty takes no matches."""

from pathlib import Path

import pytest
from redis.crc import key_slot

from events.runtime.connections import connect
from events.runtime.keys import ShardKeys
from events.store.contract import EMPTY, Request, WrongInstallationError
from events.store.incidents import Incidents
from events.store.redis import RedisStore
from tests.bench.store import CREATED, MOVED
from tests.support.stepped_installation import PREFIX, SHARDS
from tests.support.three_masters import ThreeMasters
from workers.relay import MarkKeeper

MATCHES = [f"m{number}" for number in range(4 * SHARDS)]


@pytest.fixture
def store(cluster: ThreeMasters) -> RedisStore:
    store = RedisStore(connect(cluster.url), PREFIX, SHARDS)
    for match in MATCHES:
        store.append(match, EMPTY, [CREATED, MOVED], Request("created", match))
    return store


def server_of(cluster: ThreeMasters, store: RedisStore, match: str) -> int:
    return cluster.owner_of(key_slot(ShardKeys(PREFIX, store.shard_of(match)).feed.encode()))


def test_losses_of_one_server_are_one_incident(cluster: ThreeMasters, store: RedisStore, tmp_path: Path) -> None:
    keeper = MarkKeeper(store, tmp_path / "mark.json")
    keeper.step()
    number = server_of(cluster, store, MATCHES[0])
    file = cluster.servers[number].append_only_file()
    size = file.stat().st_size
    for match in MATCHES:
        store.append(match, store.head(match), [MOVED], Request("moved", match))
    keeper.step()
    cluster.kill(number)
    with file.open("rb+") as stored:
        stored.truncate(size)
    cluster.start(number)
    cluster.wait_until_complete()
    for _ in range(2):
        keeper.step()
    [incident] = Incidents(store.client, PREFIX).all()
    assert incident.lost == {match: 2 for match in MATCHES if server_of(cluster, store, match) == number}
    assert 0 < len(incident.lost) < len(MATCHES)


def test_a_server_of_a_cluster_that_was_emptied_takes_no_match(cluster: ThreeMasters, store: RedisStore) -> None:
    number = server_of(cluster, store, MATCHES[0])
    fresh = next(match for match in map("n{}".format, range(99)) if server_of(cluster, store, match) == number)
    cluster.ask(number, "FLUSHALL")
    with pytest.raises(WrongInstallationError, match="was emptied while it was used"):
        store.append(fresh, EMPTY, [CREATED], Request("created", fresh))
