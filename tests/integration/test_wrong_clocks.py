"""Processes whose clock is wrong, on a real server whose TIME is the judge: they neither append nor keep time."""

import re

import pytest
from flask import Flask

from domain.match.clock import falls_at
from domain.match.enums import Status
from domain.match.terms import DAY, days_per_move
from events.proof.checkpoint_log import CheckpointLog
from events.proof.keys import KeyRing
from events.runtime.connections import StoreClient
from events.runtime.wall_clock import now_ms
from events.store.archive.store import ArchivingStore
from events.store.contract import EMPTY, ClockMismatchError
from events.store.redis import RedisStore
from events.store.time import StoreClock
from tests.support.callers import Caller, app_on, started
from tests.support.drafts import drafts, request
from tests.support.eventually import eventually
from tests.support.relays import running
from tests.support.server import RealServer
from tests.support.stepped_installation import PREFIX, SteppedInstallation
from workers.relay import Relay

AHEAD = 110_000
TEN_YEARS = 3653 * DAY


class OffClock:
    """The wall clock, ``offset`` milliseconds ahead."""

    def __init__(self, offset: int = 0) -> None:
        self.offset = offset

    def __call__(self) -> int:
        return now_ms() + self.offset


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> OffClock:
    """Return the wall clock of apps and relays that are made in the test; it is right at first."""
    clock = OffClock()
    monkeypatch.setattr("events.installation.now_ms", clock)
    return clock


@pytest.fixture
def wall_app(server: RealServer, clock: OffClock) -> Flask:
    """Return an app that lives by ``clock``."""
    assert clock.offset == 0
    return app_on(server.url)


def nearly_over(shop: SteppedInstallation, left_ms: int = 60_000) -> str:
    """Return a match whose flag falls in ``left_ms`` by the wall clock; time has been kept until now."""
    shop.now = now_ms() - 3 * DAY + left_ms
    for player in ("alice", "bob"):
        shop.availability.change(player, lambda own: own._replace(auto_vacation=False))
    match = shop.start("alice", "bob", terms=days_per_move(3))
    shop.play(match, 2)
    shop.now = now_ms()
    shop.client.set(f"{PREFIX}{{time}}:heartbeat", shop.now)
    clock = shop.state(match).clock
    assert clock is not None
    assert 0 < (falls_at(clock) or 0) - shop.now < AHEAD
    return match


@pytest.mark.parametrize("offset", [2500, -2500, AHEAD, -AHEAD, TEN_YEARS])
def test_a_process_whose_clock_is_wrong_cannot_append(redis: StoreClient, offset: int) -> None:
    store = RedisStore(redis, now=OffClock(offset))
    assert store.shards
    before = redis.dbsize()
    with pytest.raises(ClockMismatchError) as refused:
        store.append("m", EMPTY, drafts(1), request("key"))
    assert abs(refused.value.offset_ms - offset) < 1500
    assert ("ahead of" if offset > 0 else "behind") in str(refused.value)
    assert redis.dbsize() == before
    assert store.head("m") == EMPTY


def test_a_second_more_or_less_does_no_harm(redis: StoreClient) -> None:
    for number, offset in enumerate([1000, -1000]):
        store = RedisStore(redis, now=OffClock(offset))
        assert store.append(f"m{number}", EMPTY, drafts(1), request("key")).head.version == 1


def test_what_was_decided_by_a_wrong_clock_is_refused_when_it_is_right_again(redis: StoreClient) -> None:
    store = RedisStore(redis, now=now_ms)
    with pytest.raises(ClockMismatchError):
        store.append("m", EMPTY, drafts(1), request("key"), decided_at=now_ms() + TEN_YEARS)
    assert store.head("m") == EMPTY


def test_an_append_that_was_only_late_is_written(redis: StoreClient) -> None:
    decided_at = now_ms() - 60_000
    instants = iter([decided_at])
    store = RedisStore(redis, now=lambda: next(instants, now_ms()))
    appended = store.append("m", EMPTY, drafts(1), request("key"), decided_at=decided_at)
    assert appended.head.version == 1


def test_a_slow_answer_is_not_taken_for_a_wrong_clock(redis: StoreClient) -> None:
    at = now_ms()
    for asked, answered in [(at - 60_000, at + 60_000), (at - 60_000, now_ms() + 1), (at - 1, at + 60_000)]:
        instants = iter([asked, answered])
        assert abs(StoreClock(redis, lambda instants=instants: next(instants)).offset_ms()) < 1000  # type: ignore[misc]


def test_the_clock_is_compared_at_once_when_it_was_set(redis: StoreClient) -> None:
    off = OffClock()
    clock = StoreClock(redis, off)
    clock.check()
    off.offset = AHEAD
    with pytest.raises(ClockMismatchError):
        clock.check()
    off.offset = 0
    clock.check()


