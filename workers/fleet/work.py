"""Doing slices of fleet jobs: by the workers of the fleet, by a command itself."""

import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import structlog

from events.matches.fleet_jobs import ClaimedSlice, FleetJob, FleetJobs, JobState, Parameters
from events.runtime.errors import StoreUnavailableError
from events.store.converter import pack, unpack
from workers.claims import BROKER_ERRORS, Renewal
from workers.fleet.kinds import KINDS, FleetWork

MAX_SLICE_S = 600.0
"""A slice that takes longer counts as one that has killed its worker: the lease is not renewed any more."""

TASK_S = 20.0
"""A task takes no further slice after so long, so that a worker can be stopped in good order and others have a turn."""

log = structlog.get_logger("fleet")


class FleetJobFailedError(Exception):
    """A job has failed or was cancelled; the message says why."""


class SliceWorker(NamedTuple):
    """Does slices of ``jobs``; ``make_work`` returns the work of a kind of job."""

    jobs: FleetJobs
    make_work: Callable[[str], FleetWork]

    def do_slices(self, job_id: str, name: str, request: Callable[[str], None], is_stopping: Callable[[], bool]) -> int:
        """Do slices of a job for TASK_S, as the worker ``name``; return how many were done.

        Each task that finds more slices than its own has ``request`` enqueue another: one is always waiting. The relay
        requests tasks that a broker has lost.
        """

        def request_another() -> None:
            try:
                request(job_id)
            except BROKER_ERRORS as error:
                log.warning("no other worker was asked to join", job=job_id, error=str(error))

        jobs = self.jobs
        job = jobs.job(job_id)
        if job is None or job.state != JobState.RUNNING:
            jobs.work.discard(job_id)
            return 0
        deadline, done = time.monotonic() + TASK_S, 0
        while time.monotonic() < deadline and not is_stopping():
            claimed = jobs.claim(job)
            if claimed is None:
                break
            if not done and jobs.is_waiting(job):
                request_another()
            if self.do_slice(claimed, name):
                request_another()
            done += 1
        return done

    def do_slice(self, claimed: ClaimedSlice, name: str = "") -> bool:
        """Do a slice as the worker ``name`` ("": a command), store its result; return whether another stage begins.

        Failures are recorded, and may fail the job. Crash-safe: killed here, the lease expires and the slice is done
        again.
        """
        jobs = self.jobs

        def renew() -> bool:
            if name:
                jobs.report_worker(name)
            return jobs.renew(claimed)

        with Renewal(renew, jobs.work.lease_ms, MAX_SLICE_S):
            try:
                work = self.make_work(claimed.kind)
                if claimed.is_plan:
                    return jobs.finish_plan(claimed, work.plan(claimed.parameters))
                return jobs.finish(claimed, pack(work.do(claimed.parameters, claimed.content)))
            except StoreUnavailableError:
                jobs.release(claimed)
                raise
            except Exception as error:
                log.exception("a slice failed", job=claimed.job, slice=claimed.number)
                jobs.release(claimed, f"{type(error).__name__}: {error}")
                return False


def do_unrecorded(work: FleetWork, parameters: Parameters) -> tuple[int, Iterator[tuple[int, Any]]]:
    """Plan a job without recording it; return all units, and an iterator of units and results of each slice."""
    slices = [planned for stage in work.plan(parameters) for planned in stage]
    done = ((planned.units, work.do(parameters, planned.content)) for planned in slices)
    return sum(planned.units for planned in slices), done


def read_results(jobs: FleetJobs, job: FleetJob, after: int = 0) -> Iterator[tuple[int, Any]]:
    """Yield numbers and results of the slices after number ``after``, in order, up to the first without one."""
    for number, packed in jobs.results(job.id, after):
        yield number, unpack(KINDS[job.kind].result, packed)


def check_finished(job: FleetJob) -> None:
    """Raise FleetJobFailedError unless ``job`` is finished."""
    if job.state == JobState.CANCELLED:
        raise FleetJobFailedError(f"the job {job.id} was cancelled")
    if job.state != JobState.FINISHED:
        raise FleetJobFailedError(f"the job {job.id} has failed: {job.reason}")
