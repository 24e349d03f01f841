"""Failovers under sentinels that take acknowledged events with them: every lost event is named, nothing is forked."""

from collections.abc import Iterable

import pytest

from domain.match.commands import OfferDraw
from events.readmodels.projector import EventSummaries, OtherHistoryError, Projector
from events.runtime.errors import StoreFullError
from events.store.contract import Request
from events.store.told import LostEvent
from tests.support.eventually import eventually
from tests.support.fleet import rebuild
from tests.support.stepped_installation import SteppedInstallation, drain
from tests.support.topologies import Watched

PATIENCE_S = 30


@pytest.fixture(autouse=True)
def every_touch_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look at the server at every touch of a shard, not every two seconds only."""
    monkeypatch.setattr("events.service.lost_tails.IDENTITY_INTERVAL_S", 0)


def play(shop: SteppedInstallation, matches: Iterable[str], plies: int = 2) -> set[LostEvent]:
    """Play some plies of each match; return the events that were acknowledged."""
    acknowledged = set()
    for match in matches:
        for _ in range(plies):
            shop.play(match, 1)
            known = shop.matches.cached(match)
            assert known is not None
            acknowledged.add(LostEvent(match, known.head.version, known.head.tag.digest))
    return acknowledged


def named(shop: SteppedInstallation) -> set[LostEvent]:
    """Return what is named as lost, without the requests."""
    incidents = shop.parts.incidents
    events = [event for incident in incidents.all() for event in incidents.lost_events(incident)]
    assert len(events) == len(set(events))
    return {event._replace(request="") for event in events}


def missing(shop: SteppedInstallation, acknowledged: set[LostEvent]) -> set[LostEvent]:
    """Return which acknowledged events are in no stream, as another process reads them."""
    judge = SteppedInstallation(shop.settings.redis_url)
    present = {
        LostEvent(match, event.version, event.id[:16])
        for match in {event.match for event in acknowledged}
        for event in judge.store.read(match)
    }
    return acknowledged - present


def test_every_acknowledged_event_that_a_promoted_replica_lacks_is_named(watched: Watched) -> None:
    api, relay = SteppedInstallation(watched.url), SteppedInstallation(watched.url)
    matches = [api.start("alice", "bob") for _ in range(4)]
    acknowledged = play(api, matches)
    line = relay.projections()
    drain(line)
    primary = watched.primary()
    watched.wait_until_complete()
    watched.cut_off_replicas()
    repeated = (matches[0], OfferDraw(player="alice"), "alice", Request("again", ""))
    first = api.matches.append_decision(*repeated)
    acknowledged.add(LostEvent(matches[0], first.version, first.head.tag.digest))
    acknowledged |= play(api, [*matches[1:], api.start("alice", "bob")])
    drain(line)
    watched.kill(primary)
    watched.resume_all()
    watched.wait_for_another_primary(primary)

    relay.sweeper().sweep()
    lost = missing(api, acknowledged)
    assert len(lost) == 9
    assert lost <= named(relay)
    assert missing(api, named(relay)) == named(relay), "nothing is named that is there"
    again = api.matches.append_decision(*repeated)
    assert (again.repeated, again.version) == (False, first.version), "the request is carried out, once"
    assert api.matches.append_decision(*repeated).repeated
    play(api, matches[1:])
    drain(line)
    followed = relay.dump()
    rebuild(relay.settings)
    assert relay.dump() == followed


def test_what_a_replaced_primary_goes_on_acknowledging_is_named_and_leaves_no_phantom(watched: Watched) -> None:
    cut_off, relay = SteppedInstallation(watched.url), SteppedInstallation(watched.url)
    matches = [cut_off.start("alice", "bob") for _ in range(3)]
    acknowledged = play(cut_off, matches)
    drain(relay.projections())
    primary = watched.primary()
    watched.wait_until_complete()
    watched.ask(primary, "CONFIG", "SET", "min-replicas-to-write", 1)
    watched.pause(primary)
    watched.wait_for_another_primary(primary)
    other_side = SteppedInstallation(f"redis://127.0.0.1:{watched.servers[watched.primary()].port}/0")
    other_side.now = cut_off.now + 1000
    watched.pause_sentinels()
    watched.resume(primary)
    eventually(lambda: watched.ask(primary, "ROLE")[2] == [], "that the replicas have left", PATIENCE_S)

    with pytest.raises(StoreFullError, match="NOREPLICAS"):
        play(cut_off, matches[:1])
    watched.ask(primary, "CONFIG", "SET", "min-replicas-to-write", 0)
    acknowledged |= play(cut_off, [*matches[:2], cut_off.start("alice", "bob")])
    across = Projector(other_side.client, other_side.keys, EventSummaries(cut_off.store))
    for match in (matches[0], "m4"):
        with pytest.raises(OtherHistoryError):
            across.project([match])
    acknowledged |= play(other_side, [matches[0], matches[2]])
    watched.resume_sentinels()
    watched.wait_until_complete()

    lost = missing(cut_off, acknowledged)
    assert {event.match for event in lost} == {matches[0], matches[1], "m4"}
    for match in matches:
        cut_off.matches.load(match)
    assert lost <= named(relay)
    assert missing(relay, named(relay)) == named(relay)
    drain(relay.projections())
    followed = relay.dump()
    relay.sweeper().sweep()
    rebuild(relay.settings)
    assert relay.dump() == followed
