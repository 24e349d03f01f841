"""Real workers: what one of them does although another has died, its broker forgets, or many people ask for work."""

from typing import Any

import pytest
from click.testing import CliRunner
from flask import Flask

from api.services import Services
from deploy.cli import following, main
from events.matches.fleet_jobs import FleetJobs, JobState
from events.runtime.backoff import Backoff
from events.runtime.connections import connect
from events.runtime.queues import Queue
from events.runtime.wall_clock import now_ms
from tests.integration.test_jobs import against_opponent
from tests.integration.test_opponents import plies
from tests.support.callers import Caller, started
from tests.support.celery_worker import Broker, CeleryWorker
from tests.support.eventually import eventually
from tests.support.jobs import do_next_job
from tests.support.relays import running
from tests.support.stepped_installation import PREFIX, SteppedInstallation, drain
from workers.composition import make_task_queue
from workers.fleet.presence import worker_name
from workers.opponents import OPPONENTS, QUICK, SLOW
from workers.relay import Relay


def test_a_task_lost_by_the_broker_is_found_again(shop: SteppedInstallation, monkeypatch: pytest.MonkeyPatch) -> None:
    shop.now = now_ms()
    monkeypatch.setattr("workers.retries.DELAYS_MS", Backoff(100, 600_000))
    monkeypatch.setattr("workers.relay.SWEEP_INTERVAL_S", 0.2)
    broker = Broker(shop.settings)
    drain(shop.opponents())
    match = shop.start("opponent-1", "alice")
    drain(shop.opponents())
    assert shop.answers == [match]
    # The relay has done its part, and the task is nowhere.
    broker.lose_everything()
    with running(Relay(shop.settings)):
        eventually(lambda: broker.queued() > 0, "the task again")
        with CeleryWorker(shop.settings):
            eventually(lambda: plies(shop, match) == 1, "the move")


def test_an_opponent_answers_after_its_worker_died(shop: SteppedInstallation, monkeypatch: pytest.MonkeyPatch) -> None:
    shop.now = now_ms()
    monkeypatch.setattr("workers.retries.DELAYS_MS", Backoff(500, 600_000))
    monkeypatch.setattr("workers.relay.SWEEP_INTERVAL_S", 0.2)
    broker = Broker(shop.settings)
    with running(Relay(shop.settings)):
        with CeleryWorker(shop.settings) as doomed:
            match = shop.start("opponent-8", "alice")
            eventually(lambda: broker.taken() > 0, "the beginning of the search")
            doomed.kill()
        assert plies(shop, match) == 0
        with CeleryWorker(shop.settings):
            eventually(lambda: plies(shop, match), "the move")
    state = shop.state(match)
    assert [event.type for event in shop.store.read(match)].count("move-submitted") == 1
    assert state.play.last_ply == (1, 0)


def test_quick_answers_are_given_while_strong_opponents_keep_all_others_busy(shop: SteppedInstallation) -> None:
    shop.now = now_ms()
    turns = shop.parts.turns
    crowd = [shop.start("opponent-8", "anna") for _ in range(5)]
    with running(Relay(shop.settings)):
        eventually(lambda: turns.count()[SLOW] == len(crowd), "the crowd that waits")
        alone = shop.start("opponent-1", "boris")
        with CeleryWorker(shop.settings, [OPPONENTS[QUICK]]):
            eventually(lambda: shop.state(alone).play.moves, "the answer of the weak opponent")
    assert turns.count()[SLOW] == len(crowd), "the process for quick answers takes no others"


def test_what_a_stranger_asks_for_delays_neither_a_rating_nor_somebody_elses_request(
    app: Flask, anna: Caller, boris: Caller, stranger: Caller, services: Services
) -> None:
    answered = [against_opponent(anna, services) for _ in range(69)]
    settings = services.settings._replace(shards=services.store.shards)
    with running(Relay(settings)), CeleryWorker(settings, [Queue.DEFAULT]):
        for match_id, version in answered[:-1]:
            asked = stranger.post(f"/matches/{match_id}/recomputations", {"version": version})
            assert asked.status_code == 202
        rated = started(anna, boris, rated=True)
        anna.move(rated)
        boris.move(rated)
        boris.post(f"/matches/{rated}/resignation")
        eventually(lambda: services.readmodels.rating_change(rated), "the rating")
    assert services.jobs.work.count().total() == 68, "the worker for ratings does nothing that people ask for"
    match_id, version = answered[-1]
    anna.post(f"/matches/{match_id}/recomputations", {"version": version})
    assert match_id in [do_next_job(services)[0] for _ in range(2)]


BROKEN = (b"garbage", b"\xff\xfe", b"[]", b"{}", b'{"body": "x", "headers": {}, "properties": {}}', b"null")


def test_broken_messages_are_dropped_and_the_worker_goes_on(shop: SteppedInstallation) -> None:
    with connect(shop.settings.broker_url) as broker:
        for message in BROKEN:
            broker.lpush(Queue.DEFAULT.name_in_broker(shop.settings.prefix), message)
        make_task_queue(shop.parts).request_checkpoint()
        with CeleryWorker(shop.settings, [Queue.DEFAULT]) as worker:
            eventually(lambda: shop.checkpoints.latest_day(), "the checkpoint")
            assert worker.is_running


def test_long_jobs_get_own_workers(shop: SteppedInstallation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REDIS_URL", shop.settings.redis_url)
    monkeypatch.setenv("ROOKERY_PREFIX", PREFIX)
    jobs = FleetJobs(shop.client, PREFIX)
    monkeypatch.setattr(following, "ALONE_S", 0.0)
    started: list[int] = []
    spawn = following.OwnWorkers._spawn

    def remembered(own: following.OwnWorkers, log: Any) -> Any:
        child = spawn(own, log)
        started.append(child.pid)
        return child

    monkeypatch.setattr(following.OwnWorkers, "_spawn", remembered)
    for _ in range(4):
        shop.play(shop.start("alice", "bob"), 3)
    shop.project_all()
    rebuilt = CliRunner().invoke(main, ["rebuild", "--check", "--processes", "2"])
    assert (rebuilt.exit_code, rebuilt.stdout) == (0, "4 matches, 24 events\n"), rebuilt.output
    assert len(started) == 2
    assert [job.state for job in jobs.jobs()] == [JobState.FINISHED]
    jobs.report_worker(worker_name(started[0]))  # the command has said that its workers are gone
    assert jobs.count_workers() == 1
