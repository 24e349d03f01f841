"""Under sentinels an event is acknowledged when all replicas have it, also those that are gone for now."""

from collections.abc import Sequence

import pytest
from click.testing import CliRunner

from deploy.cli import main
from events.matches.readmodels.projector import Failures
from events.runtime.connections import connect
from events.runtime.wall_clock import now_ms
from events.store import copies
from events.store.contract import EMPTY, Request
from events.store.copies import NotCopiedError, ReplicasBehindError
from events.store.feed import Delivery
from events.store.redis import RedisStore
from tests.chaos.failovers import fail_over_under_load
from tests.support.callers import Caller, app_on
from tests.support.drafts import drafts
from tests.support.eventually import eventually
from tests.support.stepped_installation import SteppedInstallation
from tests.support.watched_servers import Watched
from workers.consumers import Consumer, once_copied


def test_a_dead_replica_stops_acknowledgements_until_told(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copies, "MAX_WAIT_MS", 50)
    monkeypatch.setattr(copies, "POLICY_INTERVAL_S", 0)
    monkeypatch.setattr(copies, "REFUSAL_S", 5.0)
    monkeypatch.setenv("REDIS_URL", watched.url)
    store = RedisStore(connect(watched.url))
    anyone = Caller(app_on(watched.url))
    store.append("m1", EMPTY, drafts(1), Request("first", ""))
    assert "replicas" not in anyone.client.get("/readyz").json["impaired"]
    dead = watched.replicas()[0]
    watched.kill(dead)
    eventually(lambda: _followers(watched) == 1, "that the primary forgets the dead replica")

    with pytest.raises(NotCopiedError, match="1 instead of 2"):
        store.append("m2", EMPTY, drafts(1), Request("second", ""))
    with pytest.raises(ReplicasBehindError, match="1 instead of 2"):
        store.append("m3", EMPTY, drafts(1), Request("third", ""))
    assert store.head("m3") == EMPTY, "it was refused before it was written"
    assert "1 of 2 replicas follow" in anyone.client.get("/readyz").json["impaired"]["replicas"]

    ordered = CliRunner().invoke(main, ["store", "replicas", "1"])
    assert "1 of 2 configured replicas must have an event" in ordered.output
    assert "is lost although it was acknowledged" in ordered.output
    assert store.append("m2", EMPTY, drafts(1), Request("second", "")).repeated, "a running process follows the order"
    watched.start(dead)
    assert "default" in CliRunner().invoke(main, ["store", "replicas", "--help"]).output
    assert "2 of 2 configured" in CliRunner().invoke(main, ["store", "replicas", "default"]).output
    eventually(lambda: _is_acknowledged(store), "that all replicas have what is appended")
    assert "Attention" not in CliRunner().invoke(main, ["store", "replicas"]).output


def test_an_order_without_a_number_changes_nothing(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REDIS_URL", watched.url)
    refused = CliRunner().invoke(main, ["store", "replicas", "most"])
    assert refused.exit_code != 0
    assert "neither a number" in refused.output
    assert "2 of 2 configured" in CliRunner().invoke(main, ["store", "replicas"]).output


def test_a_new_primary_acknowledges_only_what_the_one_it_replaced_has_too(watched: Watched) -> None:
    store, old = RedisStore(connect(watched.url), shards=1), watched.primary()
    store.append("m1", EMPTY, drafts(1), Request("first", ""))
    watched.kill(old)
    watched.wait_for_another_primary(old)
    eventually(lambda: _followers(watched) == 1, "that the other replica follows the new primary")
    with pytest.raises(NotCopiedError, match="1 instead of 2"):
        store.append("m2", EMPTY, drafts(1), Request("second", ""))
    watched.start(old)
    eventually(lambda: _is_acknowledged(store), "that the old primary has what is appended")


def test_nothing_acknowledged_is_lost_when_a_primary_goes_on_while_it_is_replaced(watched: Watched) -> None:
    acknowledged, lost = fail_over_under_load(watched, "primary goes on at the promotion", "m")
    assert acknowledged
    assert lost == ()


def test_effects_outside_a_shard_wait_until_replicas_have_it(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    shop = SteppedInstallation(watched.url)
    shop.start("alice", "bob")
    handled: list[Delivery] = []

    def handle(deliveries: Sequence[Delivery]) -> Failures:
        handled.extend(deliveries)
        return {}

    first, again = (
        Consumer(each.group("notices"), once_copied(each.store, handle), now_ms)
        for each in (shop, SteppedInstallation(watched.url))
    )
    monkeypatch.setattr(copies, "MAX_WAIT_MS", 50)
    for number in watched.replicas():
        watched.pause(number)  # they stay connected: what nothing was written for they have acknowledged
    for consumer in (first, again):  # on another connection, what was delivered before is read without a write
        with pytest.raises(NotCopiedError, match="0 instead of 2"):
            consumer.step()
    assert handled == []
    watched.resume_all()
    watched.wait_until_complete()
    again.start_over()
    again.step()
    assert handled


def _followers(watched: Watched) -> int:
    return len(watched.ask(watched.primary(), "ROLE")[2])


def _is_acknowledged(store: RedisStore) -> bool:
    try:
        return bool(store.append("m9", EMPTY, drafts(1), Request("last", "")))
    except (NotCopiedError, ReplicasBehindError):
        return False
