"""On a cluster an event is acknowledged when all replicas of its server have it."""

from collections.abc import Iterator
from functools import partial

import pytest
from redis.crc import key_slot

from events.runtime.connections import connect
from events.runtime.errors import StoreUnavailableError
from events.runtime.keys import ShardKeys
from events.store import copies
from events.store.contract import EMPTY, Request
from events.store.copies import NotCopiedError
from events.store.redis import RedisStore
from tests.support.drafts import drafts
from tests.support.eventually import eventually
from tests.support.three_masters import ThreeMasters


@pytest.fixture(scope="module")
def shared_doubled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ThreeMasters]:
    with ThreeMasters(tmp_path_factory.mktemp("doubled"), replicas=1) as cluster:
        yield cluster


@pytest.fixture
def doubled(shared_doubled: ThreeMasters) -> ThreeMasters:
    """Return a cluster with a replica of each primary, complete and emptied."""
    shared_doubled.empty()
    return shared_doubled


def test_a_dead_replica_stops_its_own_server_alone(doubled: ThreeMasters, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copies, "MAX_WAIT_MS", 50)
    store = RedisStore(connect(doubled.url))
    matches = [f"m{number}" for number in range(30)]
    owners = {match: doubled.owner_of(slot(store, match)) for match in matches}
    for match in matches:
        assert not store.append(match, EMPTY, drafts(1), Request(match, "")).repeated
    doubled.kill(3)
    eventually(lambda: doubled.ask(0, "INFO", "replication")["connected_slaves"] == 0, "that the replica is missed")
    refused = set()
    monkeypatch.setattr(copies, "REFUSAL_S", 0)
    for match in matches:
        try:
            store.append(match, store.head(match), drafts(1), Request(f"{match} again", ""))
        except NotCopiedError:
            refused.add(match)
    assert refused == {match for match, owner in owners.items() if owner == 0} != set()
    [shortage] = store.copies.shortages()
    assert shortage.startswith(f"0 of 1 replicas follow 127.0.0.1:{doubled.servers[0].port}")
    doubled.start(3)
    doubled.wait_until_complete()
    for match in refused:
        eventually(partial(is_repeated, store, match), "that the replica has what was appended")


def test_the_wait_follows_the_append_to_the_server_that_has_got_its_slot(doubled: ThreeMasters) -> None:
    store = RedisStore(connect(doubled.url))
    store.append("moving", EMPTY, drafts(1), Request("first", ""))
    target = (doubled.owner_of(slot(store, "moving")) + 1) % 3
    there = next(name for name in map(str, range(100)) if doubled.owner_of(slot(store, name)) == target)
    store.append(there, EMPTY, drafts(1), Request("with the script", ""))
    doubled.ask(target, "CONFIG", "RESETSTAT")
    doubled.migrate_slots(slot(store, "moving"), slot(store, "moving"), target)
    store.append("moving", store.head("moving"), drafts(1), Request("second", ""))
    calls = doubled.ask(target, "INFO", "commandstats")
    assert calls["cmdstat_wait"]["calls"] == 1


def test_a_promoted_replica_acknowledges_only_what_the_primary_it_replaced_has_too(doubled: ThreeMasters) -> None:
    store = RedisStore(connect(doubled.url))
    match = next(f"m{number}" for number in range(100) if doubled.owner_of(slot(store, f"m{number}")) == 0)
    store.append(match, store.head(match), drafts(1), Request("before", ""))
    doubled.kill(0)
    doubled.wait_for_owner(slot(store, match), slot(store, match), 3)
    with pytest.raises(NotCopiedError, match="0 instead of 1"):
        eventually(lambda: was_appended(store, match), "that the promoted replica is written to")
    doubled.start(0)
    doubled.wait_until_complete()
    eventually(lambda: is_repeated(store, match), "that the replaced primary has what was appended")
    doubled.fail_over(0)


def was_appended(store: RedisStore, match: str) -> bool:
    """Append to a match; return False while its server cannot be reached."""
    try:
        return bool(store.append(match, store.head(match), drafts(1), Request(f"{match} again", "")))
    except NotCopiedError:
        raise
    except StoreUnavailableError:
        return False


def slot(store: RedisStore, match: str) -> int:
    return int(key_slot(ShardKeys(store.prefix, store.shard_of(match)).feed.encode()))


def is_repeated(store: RedisStore, match: str) -> bool:
    """Tell whether the second append of a match is acknowledged now, when it is repeated."""
    try:
        return store.append(match, store.head(match), drafts(1), Request(f"{match} again", "")).repeated
    except StoreUnavailableError:
        return False
