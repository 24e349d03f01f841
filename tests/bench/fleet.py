"""Fleet jobs by one worker and by two, in matches a second, and what sixteen would do.

The matches are copies of one complete random game of Bashni, rated, all over on one day. The workers are those of an
installation: ``rookery work fleet``. Sixteen workers do not run here: a simulation shows what bounds them. In it each
worker has a processor of its own, the store is one server that does one thing at a time, and both take for a slice the
processor time that was measured; what follows when all matches are done (ratings after a rebuild) has one worker only.
"""

import heapq
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from deploy.local.child import bound_to_parent
from deploy.local.environment import ROOT, child_environment
from domain.games import GAMES
from domain.match.commands import JoinMatch
from events.installation import Installation
from events.matches.fleet_jobs import FleetJob, JobState, Parameters
from events.runtime.queues import Queue
from events.runtime.settings import STREAM_URL, Settings, next_database
from events.store.codec import draft_of
from events.store.contract import EMPTY, Request
from tests.bench.measure import Rates, Table, verdict
from tests.bench.played import random_game
from tests.support.matches import PlayedMatch, creation
from tests.support.server import RealServer
from workers.composition import make_task_queue
from workers.fleet.audit import RECOMPUTE
from workers.fleet.kinds import AUDIT, REBUILD, VERIFY

TURNS = 3
MATCHES = 1600
TARGET = 1.7
JOBS: tuple[tuple[str, Parameters], ...] = ((REBUILD, {}), (AUDIT, {RECOMPUTE: False}), (VERIFY, {}))
POLL_S = 0.02
TIMEOUT_S = 600
FLEETS = (1, 2, 4, 8, 16)


class Measured(NamedTuple):
    """What a job took: seconds; processor time of the workers, of it after all matches were done, and of the store."""

    seconds: float
    workers_s: float
    last_s: float
    store_s: float
    slices: int


def tables() -> Iterator[Table]:
    with tempfile.TemporaryDirectory() as directory:
        server = RealServer(Path(directory))
        try:
            settings = Settings(server.url, next_database(server.url), "rk:", STREAM_URL, False, None)
            parts = Installation(settings)
            fill(parts, MATCHES)
            measured: dict[tuple[str, int], list[Measured]] = {}
            for _ in range(TURNS):
                for workers in (1, 2):
                    with _fleet(parts, workers) as processes:
                        for kind, parameters in JOBS:
                            measured.setdefault((kind, workers), []).append(_run(parts, kind, parameters, processes))
        finally:
            server.close()
    yield _measured_table(measured)
    yield _simulated_table(measured)


def fill(parts: Installation, matches: int) -> None:
    """Play one match and store copies of it, ``matches`` in all."""
    match = PlayedMatch(creation(rated=True))
    match.do(JoinMatch(player="bob"))
    for ply, move in enumerate(random_game(GAMES["bashni"], "start")):
        match.move(("alice", "bob")[ply % 2], move)
    drafts = [draft_of(event, "bench") for event in match.events]
    for number in range(matches):
        parts.store.append(f"m{number}", EMPTY, drafts, Request("copy", "copy"))


def simulate(workers: int, slices: int, worker_s: float, store_s: float) -> float:
    """Return how long ``workers`` take for ``slices``: each takes a worker ``worker_s`` and the store ``store_s``."""
    idle_at = [0.0] * workers
    store_idle_at = 0.0
    for _ in range(slices):
        begun = heapq.heappop(idle_at)
        # The worker asks the store many times in a slice; what counts is that the store has one queue for all.
        store_idle_at = max(store_idle_at, begun) + store_s
        heapq.heappush(idle_at, max(begun + worker_s + store_s, store_idle_at))
    return max(idle_at)


def _measured_table(measured: dict[tuple[str, int], list[Measured]]) -> Table:
    table = Table(f"Fleet jobs over {MATCHES:,} matches", "", "matches/s", "x", "target", "ms of processor a match")
    for kind, _ in JOBS:
        one, two = (Rates(tuple(MATCHES / turn.seconds for turn in measured[kind, workers])) for workers in (1, 2))
        used = [median(1000 * turn.workers_s / MATCHES for turn in measured[kind, workers]) for workers in (1, 2)]
        ratio = two.over(one)
        table.add(f"{kind}, 1 worker", one.typical, "1", "", used[0])
        table.add(f"{kind}, 2 workers", two.typical, ratio, verdict(ratio, TARGET), used[1])
    return table


def _simulated_table(measured: dict[tuple[str, int], list[Measured]]) -> Table:
    names = [f"{workers} workers" for workers in FLEETS]
    table = Table(
        "Simulated: times as fast as one worker", "", "ms a slice", "ms of the store", "ms at the end", *names
    )
    for kind, _ in JOBS:
        typical = sorted(measured[kind, 1])[TURNS // 2]
        slices = typical.slices - 1
        worker_s = (typical.workers_s - typical.last_s) / slices
        store_s, last_s = typical.store_s / slices, typical.last_s / slices
        # As many slices as sixteen workers are busy with for long; what comes last grows with the matches.
        many = 1600
        taken = [simulate(workers, many, worker_s, store_s) + many * last_s for workers in FLEETS]
        table.add(kind, 1000 * worker_s, 1000 * store_s, 1000 * last_s, *(taken[0] / each for each in taken))
    return table


@contextmanager
def _fleet(parts: Installation, workers: int) -> Iterator[list[int]]:
    """Run ``workers`` of the fleet; yield their processes."""
    environment = child_environment(parts.settings)
    command = bound_to_parent([sys.executable, "-m", "deploy.cli", "work", Queue.FLEET])
    processes = []
    with ExitStack() as stack:
        for _ in range(workers):
            quiet = subprocess.DEVNULL
            worker = subprocess.Popen(command, env=environment, cwd=ROOT, stdout=quiet, stderr=quiet)
            processes.append(worker.pid)
            stack.callback(worker.wait)
            stack.callback(worker.terminate)
        _wait(lambda: parts.fleet_jobs.count_workers() == workers, "the workers do not start")
        yield processes
    _wait(lambda: parts.fleet_jobs.count_workers() == 0, "the workers do not stop")


def _run(parts: Installation, kind: str, parameters: Parameters, processes: Sequence[int]) -> Measured:
    def used() -> tuple[float, float]:
        return sum(map(_processor_seconds, processes)), _store_seconds(parts)

    before, start = used(), time.perf_counter()
    job = parts.fleet_jobs.start(kind, parameters)
    make_task_queue(parts).request_slices(job.id)

    def look() -> FleetJob:
        found = parts.fleet_jobs.job(job.id)
        if found is None or found.state in (JobState.FAILED, JobState.CANCELLED):
            raise RuntimeError(f"{kind} has failed: {found}")
        return found

    _wait(lambda: look().is_planned and look().units_done == look().units, f"{kind} hangs")
    last = used()
    _wait(lambda: look().state == JobState.FINISHED, f"{kind} hangs")
    end, after = time.perf_counter(), used()
    return Measured(end - start, after[0] - before[0], after[0] - last[0], after[1] - before[1], look().slices)


def _processor_seconds(process: int) -> float:
    """Return the processor time that a process has used (proc(5): utime and stime)."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _store_seconds(parts: Installation) -> float:
    cpu: Any = parts.client.info("cpu")
    return float(cpu["used_cpu_user"]) + float(cpu["used_cpu_sys"])


def _wait(condition: Callable[[], bool], failure: str) -> None:
    deadline = time.monotonic() + TIMEOUT_S
    while not condition():
        if time.monotonic() > deadline:
            raise RuntimeError(failure)
        time.sleep(POLL_S)