def test_a_relay_ahead_makes_no_flag_fall_early(shop: SteppedInstallation, clock: OffClock) -> None:
    match = nearly_over(shop)
    version, beaten = shop.state(match).version, shop.heartbeat.last_beat()
    clock.offset = AHEAD
    with running(Relay(shop.settings)):
        offsets = eventually(shop.heartbeat.offsets, "the relay's word about its clock")
        shop.client.delete(f"{PREFIX}{{time}}:offsets")
        eventually(shop.heartbeat.offsets, "another tick")
    assert [name.partition(" ")[0] for name in offsets] == ["relay"]
    assert all(abs(offset - AHEAD) < 1000 for offset in offsets.values())
    assert (shop.state(match).status, shop.state(match).version) == (Status.PLAYING, version)
    assert shop.heartbeat.last_beat() == beaten


def test_a_wrong_year_for_some_seconds_leaves_nothing_behind(shop: SteppedInstallation, clock: OffClock) -> None:
    matches = [nearly_over(shop), shop.create()]
    versions = [shop.state(match).version for match in matches]
    with running(Relay(shop.settings)):
        eventually(shop.heartbeat.offsets, "a tick at the right time")
        clock.offset = TEN_YEARS
        eventually(lambda: max(shop.heartbeat.offsets().values(), default=0) > DAY, "a tick in the wrong year")
        clock.offset = 0
        right_again = now_ms()
        eventually(lambda: (shop.heartbeat.last_beat() or 0) >= right_again, "time is kept again")
    assert (shop.heartbeat.last_beat() or 0) < now_ms() + 1000
    assert shop.heartbeat.outages() == []
    assert [shop.state(match).version for match in matches] == versions


def test_no_checkpoint_is_signed_of_a_day_to_come(redis: StoreClient) -> None:
    store = ArchivingStore(redis, now=OffClock(TEN_YEARS))
    log = CheckpointLog(store, KeyRing(redis, store.prefix, OffClock(TEN_YEARS)))
    with pytest.raises(ClockMismatchError):
        log.sign(now_ms() + TEN_YEARS)
    assert log.latest() is None


def test_the_api_refuses_to_write_by_a_wrong_clock_and_says_why(wall_app: Flask, clock: OffClock) -> None:
    anna, boris = Caller(wall_app).sign_up("anna"), Caller(wall_app).sign_up("boris")
    match_id = started(anna, boris)
    move = anna.legal_move(match_id)
    before = anna.get(f"/matches/{match_id}").json
    clock.offset = AHEAD
    refused = anna.move(match_id, move, Idempotency_Key="k")
    assert (refused.status_code, refused.json["code"]) == (503, "wrong-clock")
    assert re.search(r"1(09|10)\.\d s ahead of that of the store", refused.json["detail"])
    assert refused.headers["Retry-After"]
    assert anna.get(f"/matches/{match_id}").json["version"] == before["version"]
    for write in (
        lambda: anna.post(f"/matches/{match_id}/chat", {"text": "hello"}),
        lambda: anna.post("/me/vacations", {"until": "2036-01-01T00:00:00Z"}),
        lambda: boris.post(f"/matches/{match_id}/resignation"),
    ):
        assert write().json["code"] == "wrong-clock"
    assert anna.get(f"/matches/{match_id}/bundle").json["code"] == "wrong-clock"
    clock.offset = 0
    assert anna.move(match_id, move, Idempotency_Key="k").status_code == 201


def test_an_api_whose_clock_is_wrong_is_not_ready_and_says_by_how_much(wall_app: Flask, clock: OffClock) -> None:
    client = wall_app.test_client()
    assert client.get("/readyz").json["status"] == "ready"
    clock.offset = -AHEAD
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json["status"]) == (503, "wrong-clock")
    assert "behind that of the store" in answer.json["detail"]
    metrics = client.get("/metrics").text
    (offset,) = [line for line in metrics.splitlines() if line.startswith('rookery_clock_offset_seconds{part="this"}')]
    assert abs(float(offset.split()[1]) + AHEAD / 1000) < 1


def test_wrong_clocks_are_named(shop: SteppedInstallation, server: RealServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.support.callers.settings_for", lambda _: shop.settings)
    client = app_on(server.url).test_client()
    assert client.get("/readyz").json["impaired"] == {}
    monkeypatch.setattr("events.installation.now_ms", OffClock(AHEAD))
    with running(Relay(shop.settings)):
        eventually(shop.heartbeat.offsets, "the relay's word about its clock")
    answer = client.get("/readyz")
    ((name, reason),) = answer.json["impaired"].items()
    assert (answer.status_code, name.partition(" ")[0]) == (200, "relay")
    assert re.fullmatch(r"keeps no time: its clock is 1(09|10)\.\d s ahead of the store's", reason)
    (said,) = [line for line in client.get("/metrics").text.splitlines() if f'part="{name}"' in line]
    assert abs(float(said.split()[-1]) - AHEAD / 1000) < 1
