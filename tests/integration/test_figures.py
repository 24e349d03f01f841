"""What operators see: how old what waits is, how late flags fall, how far queues, files and replicas are behind."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from flask import Flask

from api.counter_files import ENDED, fold_ended, unchanged
from domain.match.commands import CallTime
from domain.match.terms import DAY
from events.matches.fleet_jobs import PlannedSlice
from events.notify.notice import DeliveryState, NoticeChannel
from events.notify.outbox import Dispatch, Purpose
from events.operations.figures import BrokerFigures, BrokerUnavailableError, queue_depths
from events.runtime.keys import ShardKeys
from events.runtime.queues import Queue
from events.store.servers import figures_of
from tests.support.callers import UNLIMITED, app_on
from tests.support.matches import T0
from tests.support.round_trips import record_round_trips
from tests.support.server import RealServer
from tests.support.stepped_installation import PREFIX, SteppedInstallation, drain
from workers.composition import make_task_queue

NEVER = "amqp://guest:secret@127.0.0.1:1//"


@pytest.fixture(autouse=True)
def no_figure_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("events.operations.figures.MAX_AGE_S", -1.0)


def figure(shop: SteppedInstallation, name: str) -> dict[tuple[str, ...], float]:
    """Return the values of the figure ``name`` now."""
    (found,) = [each for each in shop.parts.figures.read() if each.name == name]
    return dict(found.values)


def age(shop: SteppedInstallation, group: str) -> float:
    return figure(shop, "rookery_feed_age_seconds")[group,]


def test_the_age_of_the_feed_is_that_of_the_oldest_event_a_group_has_not_finished(shop: SteppedInstallation) -> None:
    consumer, group = shop.projections(), shop.group("tasks")
    first = shop.start("alice", "bob")
    begun = shop.now
    shop.now += 60_000
    shop.start("alice", "bob")
    shop.now = begun + 90_000
    assert 90 <= age(shop, "projections") < 91, "nothing was delivered yet"
    drain(consumer)
    assert age(shop, "projections") == 0
    delivered = group.read()
    assert 90 <= age(shop, "tasks") < 91, "it was delivered, and is not acknowledged"
    with shop.client.pipeline() as pipeline:
        group.acknowledge(pipeline, [each for each in delivered if each.stream == first])
        pipeline.execute()
    assert 29 <= age(shop, "tasks") < 31
    assert ("effects",) not in figure(shop, "rookery_feed_age_seconds"), "no relay has made this group"


def test_the_oldest_unanswered_turn_of_an_opponent_is_measured(shop: SteppedInstallation) -> None:
    assert figure(shop, "rookery_opponent_wait_seconds") == {(): 0.0}
    for level in (1, 6):
        shop.start(f"opponent-{level}", "alice")
        shop.now += 20_000
    shop.project_all()
    assert 40 <= figure(shop, "rookery_opponent_wait_seconds")[()] < 41
    assert figure(shop, "rookery_late_opponents") == {(): 1.0}


def flag(shop: SteppedInstallation, late_ms: int, claimed_by: str | None = None) -> None:
    """Let a flag fall ``late_ms`` after the time was up."""
    match = shop.start("alice", "bob")
    shop.availability.change("alice", lambda diary: diary._replace(auto_vacation=False))
    shop.play(match, 2)
    shop.settle_until_flag(match)
    shop.now += late_ms
    if claimed_by is None:
        shop.timekeeper.settle(match, shop.now)
    else:
        shop.do(match, CallTime(player=claimed_by))
    assert shop.state(match).ended


def test_the_lateness_of_flags_is_a_histogram_in_the_store(shop: SteppedInstallation) -> None:
    for late_ms in (50, 700, 20_000):
        flag(shop, late_ms)
        drain(shop.logged_acts())
    lateness = figure(shop, "rookery_flag_lateness_seconds")
    assert [lateness[bound,] for bound in ("0.1", "0.5", "1", "10", "30", "3600", "+Inf")] == [1, 1, 2, 2, 3, 3, 3]
    assert 20.75 <= lateness["",] < 20.8
    elsewhere = SteppedInstallation(shop.settings.redis_url)
    elsewhere.now = shop.now
    assert figure(elsewhere, "rookery_flag_lateness_seconds") == lateness, "every process shows the same"


def test_flags_that_were_claimed_or_fell_long_ago_say_nothing_of_the_server(shop: SteppedInstallation) -> None:
    flag(shop, 5_000, claimed_by="bob")
    flag(shop, 5_000)
    shop.now += 2 * 3_600_000
    drain(shop.logged_acts())
    assert figure(shop, "rookery_flag_lateness_seconds")["+Inf",] == 0


def test_the_depth_of_every_queue_is_shown_where_the_broker_says_it(shop: SteppedInstallation) -> None:
    tasks = make_task_queue(shop.parts)
    tasks.request_rating("m1")
    tasks.request_rating("m2")
    depths = figure(shop, "rookery_queue_depth")
    assert depths == {(queue,): 2.0 if queue == Queue.DEFAULT else 0.0 for queue in Queue}
    assert figure(shop, "rookery_broker_up") == {(): 1.0}
    with pytest.raises(BrokerUnavailableError, match="OperationalError"):
        queue_depths(NEVER, ["default"])
    silent = {found.name: dict(found.values) for found in BrokerFigures(NEVER, PREFIX)(shop.now)}
    assert silent == {"rookery_broker_up": {(): 0.0}, "rookery_queue_depth": {}}


def test_who_asks_meanwhile_gets_the_last_ones(shop: SteppedInstallation, monkeypatch: pytest.MonkeyPatch) -> None:
    known = shop.parts.figures.read()
    with shop.parts.figures._lock:
        assert shop.parts.figures.read() is known


def test_checkpoints_and_incidents_and_jobs_are_counted(shop: SteppedInstallation) -> None:
    assert figure(shop, "rookery_checkpoint_age_seconds") == {}, "there is none yet"
    shop.parts.checkpoints.sign(shop.now)
    shop.parts.jobs.request("m1", "bundle", requester="alice", cost=1)
    shop.now += 7000
    assert 7 <= figure(shop, "rookery_checkpoint_age_seconds")[()] < 7.1
    assert (figure(shop, "rookery_jobs_waiting"), figure(shop, "rookery_incidents")) == ({(): 1.0}, {(): 0.0})


def test_what_should_be_in_the_archive_is_counted_among_the_matches_that_began_first(shop: SteppedInstallation) -> None:
    shop.win("alice", "bob")
    shop.start("alice", "bob")
    shop.project_all()
    shop.now += 31 * DAY
    assert figure(shop, "rookery_archive_backlog") == {(): 0.0}, "a relay archives once a day"
    shop.now += 2 * DAY
    assert figure(shop, "rookery_archive_backlog") == {(): 1.0}


def test_archivable_matches_count_behind_others(shop: SteppedInstallation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("events.operations.figures.MATCHES_LOOKED_AT", 1)
    going_on = shop.store.shard_of(shop.start("alice", "bob"))
    won = [shop.win("alice", "bob")]
    while shop.store.shard_of(won[-1]) != going_on:
        won.append(shop.win("alice", "bob"))
    shop.project_all()
    shop.now += 33 * DAY
    assert figure(shop, "rookery_archive_backlog") == {(): float(len({*map(shop.store.shard_of, won)}))}


def test_a_damaged_event_does_not_hide_the_figures(shop: SteppedInstallation) -> None:
    match = shop.start("alice", "bob")
    shop.group("projections")
    events = ShardKeys(PREFIX, shop.store.shard_of(match)).events(match)
    shop.client.delete(events)
    shop.client.xadd(events, {"b": "no event", "h": "short"}, id="1-0")
    assert figure(shop, "rookery_feed_lag")["projections",] > 0


def test_methods_that_a_client_invents_are_counted_together(app: Flask) -> None:
    client = app.test_client()
    for number in range(3):
        client.open("/healthz", method=f"INVENTED{number}")
    told = client.get("/metrics").text
    assert "INVENTED" not in told
    assert 'method="other"' in told


def test_a_fleet_job_shows_how_far_it_is(shop: SteppedInstallation) -> None:
    jobs = shop.parts.fleet_jobs
    plan = jobs.claim(jobs.start("verify", {}))
    jobs.finish_plan(plan, [[PlannedSlice([0, 9], 10, "the first ten"), PlannedSlice([10, 14], 5, "the last five")]])
    jobs.finish(jobs.claim(jobs.running()[0]), "{}")
    jobs.report_worker("one")
    assert figure(shop, "rookery_fleet_units") == {("verify",): 15.0}
    assert figure(shop, "rookery_fleet_units_done") == {("verify",): 10.0}
    assert (figure(shop, "rookery_fleet_workers"), figure(shop, "rookery_fleet_jobs_failed")) == ({(): 1.0}, {(): 0.0})


def dispatch(channel: NoticeChannel, number: int) -> Dispatch:
    id = f"notice{number}:{channel}:target"
    return Dispatch(
        id=id, player="alice", channel=channel, target="target", purpose=Purpose.NOTICE, due=T0, first_at=T0
    )


def test_notices_are_counted_by_channel_while_they_wait_and_by_what_became_of_them(shop: SteppedInstallation) -> None:
    for number in range(3):
        shop.outbox.add(dispatch(NoticeChannel.WEBHOOK, number))
    shop.outbox.add(dispatch(NoticeChannel.PUSH, 3))
    shop.outbox.add(dispatch(NoticeChannel.PUSH, 4))
    while (taken := shop.outbox.take()) is not None:
        if taken.channel == NoticeChannel.PUSH:
            shop.outbox.finish(taken, DeliveryState.FAILED, "gone", T0)
    assert figure(shop, "rookery_notices_waiting") == {("webhook",): 3.0}
    assert figure(shop, "rookery_notices_total") == {("push", "failed"): 2.0}


def test_files_and_replicas_of_every_server_are_shown() -> None:
    servers = {
        "a:1": {
            "aof_enabled": 1, "aof_last_write_status": "ok", "aof_delayed_fsync": 7, "master_repl_offset": 1000,
            "slave0": {"ip": "b", "port": 2, "state": "online", "offset": 900, "lag": 1},
        },
        "c:3": {"aof_enabled": 1, "aof_last_write_status": "err"},
        "d:4": {"aof_enabled": 0, "aof_last_write_status": "ok"},
    }  # fmt: skip
    found = {each.name: each.values for each in figures_of(servers)}
    assert found["rookery_aof_write_ok"] == {("a:1",): 1.0, ("c:3",): 0.0, ("d:4",): 0.0}
    assert found["rookery_aof_delayed_fsyncs_total"] == {("a:1",): 7.0}
    assert found["rookery_replica_lag_bytes"] == {("a:1", "b:2"): 100.0}
    assert found["rookery_replica_silence_seconds"] == {("a:1", "b:2"): 1.0}


def test_the_real_server_says_that_its_file_is_written(shop: SteppedInstallation, server: RealServer) -> None:
    assert figure(shop, "rookery_aof_write_ok") == {(f"127.0.0.1:{server.port}",): 1.0}


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Return what this thread sends to the store, by round trip."""
    return record_round_trips(monkeypatch)


