"""Fleet jobs done in the process of a test."""

import time
from functools import partial
from typing import Any

from events.installation import Installation
from events.matches.fleet_jobs import JobState, Parameters
from events.runtime.settings import Settings
from workers.fleet.kinds import REBUILD, make_work
from workers.fleet.rebuild import Rebuilt
from workers.fleet.work import SliceWorker, check_finished, read_results

POLL_S = 0.1


def rebuild(settings: Settings) -> Rebuilt:
    total = Rebuilt()
    for rebuilt in run_here(Installation(settings), REBUILD, {}):
        total = total.plus(rebuilt)
    return total


def slice_worker(parts: Installation) -> SliceWorker:
    return SliceWorker(parts.fleet_jobs, partial(make_work, parts))


def run_here(parts: Installation, kind: str, parameters: Parameters) -> list[Any]:
    """Do a job in this thread and in other workers; return its results. Raises FleetJobFailedError."""
    jobs = parts.fleet_jobs
    job = jobs.start(kind, parameters)
    while job.state == JobState.RUNNING:
        claimed = jobs.claim(job)
        if claimed is not None:
            slice_worker(parts).do_slice(claimed)
        else:
            time.sleep(POLL_S)
        job = jobs.job(job.id) or job
    check_finished(job)
    return [result for _, result in read_results(jobs, job)]
