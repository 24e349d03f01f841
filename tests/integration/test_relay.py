"""The relay: claims what a dead one left, parks what cannot be handled, waits for what is away, and stops when told."""

from pathlib import Path
from threading import Event
from typing import Any

import pytest

from domain.match.commands import OfferDraw, Resign
from events.matches.readmodels import summarise
from events.runtime.liveness import RedisLiveness
from events.runtime.logs import LOST, configure
from events.runtime.queues import ConsumerGroup
from tests.support.celery_worker import Broker
from tests.support.eventually import eventually
from tests.support.feed_groups import lags_of, parked_by
from tests.support.full_disk import full_log
from tests.support.matches import FOUR
from tests.support.relays import running
from tests.support.server import RealServer
from tests.support.stepped_installation import SteppedInstallation, drain
from workers.consumers import MAX_DELIVERIES, Consumer
from workers.effects import enqueue_when_due, match_by_match
from workers.relay import Relay
from workers.threads import ThreadDiedError


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take entries over without waiting for them to be left for long."""
    monkeypatch.setattr("workers.consumers.MIN_CLAIM_IDLE_MS", 0)


def pending(line: Consumer) -> int:
    """Return how many entries of a line are delivered and not acknowledged."""
    return sum(lag.pending for lag in lags_of(line.group))


def break_off(shop: SteppedInstallation, match_id: str, version: int) -> None:
    """Make the stored event ``version`` of ``match`` unreadable."""
    key = f"{shop.settings.prefix}{{s{shop.keys.shard_of(match_id):02d}}}:m:{match_id}:e"
    (entry,) = shop.client.xrange(key, f"{version}-0", f"{version}-0")
    later: Any = shop.client.xrange(key, f"{version + 1}-0", "+")
    shop.client.xtrim(key, minid=f"{version}-0", approximate=False)
    shop.client.delete(key)
    for entry_id, fields in [(entry[0], {**entry[1], b"b": b"nonsense"}), *later]:
        shop.client.xadd(key, fields, id=entry_id.decode())


def test_what_a_killed_relay_had_taken_is_applied_once_by_another(shop: SteppedInstallation) -> None:
    match = shop.start("alice", "bob")
    dead, living = shop.projections("dead"), shop.projections("living")
    taken = dead.group.read()
    assert shop.readmodels.summary(match) is None
    assert drain(living) == len(taken)
    assert shop.readmodels.summary(match) == summarise(shop.state(match))
    assert pending(living) == 0


def test_what_was_applied_by_a_relay_that_died_before_it_knew_is_not_applied_again(shop: SteppedInstallation) -> None:
    match = shop.start("alice", "bob")
    line = shop.projections("dead")
    drain(line)
    applied = shop.dump()
    assert drain(shop.projections("living")) == 0
    assert shop.dump() == applied
    assert shop.readmodels.summary(match) == summarise(shop.state(match))


def test_an_unreplayable_match_is_parked_with_its_reason_and_the_rest_goes_on(shop: SteppedInstallation) -> None:
    bad, good = shop.start("alice", "bob"), shop.start("alice", "carol")
    break_off(shop, bad, 3)
    shop.matches = SteppedInstallation(shop.settings.redis_url).matches
    line = SteppedInstallation(shop.settings.redis_url).projections()
    line._now = shop.tick
    entries = shop.state(good).version
    line.step()
    assert shop.readmodels.summary(good) == summarise(shop.state(good))
    for _ in range(MAX_DELIVERIES):
        assert parked_by(line.group) == []
        assert pending(line) == 3
        shop.now += 10_000
        line.step()
    parked = parked_by(line.group)
    assert [(entry.stream, entry.version) for entry in parked] == [(bad, 1), (bad, 2), (bad, 3)]
    assert "cannot be read" in parked[0].reason or "damaged" in parked[0].reason
    assert pending(line) == 0
    shop.play(good, 1)
    drain(line)
    summary = shop.readmodels.summary(good)
    assert summary is not None
    assert summary.version == entries + 1


def test_a_batch_asks_once_for_a_match_however_many_events_it_has(shop: SteppedInstallation) -> None:
    waiting = shop.start("alice", "opponent-1")
    shop.play(waiting, 5)
    people = shop.start("alice", "bob")
    shop.play(people, 5)
    ended = shop.win("alice", "bob")
    drain(shop.opponents(), shop.rating_requests())
    assert shop.answers == [waiting]
    assert shop.rated == [ended]


def test_an_opponent_is_asked_for_its_word_on_a_draw_even_when_it_is_not_to_move(shop: SteppedInstallation) -> None:
    match = shop.start("alice", "bob", "opponent-1", "carol", game="towers", setup="four-player")
    drain(shop.opponents())
    assert shop.answers == []
    shop.do(match, OfferDraw(player="bob"))
    drain(shop.opponents())
    assert shop.answers == [match]


def test_what_cannot_be_enqueued_now_is_enqueued_later(shop: SteppedInstallation) -> None:
    match = shop.start("opponent-1", "alice")
    group = shop.group("opponents")
    asked: list[str] = []
    broken = [True] * (MAX_DELIVERIES + 3)

    def ask(name: str) -> None:
        if broken:
            broken.pop()
            raise ConnectionRefusedError("the broker is away")
        asked.append(name)

    handle = match_by_match(group, shop.delivery_reader().read, [enqueue_when_due(lambda _: True, ask)])
    line = Consumer(group, handle, shop.tick)
    for _ in range(len(broken)):
        shop.now += 10_000
        with pytest.raises(ConnectionRefusedError):
            line.step()
    shop.now += 10_000
    drain(line)
    assert asked == [match]
    assert parked_by(group) == []
    assert pending(line) == 0


def test_the_relay_projects_while_it_runs_and_ends_when_told(shop: SteppedInstallation) -> None:
    with running(Relay(shop.settings, lambda: shop.now)):
        match = shop.start("alice", "bob")
        shop.play(match, 4)
        state = shop.state(match)
        eventually(lambda: shop.readmodels.summary(match) == summarise(state), "the projection")


def test_two_relays_share_the_work(shop: SteppedInstallation) -> None:
    with running(Relay(shop.settings, lambda: shop.now)), running(Relay(shop.settings, lambda: shop.now)):
        matches = [shop.start(*FOUR, game="towers", setup="four-player") for _ in range(5)]
        for match in matches:
            shop.play(match, 6)
        shop.do(matches[0], Resign(player=FOUR[0]))
        states = [summarise(shop.state(match)) for match in matches]
        eventually(lambda: [shop.readmodels.summary(match) for match in matches] == states, "all projections")


def test_the_relay_recovers_from_a_kill_of_the_server(shop: SteppedInstallation, server: RealServer) -> None:
    match = shop.start("alice", "bob")
    with running(Relay(shop.settings, lambda: shop.now)):
        eventually(lambda: shop.readmodels.summary(match), "the first projection")
        server.kill()
        server.start()
        fresh = SteppedInstallation(server.url)
        fresh.play(match, 3)
        state = fresh.state(match)
        eventually(lambda: fresh.readmodels.summary(match) == summarise(state), "the projection after the kill")


def test_the_relay_starts_before_its_server(shop: SteppedInstallation, server: RealServer) -> None:
    match = shop.start("alice", "bob")
    server.kill()
    with running(Relay(shop.settings, lambda: shop.now)):
        server.start()
        fresh = SteppedInstallation(server.url)
        projected = eventually(lambda: fresh.readmodels.summary(match), "the projection")
    assert projected == summarise(fresh.state(match))


def test_a_relay_stops_even_while_its_server_is_away(shop: SteppedInstallation, server: RealServer) -> None:
    server.kill()
    relay = Relay(shop.settings, lambda: shop.now)
    with running(relay) as stop:
        assert not stop.is_set()
    server.start()
    assert server.client().ping()


def test_projections_go_on_without_the_broker_and_tasks_follow(shop: SteppedInstallation, tmp_path: Path) -> None:
    second = RealServer(tmp_path)
    settings = shop.settings._replace(broker_url=second.url)
    second.kill()
    with running(Relay(settings)):
        match = shop.start("opponent-1", "alice")
        eventually(lambda: shop.readmodels.summary(match), "the projection")
        second.start()
        eventually(lambda: Broker(settings).queued(), "the task")
        eventually(lambda: pending(shop.consumer("tasks")) == 0, "that both entries are acknowledged")
    second.close()


@pytest.mark.parametrize(
    "part", ["workers.consumers.Consumer.run", "workers.ticker.Ticker.run", "workers.relay.Relay._sweep_and_trim"]
)
def test_a_relay_without_a_line_ends(shop: SteppedInstallation, monkeypatch: pytest.MonkeyPatch, part: str) -> None:
    def dying(*_: object) -> None:
        raise SystemError("this line is done for")

    monkeypatch.setattr(part, dying)
    with pytest.raises(ThreadDiedError, match="has ended by itself"):
        Relay(shop.settings, lambda: shop.now).run(Event())


def test_a_relay_with_a_full_log_goes_on_after_an_outage(shop: SteppedInstallation, server: RealServer) -> None:
    configure()
    match = shop.start("alice", "bob")
    with full_log(), running(Relay(shop.settings, lambda: shop.now)):
        eventually(lambda: shop.readmodels.summary(match), "the first projection")
        server.kill()
        LOST.take()
        eventually(LOST.take, "a line that cannot be logged")
        server.start()
        fresh = SteppedInstallation(server.url)
        fresh.play(match, 3)
        state = fresh.state(match)
        eventually(lambda: fresh.readmodels.summary(match) == summarise(state), "the projection")


def test_the_progress_of_each_line_of_a_running_relay_is_recorded(shop: SteppedInstallation) -> None:
    liveness = RedisLiveness(shop.client, shop.settings.prefix)
    with running(Relay(shop.settings, lambda: shop.now)):
        expected = {*ConsumerGroup, "ticker", "sweeper", "notice-rounds", "hints", "feed"}
        eventually(lambda: liveness.ages_s().keys() == expected, "a report of every line")
