"""Commands that are fleet jobs: who does the work, what is said, and what an interrupted command leaves."""

from collections.abc import Callable
from typing import Any

import pytest
from click.testing import CliRunner, Result

from deploy.cli import following, main
from events.matches.fleet_jobs import FleetJobs, JobState
from tests.support.fleet import run_here, slice_worker
from tests.support.server import RealServer
from tests.support.stepped_installation import PREFIX, SteppedInstallation
from workers.fleet import ladder
from workers.fleet.kinds import REBUILD, VERIFY
from workers.fleet.work import FleetJobFailedError, SliceWorker
from workers.task_queue import TaskQueue

Run = Callable[..., Result]


@pytest.fixture
def rookery(shop: SteppedInstallation, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("REDIS_URL", shop.settings.redis_url)
    monkeypatch.setenv("ROOKERY_PREFIX", PREFIX)
    # By the clock of the store, as commands and their workers go.
    shop.parts.fleet_jobs = FleetJobs(shop.client, PREFIX)
    return lambda *words: CliRunner().invoke(main, [*map(str, words)])


def test_workers_get_tasks_at_once(shop: SteppedInstallation, rookery: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    requested: list[str] = []

    def wait(_: float) -> None:
        assert requested

    do_slice = SliceWorker.do_slice

    def plan_here(*arguments: Any) -> bool:
        monkeypatch.setattr(following, "ALONE_S", 0.0)
        return do_slice(*arguments)

    def request(_: TaskQueue, job_id: str) -> None:
        requested.append(job_id)
        slice_worker(shop.parts).do_slices(job_id, "own", requested.append, lambda: False)

    monkeypatch.setattr(SliceWorker, "do_slice", plan_here)
    monkeypatch.setattr(following.OwnWorkers, "start", lambda own: None)
    monkeypatch.setattr(TaskQueue, "request_slices", request)
    monkeypatch.setattr("deploy.cli.following.time.sleep", wait)
    shop.start("alice", "bob")
    assert rookery("verify", "--processes", 2).exit_code == 0
    (job,) = shop.parts.fleet_jobs.jobs()
    assert requested == [job.id]


def test_a_command_needs_no_broker(shop: SteppedInstallation, rookery: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    shop.start("alice", "bob")
    monkeypatch.setenv("BROKER_URL", "redis://127.0.0.1:1/0")
    shop.parts.fleet_jobs.report_worker("elsewhere")
    verified = rookery("verify")
    assert verified.exit_code == 0, verified.output
    assert "1 matches, 3 events intact" in verified.stdout
    assert "The broker cannot be reached (" in verified.stderr


def test_a_store_without_writes_can_be_verified(shop: SteppedInstallation, server: RealServer, rookery: Run) -> None:
    shop.start("alice", "bob")
    shop.client.config_set("maxmemory", 1)
    verified = rookery("verify")
    assert "1 matches, 3 events intact" in verified.stdout
    assert "The store takes no writes (" in verified.stderr
    assert shop.parts.fleet_jobs.jobs() == []


def test_a_command_follows_the_job_that_runs_already(shop: SteppedInstallation, rookery: Run) -> None:
    shop.start("alice", "bob")
    job = shop.parts.fleet_jobs.start(VERIFY, {})
    assert f"Following the job {job.id}, which was requested at " in rookery("verify").stderr
    assert [found.id for found in shop.parts.fleet_jobs.jobs()] == [job.id]
    running = shop.parts.fleet_jobs.start(REBUILD, {})
    refused = rookery("rebuild", "--check")
    assert (refused.exit_code, refused.stderr.splitlines()[-1]) == (
        1,
        f"the job {running.id} is rebuilding the read models already: --check has nothing to compare with until it has "
        "ended",
    )


def test_interrupted_jobs_are_told(shop: SteppedInstallation, rookery: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    shop.start("alice", "bob")
    jobs = shop.parts.fleet_jobs
    monkeypatch.setattr(SliceWorker, "do_slice", interrupted)
    alone = rookery("verify", "--processes", 1)
    (job,) = jobs.jobs()
    assert (alone.exit_code, job.state) == (1, JobState.CANCELLED)
    assert f"The job {job.id} is cancelled: no other worker would have gone on with it." in alone.stderr
    monkeypatch.setattr("deploy.cli.following.time.sleep", interrupted)
    jobs.report_worker("elsewhere")
    followed = rookery("verify")
    (going_on,) = jobs.running()
    assert f"The job {going_on.id} goes on: the same command follows it" in followed.stderr
    assert rookery("fleet", "cancel", going_on.id).stdout == f"{going_on.id} is cancelled.\n"
    again = rookery("fleet", "cancel", going_on.id)
    assert (again.exit_code, again.stderr.splitlines()[-1]) == (
        1,
        f"the job {going_on.id} has ended already: it is cancelled",
    )


def test_jobs_are_listed_with_their_progress(shop: SteppedInstallation, rookery: Run) -> None:
    assert rookery("fleet", "list").stdout == "No worker of the fleet runs.\n"
    jobs = shop.parts.fleet_jobs
    shop.start("alice", "bob")
    run_here(shop.parts, VERIFY, {})
    failing = jobs.start("ladder", {"game": "chess", "ruleset": 1, "games": 2, "seed": 1})
    with pytest.raises(FleetJobFailedError):
        run_here(shop.parts, failing.kind, failing.parameters)
    jobs.start(REBUILD, {})
    jobs.report_worker("elsewhere")
    first, second, third, workers = rookery("fleet", "list").stdout.splitlines()
    assert first.startswith("verify-")
    assert first.endswith("  1 of 1  finished")
    assert "  being planned  game=chess games=2 ruleset=1 seed=1  failed: its plan: " in second
    assert third.endswith("  being planned  running")
    assert workers == "1 workers of the fleet run."
    assert rookery("fleet", "cancel", "verify-0").stderr.splitlines()[-1] == (
        "there is no job verify-0: see rookery fleet list"
    )


def test_a_ladder_is_played_by_the_fleet_or_where_nothing_runs_by_the_command(
    rookery: Run, shop: SteppedInstallation, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setattr(ladder, "PAIRS", ((1, "random"), ("random", "random")))
    played = rookery("opponent", "ladder", "bashni", "--games", 2)
    assert played.exit_code == 0, played.output
    assert [line.split("  ")[:4] for line in played.stdout.splitlines()] == [
        ["setup", "level", "against", "games"],
        ["start", "1", "random", "2"],
        ["start", "random", "random", "2"],
    ]
    assert [job.kind for job in shop.parts.fleet_jobs.jobs()] == ["ladder"]
    monkeypatch.delenv("REDIS_URL")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("deploy.cli.target.ROOT", tmp_path)
    assert rookery("opponent", "ladder", "bashni", "--games", 2).stdout == played.stdout
    assert rookery("opponent", "ladder", "bashni", "--games", 2, "--var", tmp_path).exit_code == 1
