"""A store that lacks events somebody was told of: found at the next touch, named, and shown."""

import pytest
from click.testing import CliRunner

from api.services import Services
from deploy.cli import main
from domain.match.commands import SubmitMove
from events.installation import Installation
from events.runtime.keys import ShardKeys
from events.service.incidents import Incident, Incidents, Loss
from events.store.contract import Request
from events.store.told import LostEvent
from tests.support.callers import Caller, started
from tests.support.lost_tail import lose_tail
from tests.support.server import RealServer
from tests.support.stepped_installation import PREFIX, SteppedInstallation, settings_for


def move(shop: SteppedInstallation, match: str, move: str, key: str = "k") -> LostEvent:
    """Let alice play a move with a request key; return the event as it is named when it is lost."""
    executed = shop.matches.append_decision(match, SubmitMove(player="alice", move=move), "alice", Request(key, ""))
    return LostEvent(match, executed.version, executed.head.tag.digest, key)


def named(shop: SteppedInstallation) -> list[list[LostEvent]]:
    """Return the lost events of every incident."""
    incidents = shop.parts.incidents
    return [incidents.lost_events(incident) for incident in incidents.all()]


def test_a_lost_event_is_named_when_its_match_is_touched(shop: SteppedInstallation) -> None:
    match = shop.start("alice", "bob")
    lost = move(shop, match, "c3-d4")
    lose_tail(shop.store, match, lost.version - 1, PREFIX)
    shop.matches.load(match)
    assert named(shop) == [[lost]]
    assert [loss.after for loss in shop.parts.incidents.losses(match)] == [lost.version - 1]


def test_a_lost_event_is_named_before_another_one_takes_its_place(shop: SteppedInstallation) -> None:
    match = shop.start("alice", "bob")
    lost = move(shop, match, "c3-d4")
    lose_tail(shop.store, match, lost.version - 1, PREFIX)
    other = move(shop, match, "g3-h4", "other")
    assert (other.version, named(shop)) == (lost.version, [[lost]])


def test_several_processes_that_find_one_loss_record_one_incident(shop: SteppedInstallation) -> None:
    match = shop.start("alice", "bob")
    other = Installation(settings_for(shop.settings.redis_url), lambda: shop.now + 1000)
    lost = move(shop, match, "c3-d4")
    other.matches.load(match)
    lose_tail(shop.store, match, lost.version - 1, PREFIX)
    other.matches.load(match)
    assert named(shop) == [[lost._replace(request="")]]
    shop.matches.load(match)
    assert named(shop) == [[lost._replace(request="")]], "it is named already"


def test_what_is_lost_of_matches_that_nobody_touches_is_found_when_another_server_answers(
    shop: SteppedInstallation, monkeypatch: pytest.MonkeyPatch
) -> None:
    match = shop.start("alice", "bob")
    lost = move(shop, match, "c3-d4")
    shard, lost_tails = shop.store.shard_of(match), shop.parts.lost_tails
    assert lost_tails.look_at([shard]) == []
    lose_tail(shop.store, match, lost.version - 1, PREFIX)
    assert lost_tails.look_at([shard]) == [], "the same server still"
    monkeypatch.setattr(shop.store, "server_identities", lambda shards: ["another"] * len(shards))
    assert lost_tails.look_at([shard]) == [lost]
    assert lost_tails.look_at([shard]) == []
    assert [incident.id for incident in shop.parts.incidents.all()] == ["lost-another"]


def test_an_event_is_named_once_and_completed_by_who_knows_more(shop: SteppedInstallation) -> None:
    incidents = Incidents(shop.client, PREFIX)
    first, second = Incident("one", 1, "lost"), Incident("two", 2, "lost")
    assert incidents.record_lost(first, [LostEvent("m", 7), LostEvent("m", 6, "a" * 16, "k")]) == 2
    assert incidents.record_lost(second, [LostEvent("m", 7, "b" * 16, "r"), LostEvent("m", 6)]) == 0
    assert incidents.all() == [first]
    assert incidents.lost_events(first) == [LostEvent("m", 6, "a" * 16, "k"), LostEvent("m", 7, "b" * 16, "r")]
    assert incidents.record_lost(second, [LostEvent("m", 7, "c" * 16)]) == 1, "the version was lost twice"
    assert incidents.losses("m") == [Loss(1, 5), Loss(2, 6)]


def test_the_lost_events_are_listed_on_the_command_line(
    shop: SteppedInstallation, server: RealServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    match = shop.start("alice", "bob")
    lost = move(shop, match, "c3-d4", "a-key")
    lose_tail(shop.store, match, lost.version - 1, PREFIX)
    shop.matches.load(match)
    monkeypatch.setenv("ROOKERY_PREFIX", PREFIX)
    listed = CliRunner().invoke(main, ["incidents", "--redis", server.url])
    assert f"  {match}: version {lost.version}-{lost.digest}, request a-key\n" in listed.output


def test_the_page_of_a_match_says_what_was_lost_and_so_does_the_answer_for_one_that_is_gone(
    services: Services, anna: Caller, boris: Caller
) -> None:
    match_id = started(anna, boris)
    version = anna.move(match_id).json["version"]
    lose_tail(services.store, match_id, version - 1)
    page = anna.client.get(f"/matches/{match_id}")
    assert f"The events after version {version - 1} were lost in a failure of the server" in page.text
    assert [loss["after_version"] for loss in anna.get(f"/matches/{match_id}").json["losses"]] == [version - 1]
    lose_tail(services.store, match_id, 0)
    services.client.delete(ShardKeys("rk:", services.store.shard_of(match_id)).head(match_id))
    for answer in (anna.get(f"/matches/{match_id}"), anna.move(match_id, "c3-d4")):
        assert (answer.status_code, answer.json["code"]) == (404, "no-such-match")
        assert answer.json["detail"].startswith("This match was lost in a failure of the server")
    assert "lost" not in anna.get("/matches/nothing").json["detail"]
