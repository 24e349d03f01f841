"""An installation on a cluster: matches are played, listed, rated, told of and proved; slots move while they are."""

import threading

from redis.crc import key_slot

from domain.match.state import Seat
from events.matches.readmodels.summary import DAY_MS
from events.proof.checkpoints import day_of
from events.runtime.connections import connect
from events.runtime.errors import StoreUnavailableError
from events.runtime.keys import ShardKeys
from events.store.contract import EMPTY, Head, Request
from events.store.redis import RedisStore
from tests.support.chains import verify_all
from tests.support.drafts import draft
from tests.support.fleet import rebuild, run_here
from tests.support.stepped_installation import OTHER_LEAVES, SteppedInstallation, drain
from tests.support.three_masters import ThreeMasters
from workers.fleet.audit import RECOMPUTE
from workers.fleet.kinds import AUDIT

WRITERS = 3
MOVES = 2
"""How often a slot moves while matches are appended to."""


def test_matches_are_played_listed_rated_told_and_proved(cluster_url: str) -> None:
    shop = SteppedInstallation(cluster_url)
    won = [shop.win("alice", "bob") for _ in range(6)]
    running, opened = shop.start("alice", "bob"), shop.create(Seat.taken("alice"), Seat.open())
    shop.play(running, 3)
    drain(*shop.all_consumers())
    shop.rate_all()
    reader = shop.readmodels
    assert [summary.match for summary in reader.matches("open").items] == [opened]
    assert sorted(summary.match for summary in reader.matches("finished", "alice").items) == sorted(won)
    (pool,) = reader.pools()
    assert [match.match for match in reader.rated_matches("alice", pool).items] == list(reversed(won))
    assert (reader.leaderboard(pool).items, reader.ratings("bob")[0].matches) == ([], 6)
    assert reader.head_to_head("alice", "bob")[0].wins == 6
    assert len({shop.keys.shard_of(match) for match in won}) > 1

    shop.now += DAY_MS
    signed = shop.checkpoints.sign(shop.now)
    assert (signed.day, signed.size) == (day_of(shop.now), 8 + OTHER_LEAVES)
    assert shop.heartbeat.beat(shop.now, shop.now) == []
    shop.sweeper().sweep()
    assert verify_all(shop.store) == []

    before = shop.dump()
    rebuild(shop.settings)
    assert shop.dump() == before
    audited = run_here(shop.parts, AUDIT, {RECOMPUTE: False})
    assert (sum(slice.matches for slice in audited), [slice.findings for slice in audited]) == (8, [()])


def test_slots_that_move_while_matches_are_appended_to_lose_and_double_nothing(cluster: ThreeMasters) -> None:
    store = RedisStore(connect(cluster.url), shards=2)
    matches = [f"m{number}" for number in range(WRITERS)]
    moved = threading.Event()
    written: dict[str, Head] = {}
    failures: list[Exception] = []

    def write(match: str) -> None:
        head, number = EMPTY, 0
        while not moved.is_set() or number < 20:
            number += 1
            try:
                appended = store.append(match, head, [draft(number)], Request(f"r{number}", ""))
                head = appended.head
            except StoreUnavailableError as error:  # the same request again: it is known to be the same
                failures.append(error)
                number -= 1
        written[match] = head
        assert head.version == number

    threads = [threading.Thread(target=write, args=[match]) for match in matches]
    for thread in threads:
        thread.start()
    slots = [key_slot(ShardKeys("rk:", shard).feed.encode()) for shard in range(2)]
    for _ in range(MOVES):
        for slot in slots:
            cluster.migrate_slots(slot, slot, (cluster.owner_of(slot) + 1) % 3)
    moved.set()
    for thread in threads:
        thread.join()

    assert {match: store.head(match) for match in matches} == written
    assert verify_all(store) == []
    feeds = [pointer for shard in range(2) for pointer in store.feed(shard, limit=10**6)]
    told = sorted((pointer.stream, pointer.version) for pointer in feeds)
    assert told == [(match, version) for match in matches for version in range(1, written[match].version + 1)]
    assert failures == []
