"""Read models and ratings made anew from the events are the same to the byte, also while a relay goes on."""

import threading
from random import Random

import pytest

from domain.match.commands import AbortMatch, OfferDraw, Resign
from domain.match.enums import Status
from domain.match.state import Seat
from events.matches.fleet_jobs import FleetJobs, JobState
from events.matches.readmodels import recalculation, standings, summarise
from events.matches.readmodels.generations import (
    Generations,
    RebuildOvertakenError,
    begin_generation,
    switch_generation,
)
from events.matches.readmodels.projector import EventSummaries, Projector
from events.matches.readmodels.summary import DAY_MS
from events.runtime.connections import StoreClient
from events.runtime.keys import ReadModelKeys
from events.store.snapshots import snapshot_of
from tests.support.eventually import eventually
from tests.support.feed_groups import lags_of
from tests.support.fleet import rebuild, run_here
from tests.support.matches import FOUR, T0
from tests.support.relays import running
from tests.support.server import RealServer
from tests.support.stepped_installation import PREFIX, SteppedInstallation
from workers.fleet.kinds import REBUILD
from workers.relay import Relay

PEOPLE = ("alice", "bob", "carol", "dora", "opponent-1", "opponent-2")


def populate(shop: SteppedInstallation, seed: int, size: int = 40) -> list[str]:
    """Play matches of all kinds at random over some days; return them."""
    chance = Random(seed)
    matches = []
    for _ in range(size):
        shop.now += chance.randrange(DAY_MS // 4)
        if chance.random() < 0.2:
            match = shop.start(*chance.sample(PEOPLE[:4], 4), game="towers", setup="four-player")
        else:
            first, second = chance.sample(PEOPLE, 2)
            first, second = (first, second) if first in PEOPLE[:4] else ("alice", "opponent-1")
            match = shop.start(first, second, rated=chance.random() < 0.8, private=chance.random() < 0.2)
        matches.append(match)
        state = shop.play(match, chance.randrange(12), seed)
        player = state.seats[0].player
        if state.status == Status.PLAYING and player is not None:
            match chance.randrange(4):
                case 0 if len(state.play.moves) < 2:
                    shop.do(match, AbortMatch(player=player), player)
                case 1:
                    shop.do(match, OfferDraw(player=player), player)
                case 2 | 3:
                    shop.do(match, Resign(player=player), player)
    shop.create(Seat.taken("alice"), Seat.open())
    shop.create(Seat.taken("alice"), Seat.invited("bob"))
    return matches


def test_a_rebuild_gives_the_same_read_models_to_the_byte(shop: SteppedInstallation, server: RealServer) -> None:
    populate(shop, 1)
    shop.project_all()
    shop.rate_all()
    grown = shop.dump()
    assert len(grown) > 100
    rebuilt = rebuild(shop.settings)
    assert SteppedInstallation(server.url).dump() == grown
    (job,) = shop.parts.fleet_jobs.jobs()
    assert (job.state, job.units, job.units_done, job.slices, job.done) == (JobState.FINISHED, 42, 42, 10, 10)
    assert (rebuilt.matches, rebuilt.left_out) == (42, ())
    assert rebuilt.events == sum(shop.store.head(m).version for m in shop.store.all_streams())


def test_a_rebuild_leaves_nothing_of_read_models_that_were_wrong(shop: SteppedInstallation) -> None:
    match = shop.start("alice", "bob")
    shop.project_all()
    right = shop.dump()
    shop.client.zadd(shop.keys.listed(shop.keys.shard_of(match), "awaiting:carol", 0), {match: 1})
    shop.client.set(shop.keys.summary("no-such-match", 0), shop.client.get(shop.keys.summary(match, 0)) or b"")
    shop.client.zadd(shop.keys.rating_keys(0).leaderboard("bashni-2"), {"carol": 3000})
    rebuild(shop.settings)
    assert shop.dump() == right


def test_a_match_that_cannot_be_replayed_is_named_and_left_out(shop: SteppedInstallation) -> None:
    good, bad = shop.start("alice", "bob"), shop.start("alice", "carol")
    key = f"{shop.settings.prefix}{{s{shop.keys.shard_of(bad):02d}}}:m:{bad}:e"
    shop.client.xdel(key, "2-0")
    rebuilt = rebuild(shop.settings)
    assert [match for match, _ in rebuilt.left_out] == [bad]
    assert "damaged" in rebuilt.left_out[0][1]
    assert shop.readmodels.summary(bad) is None
    assert shop.readmodels.summary(good) is not None


def test_a_rebuild_while_people_play_ends_with_everything_right(shop: SteppedInstallation) -> None:
    matches = populate(shop, 3)
    shop.project_all()
    with running(Relay(shop.settings, lambda: shop.now)):
        rebuilding = threading.Thread(target=rebuild, args=[shop.settings])
        rebuilding.start()
        while rebuilding.is_alive():
            for match in matches:
                shop.play(match, 1)
            shop.start("alice", "bob")
        rebuilding.join()
        lines = [shop.group(name) for name in ("projections", "tasks")]
        eventually(lambda: not any(lag.pending + lag.undelivered for line in lines for lag in lags_of(line)), "the end")
    shop.rate_all()
    grown = shop.dump()
    rebuild(shop.settings)
    assert shop.dump() == grown


def test_a_rebuild_snapshots_matches_that_go_on(shop: SteppedInstallation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workers.fleet.rebuild.SNAPSHOT_EVERY", 4)
    going_on, young, over = shop.start("alice", "bob"), shop.start("alice", "bob"), shop.start("alice", "bob")
    shop.play(going_on, 6)
    shop.play(over, 6)
    shop.do(over, Resign(player="alice"), "alice")
    head = shop.store.head(going_on)
    shop.store.save_snapshot(going_on, head.version, {"wrong": True})
    rebuild(shop.settings)
    assert shop.store.open(going_on, None).snapshot == snapshot_of(shop.state(going_on), head)
    assert [shop.store.open(match, None).snapshot for match in (young, over)] == [None, None]


def test_a_rebuild_killed_while_rating_goes_on(shop: SteppedInstallation, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(3):
        shop.win("alice", "bob", T0 + number * DAY_MS)
    shop.project_all()
    shop.rate_all()
    grown = shop.dump()
    shop.parts.fleet_jobs = FleetJobs(shop.client, PREFIX)
    shop.parts.fleet_jobs.work.lease_ms = 0
    with monkeypatch.context() as patch:

        def die(*_: object) -> None:
            raise KeyboardInterrupt

        patch.setattr("events.matches.readmodels.ratings.Ratings.switch", die)
        with pytest.raises(KeyboardInterrupt):
            run_here(shop.parts, REBUILD, {})
    run_here(shop.parts, REBUILD, {})
    assert len(shop.parts.fleet_jobs.jobs()) == 1
    assert shop.dump() == grown


def generations(shop: SteppedInstallation, match_id: str) -> Generations:
    return Generations.parse(shop.client.get(shop.keys.generation(shop.keys.shard_of(match_id))))


def killed_before(monkeypatch: pytest.MonkeyPatch, function: str) -> None:
    """Let a rebuild end where it would call ``function``."""

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(f"workers.fleet.rebuild.{function}", die)


def test_lists_are_never_empty_during_a_rebuild(shop: SteppedInstallation, monkeypatch: pytest.MonkeyPatch) -> None:
    match = shop.start("alice", "bob")
    shop.project_all()
    seen: list[list[str]] = []
    of_shard = shop.keys.shard_of(match)

    def looking(client: StoreClient, keys: ReadModelKeys, shard: int, generation: int) -> None:
        seen.append(shop.readmodels.active("bob"))
        switch_generation(client, keys, shard, generation)
        seen.append(shop.readmodels.active("bob"))

    monkeypatch.setattr("workers.fleet.rebuild.switch_generation", looking)
    for generation in (1, 2):
        rebuild(shop.settings)
        assert generations(shop, match) == Generations(generation)
        assert seen == [[match]] * 2 * shop.store.shards
        assert not shop.client.exists(shop.keys.summary(match, generation - 1))
        assert not shop.client.exists(shop.keys.listed(of_shard, "active:bob", generation - 1))
        seen.clear()


def test_a_relay_writes_to_both_generations(shop: SteppedInstallation, monkeypatch: pytest.MonkeyPatch) -> None:
    match = shop.start("alice", "bob")
    shop.project_all()
    projector = shop.projector

    def overtaken(client: StoreClient, keys: ReadModelKeys, shard: int, generation: int) -> None:
        if shard == keys.shard_of(match):
            # The rebuild has written this match already: what the relay writes now must not be lost with the switch.
            shop.play(match, 1)
            assert projector.project([match]) == {}
            assert shop.readmodels.summary(match) == summarise(shop.state(match))
        switch_generation(client, keys, shard, generation)

    monkeypatch.setattr("workers.fleet.rebuild.switch_generation", overtaken)
    rebuild(shop.settings)
    assert shop.readmodels.summary(match) == summarise(shop.state(match))
    assert shop.readmodels.matches_of("bob", ["awaiting"]) == [match]
    assert shop.readmodels.matches_of("alice", ["awaiting"]) == []


def test_a_rebuild_that_is_killed_changes_nothing_that_is_read_and_the_next_one_leaves_nothing_of_it(
    shop: SteppedInstallation, monkeypatch: pytest.MonkeyPatch
) -> None:
    match = shop.start("alice", "bob")
    shop.project_all()
    before = shop.dump()
    with monkeypatch.context() as patch:
        killed_before(patch, "switch_generation")
        for _ in range(2):
            with pytest.raises(KeyboardInterrupt):
                rebuild(shop.settings)
            (job,) = shop.parts.fleet_jobs.running()
            assert shop.parts.fleet_jobs.cancel(job)
    assert generations(shop, match).building is not None
    assert shop.dump() == before
    shop.play(match, 1)
    shop.project_all()
    grown = shop.dump()
    rebuild(shop.settings)
    assert shop.dump() == grown
    current = generations(shop, match)
    begin = shop.keys.of_shard(shop.keys.shard_of(match))
    names = [name.decode() for name in shop.client.scan_iter(f"{begin}*")]
    assert names
    assert all(name.startswith(f"{begin}{current.current}:") for name in names)


def test_a_rebuild_that_another_one_has_overtaken_ends_and_harms_nothing(shop: SteppedInstallation) -> None:
    match = shop.start("alice", "bob")
    shop.project_all()
    grown, shard = shop.dump(), shop.keys.shard_of(match)
    overtaken = begin_generation(shop.client, shop.keys, shard)
    projector = Projector(shop.client, shop.keys, EventSummaries(shop.store))
    assert projector.project([match], into=overtaken) == {}
    rebuild(shop.settings)
    with pytest.raises(RebuildOvertakenError):
        projector.project([match], into=overtaken)
    with pytest.raises(RebuildOvertakenError):
        switch_generation(shop.client, shop.keys, shard, overtaken)
    assert shop.dump() == grown


def test_ratings_do_not_depend_on_the_order_in_which_results_arrive(shop: SteppedInstallation) -> None:
    players = ("alice", "bob", "carol", "opponent-3")
    chance = Random(5)
    matches = []
    for number in range(24):
        winner, loser = chance.sample(players, 2)
        winner, loser = (winner, loser) if winner != "opponent-3" else ("alice", "opponent-3")
        matches.append(shop.win(winner, loser, T0 + (number // 4) * DAY_MS + chance.randrange(DAY_MS)))
    dumps = []
    for seed in range(3):
        for key in shop.client.scan_iter(f"{shop.keys.ratings}*"):
            shop.client.delete(key)
        Random(seed).shuffle(matches)
        for match in matches:
            assert shop.ratings.rate(match)
            assert not shop.ratings.rate(match)
        dumps.append(shop.dump())
    assert dumps[0] == dumps[1] == dumps[2]


def test_ratings_are_read_as_a_player_sees_them(shop: SteppedInstallation) -> None:
    first = shop.win("alice", "bob", T0)
    second = shop.win("alice", "opponent-2", T0 + DAY_MS)
    shop.rate_all()
    (rating,) = shop.readmodels.ratings("alice")
    assert (rating.player, rating.pool, rating.matches, rating.provisional) == ("alice", "bashni-2", 2, True)
    history = shop.readmodels.rating_history("alice", "bashni-2")
    assert [(change.match, change.before) for change in history] == [(first, 1500.0), (second, history[0].after)]
    assert history[1].after == rating.rating
    assert history[1].deviation == pytest.approx(rating.deviation, abs=1)
    assert shop.readmodels.rating_change(second)["alice"] == (history[1].before, history[1].after)
    assert set(shop.readmodels.rating_change(first)) == {"alice", "bob"}
    assert shop.readmodels.rating_change("no-such-match") == {}
    assert shop.readmodels.pools() == ["bashni-2"]


def test_a_deviation_is_shown_as_it_has_grown_since_the_last_match(shop: SteppedInstallation) -> None:
    shop.win("alice", "bob", T0)
    shop.rate_all()
    (fresh,) = shop.readmodels.ratings("alice")
    shop.now += 300 * DAY_MS
    (rested,) = shop.readmodels.ratings("alice")
    assert rested.rating == fresh.rating
    assert rested.deviation > fresh.deviation


def test_the_leaderboard_has_everyone_in_pages(shop: SteppedInstallation, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (standings, recalculation):
        monkeypatch.setattr(module, "PROVISIONAL_DEVIATION", 349.0)
    for number in range(5):
        shop.win(f"p{number}", "opponent-1")
        shop.win(f"p{number}", f"p{(number + 1) % 5}")
    shop.win("p3", "p2")
    shop.rate_all()
    seen: list[str] = []
    cursor = None
    while True:
        page = shop.readmodels.leaderboard("bashni-2", cursor, 2)
        seen += [rating.player for rating in page.items]
        cursor = page.next
        if cursor is None:
            break
    assert (len(seen), len(set(seen)), seen[0], seen[-1]) == (6, 6, "p3", "opponent-1")
    ratings = [rating.rating for rating in shop.readmodels.leaderboard("bashni-2").items]
    assert ratings == sorted(ratings, reverse=True)


def test_four_players_have_a_pool_of_their_own(shop: SteppedInstallation) -> None:
    match = shop.start(*FOUR, game="towers", setup="four-player")
    shop.play(match, 4)
    shop.do(match, Resign(player=FOUR[0]), FOUR[0])
    shop.rate_all()
    assert shop.readmodels.pools() == ["towers-4"]
    changes = shop.readmodels.rating_change(match)
    assert changes[FOUR[0]][1] < 1500 < changes[FOUR[1]][1]
    assert changes[FOUR[1]] == changes[FOUR[2]] == changes[FOUR[3]]
