"""Read models without a stream, as a split brain leaves them: found by the sweeper, named and removed."""

from pathlib import Path

import pytest

from domain.match.commands import SubmitMove
from events.readmodels.lists import write_summary
from events.readmodels.projector import EventSummaries
from events.store.told import LostEvent
from tests.support.lost_tail import lose_tail
from tests.support.server import RealServer
from tests.support.stepped_installation import PREFIX, SHARDS, SteppedInstallation
from workers import phantoms
from workers.phantoms import PhantomWalk


def write_across(read: SteppedInstallation, written: SteppedInstallation, match: str) -> None:
    """Write the summary of a match to one primary from the events of the other, as a relay between the two did."""
    projected = EventSummaries(read.store).read(match, 0, None)
    with written.client.pipeline(transaction=True) as pipeline:
        write_summary(pipeline, written.keys, 0, match, None, projected)
        pipeline.execute()


def named(shop: SteppedInstallation) -> list[LostEvent]:
    """Return all events that were named as lost."""
    incidents = shop.parts.incidents
    return [event for incident in incidents.all() for event in incidents.lost_events(incident)]


def walked(shop: SteppedInstallation) -> int:
    """Walk all read models once; return how many phantoms were found."""
    return PhantomWalk(shop.parts, shop.tasks.request_rating).step()


def test_a_summary_from_the_events_of_another_primary_is_removed_with_its_place_in_every_list(
    shop: SteppedInstallation, other: SteppedInstallation
) -> None:
    match = shop.start("alice", "bob")
    head = shop.store.head(match)
    write_across(shop, other, match)
    assert [summary.match for summary in other.readmodels.matches("recent").items] == [match]
    assert other.sweeper().sweep() == 1
    assert other.dump() == {}
    assert LostEvent(match, head.version, head.tag.digest) in named(other)
    assert walked(other) == 0


def test_a_summary_of_moves_that_only_another_primary_has_is_made_that_of_the_stream(
    shop: SteppedInstallation, other: SteppedInstallation
) -> None:
    match = shop.start("alice", "bob")
    other.start("alice", "bob")
    other.project_all()
    expected = other.dump()
    shop.do(match, SubmitMove(player="alice", move="c3-d4"))
    lost = shop.store.head(match)
    write_across(shop, other, match)
    assert walked(other) == 1
    assert named(other) == [LostEvent(match, lost.version, lost.tag.digest)]
    assert other.dump() == expected


def test_members_of_lists_that_no_summary_backs_are_removed(shop: SteppedInstallation) -> None:
    match = shop.win("alice", "bob")
    shop.project_all()
    shop.rate_all()
    before = shop.dump()
    shard = shop.store.shard_of(match)
    for name, member in (("recent", "gone"), ("awaiting:bob", match), ("met:alice:bob", "bashni-2 + gone 0-1")):
        shop.client.zadd(shop.keys.listed(shard, name, 0), {member: 1})
    assert walked(shop) == 3
    assert shop.dump() == before
    assert named(shop) == []


def test_a_member_that_has_gone_since_it_was_met_is_no_phantom(shop: SteppedInstallation) -> None:
    match = shop.start("alice", "bob")
    walk = PhantomWalk(shop.parts, shop.tasks.request_rating)
    assert not walk._remove_member(phantoms.Place(shop.store.shard_of(match), 0, phantoms.LIST, "recent", match))


def test_a_generation_that_is_not_read_is_left_to_the_next_rebuild(shop: SteppedInstallation) -> None:
    match = shop.start("alice", "bob")
    left = shop.keys.listed(shop.store.shard_of(match), "recent", 7)
    shop.client.zadd(left, {match: 1})
    assert walked(shop) == 0
    assert shop.client.zcard(left) == 1


def test_ratings_of_matches_that_do_not_exist_are_removed(
    shop: SteppedInstallation, other: SteppedInstallation
) -> None:
    match = shop.win("alice", "bob")
    shop.rate_all()
    other.ratings.put(shop.ratings.included([match]))
    assert walked(other) == 1
    assert other.rated == [match]
    other.ratings.rate(match)
    assert named(other) == [LostEvent(match, 1)]
    assert walked(other) == 0
    assert not other.readmodels.rating_change(match)


def test_an_event_that_the_log_of_checkpoints_names_is_missed_when_its_stream_lacks_it(
    shop: SteppedInstallation,
) -> None:
    match = shop.start("alice", "bob")
    head = shop.store.head(match)
    shop.checkpoints.sign(shop.now)
    assert walked(shop) == 0
    forgetful = SteppedInstallation(shop.settings.redis_url)
    lose_tail(forgetful.store, match, head.version - 1, PREFIX)
    assert walked(forgetful) == 1
    assert named(forgetful) == [LostEvent(match, head.version, head.tag.digest)]


def test_each_step_looks_at_a_bounded_part_and_the_steps_at_everything(
    shop: SteppedInstallation, other: SteppedInstallation, monkeypatch: pytest.MonkeyPatch
) -> None:
    matches = [shop.start("alice", "bob") for _ in range(6)]
    for match in matches:
        write_across(shop, other, match)
    monkeypatch.setattr(phantoms, "PLACES_PER_STEP", 7)
    walk = PhantomWalk(other.parts, other.tasks.request_rating)
    steps = [walk.step() for _ in range(20)]
    assert sum(steps) == len(matches)
    assert max(steps) < len(matches)
    assert other.dump() == {}


def test_what_is_archived_is_not_taken_for_lost(
    server: RealServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = SteppedInstallation(server.url, archive_url=tmp_path.as_uri())
    matches = [shop.win("alice", "bob") for _ in range(3)]
    shop.project_all()
    shop.rate_all()
    shop.checkpoints.sign(shop.now)
    shop.now += 31 * 24 * 3600 * 1000
    assert shop.parts.archiver.archive_all(shop.store.all_live_streams()) == len(matches)
    monkeypatch.setattr(shop.store, "server_identities", lambda shards: ["another"] * len(shards))
    assert shop.parts.lost_tails.look_at(range(SHARDS)) == []
    assert walked(shop) == 0
    assert all(shop.matches.load(match) for match in matches)
    assert shop.parts.incidents.all() == []
