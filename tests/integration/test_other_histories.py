"""A store that has lost the end of a match, which then goes on otherwise, also on another server."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from werkzeug.test import TestResponse

from api.live.stream import create_stream_app
from api.live.stream_hub import Hub
from api.services import Services
from domain.match import opponents
from domain.match.commands import JoinMatch, OfferDraw, Resign, SubmitMove
from domain.match.state import Seat
from domain.search import choose
from events.matches.readmodels.projector import EventSummaries, Failures, Projector
from events.matches.readmodels.summary import Projected
from events.runtime.connections import StorePipeline
from events.runtime.errors import WriteContentionError
from events.store.chain import verify
from events.store.contract import Head
from events.store.feed import FeedTail
from tests.support.callers import Caller, settings_for, started
from tests.support.fleet import rebuild
from tests.support.lost_tail import lose_tail
from tests.support.server import RealServer
from tests.support.stepped_installation import PREFIX, SteppedInstallation, drain
from workers.composition import make_opponents
from workers.consumers import CLAIM_INTERVAL_MS
from workers.sweeper import MIN_PASS_MS


def across(read: SteppedInstallation, written: SteppedInstallation) -> Projector:
    """Return a projector that reads events from one server and writes read models to another."""
    return Projector(written.client, written.keys, EventSummaries(read.store))


def test_no_summary_of_a_match_elsewhere_is_written(shop: SteppedInstallation, other: SteppedInstallation) -> None:
    match = shop.start("alice", "bob")
    committed: list[Failures] = []

    def on_commit(_: StorePipeline, failures: Failures) -> None:
        committed.append(failures)

    with pytest.raises(WriteContentionError):
        across(shop, other).project([match], on_commit=on_commit)
    assert (other.dump(), committed) == ({}, []), "neither written nor acknowledged"
    across(shop, shop).project([match], on_commit=on_commit)
    assert shop.readmodels.summary(match)
    assert committed == [{}]


def test_a_match_that_differs_elsewhere_is_unwritten(shop: SteppedInstallation, other: SteppedInstallation) -> None:
    match = shop.start("alice", "bob")
    assert other.start("alice", "bob") == match
    across(shop, other).project([match])
    before = other.dump()
    assert before, "as long as both have the same events it does not matter where they are read"
    shop.do(match, SubmitMove(player="alice", move="c3-d4"))
    other.do(match, SubmitMove(player="alice", move="g3-h4"))
    for read, written in ((shop, other), (other, shop)):
        with pytest.raises(WriteContentionError):
            across(read, written).project([match])
    assert other.dump() == before


def test_a_summary_is_not_deleted_from_elsewhere(shop: SteppedInstallation, other: SteppedInstallation) -> None:
    match = shop.start("alice", "bob")
    shop.project_all()
    with pytest.raises(WriteContentionError):
        across(other, shop).project([match])
    assert shop.readmodels.summary(match)


def test_a_match_that_has_gone_on_while_it_was_read_is_read_again(shop: SteppedInstallation) -> None:
    match = shop.start("alice", "bob")
    reads: list[str] = []

    class GoingOn(EventSummaries):
        """Reads a match and lets it go on before it is written, once."""

        def read(self, match_id: str, version: int, head: Head | None) -> Projected | None:
            if not reads:
                shop.do(match, SubmitMove(player="alice", move="c3-d4"))
            reads.append(match_id)
            return super().read(match_id, version, head)

    Projector(shop.client, shop.keys, GoingOn(shop.store)).project([match])
    summary = shop.readmodels.summary(match)
    assert summary is not None
    assert (summary.version, reads) == (shop.store.head(match).version, [match, match])


def test_an_entry_that_differs_elsewhere_is_kept(shop: SteppedInstallation, other: SteppedInstallation) -> None:
    for each in (shop, other):
        each.start("alice", "bob", match="m")
    shop.do("m", SubmitMove(player="alice", move="c3-d4"))
    other.create(Seat.taken("alice"), Seat.open(), match="n")
    assert other.store.shard_of("m") == other.store.shard_of("n")
    given, held = shop.group("opponents").read(), other.group("opponents")
    assert [entry.entry_id for entry in held.read()] == [entry.entry_id for entry in given]
    with other.client.pipeline(transaction=False) as pipeline:
        held.acknowledge(pipeline, given)
        pipeline.execute()
    assert [(entry.stream, entry.version) for entry in held.claim(0)] == [("n", 1)]


LOST, PLAYED = "c3-d4", "g3-h4"


@pytest.fixture
def match_id(anna: Caller, boris: Caller) -> str:
    """Return a match of anna (to move) and boris that has just started."""
    return started(anna, boris)


def another_history(services: Services, anna: Caller, match_id: str) -> tuple[str, str]:
    """Let anna play a move that is lost, and another one in its place; return the version tags after the two."""
    lost = anna.move(match_id, LOST).json
    lose_tail(services.store, match_id, lost["version"] - 1)
    played = anna.move(match_id, PLAYED).json
    assert played["version"] == lost["version"]
    return lost["version_tag"], played["version_tag"]


def test_who_saw_the_lost_version_is_shown_the_one_in_place(services: Services, anna: Caller, match_id: str) -> None:
    lost, present = another_history(services, anna, match_id)
    for part in ("", "/legal-moves"):
        answer = anna.get(f"/matches/{match_id}{part}", If_None_Match=f'"{lost}"')
        assert (answer.status_code, answer.json["version_tag"]) == (200, present)
        assert anna.get(f"/matches/{match_id}{part}", If_None_Match=f'"{present}"').status_code == 304


def test_moves_for_a_lost_position_are_refused(services: Services, anna: Caller, boris: Caller, match_id: str) -> None:
    lost, present = another_history(services, anna, match_id)
    refused = boris.move(match_id, If_Match=f'"{lost}"')
    assert (refused.status_code, refused.json["code"]) == (409, "stale-version")
    assert refused.json["detail"].startswith("What you have seen is no longer part of the match")
    assert refused.json["current_version_tag"] == present
    bare = boris.move(match_id, If_Match=f'"{lost.partition("-")[0]}"')
    assert (bare.status_code, bare.json["code"]) == (412, "version-tag-required")
    assert "version tag" in bare.json["errors"]["If-Match"][0]
    assert boris.move(match_id, If_Match=f'"{present}"').status_code == 201


def test_lines_for_a_lost_position_are_refused(services: Services, anna: Caller, boris: Caller, match_id: str) -> None:
    lost, present = another_history(services, anna, match_id)
    lines = {"lines": [{"move": boris.legal_move(match_id)}]}
    refused = boris.put(f"/matches/{match_id}/lines", lines, If_Match=f'"{lost}"')
    assert (refused.status_code, refused.json["current_version_tag"]) == (409, present)
    assert boris.get(f"/matches/{match_id}/lines").json["lines"] == []
    assert boris.put(f"/matches/{match_id}/lines", lines, If_Match=f'"{present}"').json["version_tag"] == present


def test_who_reads_on_from_a_lost_event_hears_that(services: Services, anna: Caller, match_id: str) -> None:
    lost, present = another_history(services, anna, match_id)
    refused = anna.get(f"/matches/{match_id}/events?after={lost}")
    assert (refused.status_code, refused.json["current_version_tag"]) == (409, present)
    assert anna.get(f"/matches/{match_id}/events?after={present}").json == {"items": [], "next": None}


@pytest.mark.parametrize("meanwhile", ["nothing", "draw-offers"])
def test_a_lost_request_is_carried_out_anew(services: Services, anna: Caller, match_id: str, meanwhile: str) -> None:
    lost = anna.move(match_id, LOST, Idempotency_Key="k")
    lose_tail(services.store, match_id, lost.json["version"] - 1)
    if meanwhile != "nothing":
        assert anna.post(f"/matches/{match_id}/{meanwhile}").json["version"] == lost.json["version"]
    again = anna.move(match_id, LOST, Idempotency_Key="k")
    assert (again.status_code, "Idempotency-Replayed" in again.headers) == (201, False)
    assert anna.get(f"/matches/{match_id}").json["moves"] == [LOST]
    third = anna.move(match_id, LOST, Idempotency_Key="k")
    assert (third.data, third.headers["Idempotency-Replayed"]) == (again.data, "true")


def test_a_stream_that_is_resumed_after_a_lost_event_says_so(
    server: RealServer, services: Services, anna: Caller, boris: Caller, match_id: str
) -> None:
    lost, present = another_history(services, anna, match_id)
    visitor = create_stream_app(settings_for(server.url)).test_client()
    watching = visitor.get(f"/api/v1/matches/{match_id}/stream", headers={"Last-Event-ID": lost})
    messages = told(watching)
    assert next(messages) == reset_to(present)
    after = boris.move(match_id).json["version_tag"]
    assert next(messages)[:2] == (after, "move-submitted")
    watching.close()


def test_a_stream_that_has_told_a_lost_event_says_so(
    server: RealServer, services: Services, monkeypatch: pytest.MonkeyPatch, anna: Caller, match_id: str
) -> None:
    monkeypatch.setattr("api.live.stream_hub.HEARTBEAT_S", 0.05)
    visitor = create_stream_app(settings_for(server.url)).test_client()
    watching = visitor.get(
        f"/api/v1/matches/{match_id}/stream?after={anna.get(f'/matches/{match_id}').json['version_tag']}"
    )
    messages = told(watching)
    lost = anna.move(match_id, LOST).json
    assert next(messages)[:2] == (lost["version_tag"], "move-submitted")
    lose_tail(services.store, match_id, lost["version"] - 1)
    assert next(messages) == reset_to(anna.get(f"/matches/{match_id}").json["version_tag"])
    played = anna.move(match_id, PLAYED).json["version_tag"]
    assert next(messages)[:2] == (played, "move-submitted")
    watching.close()


def test_a_lost_event_read_before_the_reset_is_not_told(services: Services, anna: Caller, match_id: str) -> None:
    nobody = lambda: pytest.fail("nobody reads here")  # noqa: E731
    hub = Hub(services.store, nobody, nobody)
    hub._reader = object()  # type: ignore[assignment]
    watcher, before = hub.enter(match_id), services.store.head(match_id).tag
    messages = (text for text in hub.messages(match_id, before, watcher, lambda: True) if text.startswith("id: "))
    lost = anna.move(match_id, LOST).json
    assert next(messages).startswith(f"id: {lost['version_tag']}\n")
    hub._wake_all()
    hub._publish(match_id, lost["version"])
    lose_tail(services.store, match_id, lost["version"] - 1)
    assert next(messages).startswith(f"id: {before}\nevent: reset\n")
    played = anna.move(match_id, PLAYED).json["version_tag"]
    assert next(messages).startswith(f"id: {played}\n")


def told(watching: TestResponse) -> Iterator[tuple[str, str, Any]]:
    """Yield id, type and content of the messages of a stream that have an id."""
    for text in watching.iter_encoded():
        fields = dict(line.split(": ", 1) for line in text.decode().splitlines() if line and line[0] != ":")
        if "id" in fields:
            yield fields["id"], fields["event"], json.loads(fields["data"])


def reset_to(tag: str) -> tuple[str, str, Any]:
    """Return the message that says that the stream goes on from ``tag``."""
    return tag, "reset", {"version": int(tag.partition("-")[0]), "version_tag": tag}


def test_no_opponent_moves_in_a_lost_position(shop: SteppedInstallation, monkeypatch: pytest.MonkeyPatch) -> None:
    match = shop.start("alice", "opponent-1")
    shop.do(match, SubmitMove(player="alice", move=LOST), "alice")
    searched: list[Any] = []

    def interrupted(game: Any, position: Any, *arguments: Any) -> Any:
        if not searched:
            lose_tail(shop.store, match, shop.store.head(match).version - 1, PREFIX)
            shop.do(match, SubmitMove(player="alice", move=PLAYED), "alice")
        searched.append(position)
        return choose(game, position, *arguments)

    monkeypatch.setattr(opponents, "choose", interrupted)
    make_opponents(shop.parts).answer(match)
    state = shop.state(match)
    assert state.play.moves[0] == PLAYED
    assert len(state.play.moves) == 2
    assert searched[-1] == state.play.history[1], "it was computed for the position in which it was played"
    assert verify(shop.store, match).head == shop.store.head(match)


def test_read_models_and_lists_follow_the_history_that_stands(shop: SteppedInstallation) -> None:
    match = shop.start("alice", "bob")
    line = shop.projections()
    shop.do(match, SubmitMove(player="alice", move=LOST), "alice")
    shop.do(match, Resign(player="bob"), "bob")
    drain(line)
    assert [summary.match for summary in shop.readmodels.matches("finished", "alice").items] == [match]
    lose_tail(shop.store, match, 3, PREFIX)
    shop.do(match, OfferDraw(player="alice"), "alice")
    shop.now += CLAIM_INTERVAL_MS
    drain(line)
    followed = shop.dump()
    assert [summary.match for summary in shop.readmodels.matches("awaiting", "bob").items] == [match]
    rebuild(shop.settings)
    assert followed == shop.dump()


def test_read_models_of_a_lost_end_are_found_although_nothing_happens(shop: SteppedInstallation) -> None:
    match = shop.win("alice", "bob")
    shop.project_all()
    shop.rate_all()
    assert shop.readmodels.rating_change(match)
    lose_tail(shop.store, match, shop.store.head(match).version - 1, PREFIX)
    sweeper = shop.sweeper()
    assert sweeper.check_streams() == 1
    assert shop.readmodels.matches("finished", "alice").items == []
    shop.now += MIN_PASS_MS
    sweeper.check_streams()
    assert shop.rated == [match]
    shop.ratings.rate(match)
    assert not shop.readmodels.rating_change(match)


def test_a_snapshot_of_a_lost_history_is_replaced(shop: SteppedInstallation) -> None:
    match = shop.start("alice", "bob")
    shop.store.save_snapshot(match, 60, {"of": "a history that was lost"})
    shop.store.save_snapshot(match, 3, {"of": "the match as it stands"})
    assert shop.store.open(match, None).snapshot == {"of": "the match as it stands"}


def test_a_group_beyond_the_end_of_its_feed_begins_again(shop: SteppedInstallation) -> None:
    match = shop.start("alice", "bob")
    group = shop.group("projections")
    assert len(group.read()) == 3
    assert group.rewind() == 0
    lose_tail(shop.store, match, 1, PREFIX)
    shop.do(match, JoinMatch(player="bob"))
    assert group.read() == [], "the store takes them for delivered"
    lose_tail(shop.store, match, 1, PREFIX)
    assert group.rewind() == 1
    shop.do(match, JoinMatch(player="bob"))
    assert [delivery.version for delivery in group.read()] == [1, 2, 3]


def test_a_tail_says_that_a_feed_ends_before_the_place_that_it_was_at(shop: SteppedInstallation) -> None:
    match = shop.start("alice", "bob")
    tail = FeedTail(shop.client, PREFIX, shop.store.shards)
    assert (tail.read(None), tail.lost_end) == ([], False)
    lose_tail(shop.store, match, 1, PREFIX)
    assert (tail.read(None), tail.lost_end) == ([], True)
    shop.do(match, JoinMatch(player="bob"))
    assert [delivery.version for delivery in tail.read(None)] == [2, 3]
    assert not tail.lost_end