def test_more_matches_are_not_more_work_and_who_asks_often_is_told_what_is_known(
    shop: SteppedInstallation, sent: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("events.operations.figures.MATCHES_LOOKED_AT", 8)
    shop.all_consumers()
    costs = []
    for matches in (20, 60):
        for _ in range(matches):
            shop.start("alice", "bob")
        shop.parts.figures.read()
        sent.clear()
        shop.parts.figures.read()
        costs.append([len(re.findall(rb"\*\d+\r\n\$", commands)) for commands in sent])
    assert costs[0] == costs[1]
    monkeypatch.setattr("events.operations.figures.MAX_AGE_S", 60.0)
    sent.clear()
    shop.parts.figures.read()
    assert sent == []


def test_metrics_are_limited_like_other_reads(server: RealServer) -> None:
    client = app_on(server.url, UNLIMITED._replace(reads="2/hour")).test_client()
    assert [client.get("/metrics").status_code for _ in range(3)] == [200, 200, 429]


COUNT = """
import sys
from prometheus_client import CollectorRegistry, Counter
requests = Counter("rookery_requests", "Answered requests", ["method"], registry=CollectorRegistry())
requests.labels("GET").inc(int(sys.argv[1]))
"""


@pytest.fixture
def counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Let two processes of a web server count 3 and 4 requests; return their ids. Both have ended."""
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", str(tmp_path))
    processes = [subprocess.Popen([sys.executable, "-c", COUNT, count]) for count in ("3", "4")]
    assert [process.wait() for process in processes] == [0, 0]
    return [process.pid for process in processes]


def test_several_processes_count_together_in_one_figure(app: Flask, counted: list[int], tmp_path: Path) -> None:
    def shown() -> list[str]:
        lines = app.test_client().get("/metrics").text.splitlines()
        return [line for line in lines if line.startswith(("rookery_requests_total", "rookery_store_up"))]

    expected = ["rookery_store_up 1.0", 'rookery_requests_total{method="GET"} 7.0']
    assert shown() == expected
    with unchanged(str(tmp_path)):
        assert not fold_ended(str(tmp_path), counted), "while somebody reads nothing is moved"
    assert shown() == expected
    assert fold_ended(str(tmp_path), counted[:1])
    assert shown() == expected
    assert fold_ended(str(tmp_path), counted)
    assert shown() == expected
    assert sorted(name for name in os.listdir(tmp_path) if name.endswith(".db")) == [ENDED]
