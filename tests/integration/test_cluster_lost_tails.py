"""A server of a cluster that starts with an older file, and appends that wait for replicas a cluster does not have."""

import pytest
from redis.crc import key_slot

from events.runtime.connections import connect
from events.runtime.keys import ShardKeys
from events.store.contract import EMPTY, Request
from events.store.copies import NotCopiedError
from events.store.redis import RedisStore
from events.store.told import LostEvent
from tests.support.drafts import drafts
from tests.support.stepped_installation import PREFIX, SHARDS, SteppedInstallation
from tests.support.topologies import ThreeMasters


def play(shop: SteppedInstallation, match: str) -> LostEvent:
    """Play a ply; return the event."""
    shop.play(match, 1)
    known = shop.matches.cached(match)
    assert known is not None
    return LostEvent(match, known.head.version, known.head.tag.digest)


def owner(cluster: ThreeMasters, shop: SteppedInstallation, match: str) -> int:
    """Return the number of the server that has a match."""
    return cluster.owner_of(key_slot(ShardKeys(PREFIX, shop.store.shard_of(match)).feed.encode()))


def test_what_an_older_file_of_one_server_lacks_is_named_and_nothing_of_the_others(
    cluster: ThreeMasters, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("events.service.lost_tails.IDENTITY_INTERVAL_S", 0)
    shop = SteppedInstallation(cluster.url)
    matches = [shop.start("alice", "bob") for _ in range(2 * SHARDS)]
    number = owner(cluster, shop, matches[0])
    file = cluster.servers[number].append_only_file()
    size = file.stat().st_size
    last = {match: play(shop, match) for match in matches}
    cluster.kill(number)
    with file.open("rb+") as stored:
        stored.truncate(size)
    cluster.start(number)
    cluster.wait_until_complete()

    shop.matches.load(matches[0])
    incidents = shop.parts.incidents
    named = {event for incident in incidents.all() for event in incidents.lost_events(incident)}
    here = {match for match in matches if owner(cluster, shop, match) == number}
    assert {event._replace(request="") for event in named} == {last[match] for match in here}
    assert here < set(matches)
    assert len(incidents.all()) == 1
    assert play(shop, matches[0]).version == last[matches[0]].version, "the match goes on"


def test_an_append_waits_for_replicas_on_the_server_that_has_the_match(cluster_url: str) -> None:
    store = RedisStore(connect(cluster_url), PREFIX, SHARDS, wait_replicas=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("events.store.copies.MAX_WAIT_MS", 20)
        for number in range(3):
            with pytest.raises(NotCopiedError, match="0 instead of 1"):
                store.append(f"m{number}", EMPTY, drafts(1), Request("k", ""))
            assert store.head(f"m{number}").version == 1
