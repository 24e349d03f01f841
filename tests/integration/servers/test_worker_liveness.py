"""A worker of Celery that hangs is found by its probe, which asks neither the worker nor the broker."""

import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

from deploy.local.child import bound_to_parent
from events.runtime.beat_files import read_liveness
from events.runtime.queues import Queue
from events.runtime.wall_clock import now_ms
from tests.support.celery_worker import Broker, environment_of
from tests.support.eventually import eventually
from tests.support.stepped_installation import SteppedInstallation
from workers.composition import make_task_queue

MAX_SILENCE_S = 1.5
"""A little more than the interval of beats."""


def test_a_pool_process_or_main_loop_that_hangs_is_named_by_probe(shop: SteppedInstallation, tmp_path: Path) -> None:
    work = [sys.executable, "-m", "deploy.cli", "work", Queue.DEFAULT, "--processes", "1"]
    beating = [*work, "--heartbeat", str(tmp_path)]
    with subprocess.Popen(bound_to_parent(beating), env=environment_of(shop.settings)) as worker:
        eventually(lambda: read_liveness(tmp_path).reason.startswith("2 lines"), "the beats of loop and pool process")
        (pool_process,) = [int(path.name.partition("-")[0]) for path in tmp_path.glob("*-process-1")]
        for pid, line in ((pool_process, "process-1"), (worker.pid, "loop")):
            os.kill(pid, signal.SIGSTOP)
            eventually(partial(names, tmp_path, f"{pid}-{line}"), line)
            os.kill(pid, signal.SIGCONT)
            eventually(lambda: read_liveness(tmp_path, MAX_SILENCE_S).alive, "the worker that goes on")
        worker.terminate()
        worker.wait(20)
    assert not read_liveness(tmp_path).alive


def test_a_worker_stopped_in_a_task_is_named_however_long_that_is(shop: SteppedInstallation, tmp_path: Path) -> None:
    shop.now = now_ms()
    broker, tasks = Broker(shop.settings), make_task_queue(shop.parts)
    for _ in range(3):
        tasks.request_answer(shop.start("opponent-8", "alice"))
    work = [sys.executable, "-m", "deploy.cli", "work", Queue.OPPONENTS, "--heartbeat", str(tmp_path)]
    with subprocess.Popen(bound_to_parent(work), env=environment_of(shop.settings)) as worker:
        eventually(lambda: broker.taken() > 0, "the beginning of a search")
        os.kill(worker.pid, signal.SIGSTOP)
        eventually(partial(names, tmp_path, f"{worker.pid}-process"), "the process that is stopped")
        worker.kill()


def test_a_task_in_a_thread_is_a_line_of_its_own_while_it_runs(shop: SteppedInstallation, tmp_path: Path) -> None:
    shop.now = now_ms()
    # A search of seconds: the line stands no longer than that.
    match_id = shop.start("opponent-8", "alice", game="tower-game", setup="original")
    make_task_queue(shop.parts).request_answer(match_id)
    queues = [Queue.NOTICES, Queue.OPPONENTS]
    work = [sys.executable, "-m", "deploy.cli", "work", *queues, "--heartbeat", str(tmp_path)]
    with subprocess.Popen(bound_to_parent(work), env=environment_of(shop.settings)) as worker:
        eventually(lambda: list(tmp_path.glob(f"{worker.pid}-task-*")), "the line of the task")
        eventually(lambda: not list(tmp_path.glob(f"{worker.pid}-task-*")), "its end")
        assert read_liveness(tmp_path).alive
        worker.kill()


def names(directory: Path, line: str) -> bool:
    """Tell whether the probe says that ``line`` hangs."""
    return read_liveness(directory, MAX_SILENCE_S).reason.startswith(f"no progress: {line} for")
