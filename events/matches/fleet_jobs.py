"""Fleet jobs: work over all matches, divided into slices that any worker may do, recorded in the store.

Of one kind with the same parameters one job runs at a time. Its first slice is its plan, which defines the others,
stage by stage: a stage begins when those before are done. Slices are entries of a work list, in a lane for each
job.

Crash-safe: the lease of a killed worker ends and another claims its slice; a late result is not stored. A slice that
was claimed MAX_CLAIMS times without being done ends the job as failed.
"""

import json
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import accumulate
from typing import Any, NamedTuple

from events.runtime.connections import StoreClient, StorePipeline
from events.runtime.keys import FleetKeys, WorkListKeys
from events.runtime.transactions import transact
from events.runtime.work_list import Claim, Repeats, WorkList, work_script

LEASE_MS = 10_000
"""Time without a renewal after which a worker counts as killed or hanging."""

MAX_CLAIMS = 3
KEPT_S = 3 * 86_400
MAX_WORKER_SILENCE_MS = 15_000
RESULTS_PER_PAGE = 100

Parameters = Mapping[str, Any]

_PLAN = "its plan"
_NOT_BEGUN = 2**52
"""The instant at which slices of later stages are due."""


class JobState(StrEnum):
    """How far a job is. All but RUNNING are final."""

    RUNNING = "running"
    FINISHED = "finished"
    FAILED = "failed"
    CANCELLED = "cancelled"


class PlannedSlice(NamedTuple):
    """A slice: its content (JSON), how many units of the job it is, and its ``place`` as operators read it."""

    content: Any
    units: int
    place: str


class ClaimedSlice(NamedTuple):
    """A slice that a worker has claimed. Number 0 is the plan of the job."""

    job: str
    kind: str
    parameters: Parameters
    number: int
    content: Any
    units: int
    claim: Claim

    @property
    def is_plan(self) -> bool:
        """Whether the slice is to plan the others."""
        return self.number == 0


class FleetJob(NamedTuple):
    """A job as it stands; ``slices`` known, ``done`` of them, ``units`` (matches or games), ``reason`` of a failure."""

    id: str
    kind: str
    parameters: Parameters
    state: JobState
    reason: str
    requested_at: int
    ended_at: int | None
    slices: int
    done: int
    units: int
    units_done: int

    @property
    def is_planned(self) -> bool:
        """Whether the slices are known."""
        return self.done > 0


class FleetJobs:
    """The fleet jobs of an installation. ``now`` replaces the store's clock."""

    def __init__(self, client: StoreClient, prefix: str, now: Callable[[], int] | None = None) -> None:
        self.work = WorkList(client, [WorkListKeys(prefix, "fleet", "work")], now)
        self._clock = now
        self._client = client
        self._keys = FleetKeys(prefix)
        self._finish = work_script(client, __package__, "finish_slice")

    def start(self, kind: str, parameters: Parameters) -> FleetJob:
        """Return the job of this kind with these parameters that runs; start one when none does."""
        packed, keys = _pack(parameters), self._keys
        name, wanted = _name(kind, packed), f"{kind}-{secrets.token_hex(4)}"

        def change(pipeline: StorePipeline) -> FleetJob | None:
            job_id = pipeline.hget(keys.running, name)
            job = None if job_id is None else _read_job(job_id.decode(), pipeline.hgetall(keys.job(job_id.decode())))
            if job is not None:
                return job
            # None runs, or the store has lost it, and only its name is left.
            now = self._now()
            facts: dict[Any, Any] = {"kind": kind, "parameters": packed, "state": "running", "requested_at": now}
            facts |= {"stages": "1", "slices": 1, "begun": 1, "done": 0, "units": 0, "units_done": 0}
            pipeline.multi()
            pipeline.hset(keys.running, name, wanted)
            pipeline.zadd(keys.jobs, {wanted: now})
            pipeline.hset(keys.job(wanted), mapping=facts)
            self.work.add_on(pipeline, f"{wanted}:0", wanted, now, _pack([0, _PLAN, None]), lane=wanted)
            return None

        running = transact(self._client, [keys.running], change)
        return running or self.job(wanted) or self.start(kind, parameters)

    def job(self, job_id: str) -> FleetJob | None:
        """Return a job; None when there is none, or it ended too long ago."""
        return _read_job(job_id, self._client.hgetall(self._keys.job(job_id)))

    def jobs(self) -> list[FleetJob]:
        """Return all jobs, running or ended, the earliest first; those that have expired are forgotten."""
        listed = [name.decode() for name in self._client.zrange(self._keys.jobs, 0, -1)]
        jobs = self._read_all(listed)
        if gone := [job_id for job_id in listed if job_id not in jobs]:
            self._client.zrem(self._keys.jobs, *gone)
        return list(jobs.values())

    def running(self) -> list[FleetJob]:
        """Return the jobs that have not ended."""
        jobs = self._read_all([name.decode() for name in self._client.hgetall(self._keys.running).values()])
        return [job for job in jobs.values() if job.state == JobState.RUNNING]

    def find_running(self, kind: str, parameters: Parameters) -> FleetJob | None:
        """Return the job of this kind with these parameters that runs; None when none does."""
        job_id = self._client.hget(self._keys.running, _name(kind, _pack(parameters)))
        return None if job_id is None else self.job(job_id.decode())

    def claim(self, job: FleetJob) -> ClaimedSlice | None:
        """Claim the next slice of ``job``; None if all are done or claimed, or the job fails by too many claims."""
        claim = self.work.claim([job.id])
        if claim is None and self.advance(job):
            claim = self.work.claim([job.id])
        if claim is None:
            return None
        number = int(claim.id.rpartition(":")[2])
        units, place, content = json.loads(claim.content)
        if claim.attempts > MAX_CLAIMS:
            # Crash-safe: killed here, the next worker finds the same slice and ends the job.
            error = self._client.hget(self._keys.job(job.id), f"error:{number}") or b""
            self._stop(job, JobState.FAILED, _explain(place, error.decode()))
            return None
        return ClaimedSlice(job.id, job.kind, job.parameters, number, content, units, claim)

    def is_waiting(self, job: FleetJob) -> bool:
        """Tell whether a slice of ``job`` can be claimed."""
        at = self.work.next_due().get(job.id)
        return at is not None and at <= self._now()

    def renew(self, claimed: ClaimedSlice) -> bool:
        """Renew the lease of a slice; return False when it was lost."""
        return self.work.renew(claimed.claim)

    def release(self, claimed: ClaimedSlice, error: str = "") -> bool:
        """Let others claim the slice at once; False when they could. An ``error`` counts as a failed claim."""
        if error:
            self._client.hset(self._keys.job(claimed.job), f"error:{claimed.number}", error[:1000])
        return self.work.postpone(claimed.claim, claimed.claim.due, tried=bool(error))

    def finish(self, claimed: ClaimedSlice, result: str | bytes) -> bool:
        """Store the result of a slice, or nothing if its claim was lost; return whether another stage begins."""
        return self._finish_slice(claimed, result, [""])

    def finish_plan(self, claimed: ClaimedSlice, stages: Sequence[Sequence[PlannedSlice]]) -> bool:
        """Store the slices of a job, or nothing if the claim of the plan was lost; return whether a stage begins."""
        slices = [part for stage in stages for part in stage]
        ends = sorted(set(accumulate(map(len, stages), initial=1)))
        packed = [_pack([part.units, part.place, part.content]) for part in slices]
        planned = [" ".join(map(str, ends)), sum(part.units for part in slices), claimed.job, _NOT_BEGUN, *packed]
        return self._finish_slice(claimed, "", planned)

    def advance(self, job: FleetJob) -> bool:
        """Begin the next stage of ``job`` (True), or end it, once all slices that have begun are done.

        Crash-safe: the relay repeats it for all jobs that run; it happens once.
        """
        keys = self._keys

        def change(pipeline: StorePipeline) -> bool:
            fields = ["state", "done", "begun", "stages", "slices"]
            state, done, begun, stages, slices = (field or b"" for field in pipeline.hmget(keys.job(job.id), fields))
            if state != b"running" or done != begun:
                return False
            if done == slices:
                pipeline.multi()
                self._end(pipeline, job, JobState.FINISHED, "")
                return False
            last, due = next(int(end) for end in stages.split() if int(end) > int(begun)), self._now()
            pipeline.multi()
            pipeline.hset(keys.job(job.id), "begun", last)
            for number in range(int(begun), last):
                self.work.add_on(pipeline, f"{job.id}:{number:07}", job.id, due, lane=job.id, repeats=Repeats.MOVED)
            return True

        return transact(self._client, [keys.job(job.id)], change)

    def advance_running(self) -> None:
        """Begin the stage that a killed worker has left undone."""
        for job in self.running():
            self.advance(job)

    def cancel(self, job: FleetJob) -> bool:
        """End ``job``; return False when it has ended already. A slice that is being done is not stored."""
        return self._stop(job, JobState.CANCELLED, "")

    def results(self, job_id: str, after: int = 0) -> Iterator[tuple[int, bytes]]:
        """Yield numbers and results of the slices after number ``after``, in order, up to the first without one."""
        while True:
            numbers = range(after + 1, after + 1 + RESULTS_PER_PAGE)
            results = self._client.hmget(self._keys.results(job_id), [str(number) for number in numbers])
            for number, result in zip(numbers, results, strict=True):
                if result is None:
                    return
                yield number, result
            after = numbers[-1]

    def report_worker(self, name: str) -> None:
        """Record that the worker ``name`` is ready for slices, or does one."""
        now = self._now()
        with self._client.pipeline(transaction=False) as pipeline:
            pipeline.zadd(self._keys.workers, {name: now})
            pipeline.zremrangebyscore(self._keys.workers, "-inf", now - MAX_WORKER_SILENCE_MS)
            pipeline.execute()

    def forget_worker(self, name: str) -> None:
        """Record that the worker ``name`` has stopped."""
        self._client.zrem(self._keys.workers, name)

    def count_workers(self) -> int:
        """Return how many workers of the fleet run."""
        return int(self._client.zcount(self._keys.workers, self._now() - MAX_WORKER_SILENCE_MS, "+inf"))

    def _read_all(self, job_ids: Sequence[str]) -> dict[str, FleetJob]:
        with self._client.pipeline(transaction=False) as pipeline:
            for job_id in job_ids:
                pipeline.hgetall(self._keys.job(job_id))
            replies = pipeline.execute()
        jobs = map(_read_job, job_ids, replies)
        return {job.id: job for job in jobs if job is not None}

    def _finish_slice(self, claimed: ClaimedSlice, result: str | bytes, planned: Sequence[Any]) -> bool:
        keys, claim = self._keys, claimed.claim
        places = [claim.keys.base, keys.job(claimed.job), keys.results(claimed.job)]
        if not self._finish(places, [claim.id, claim.token, claimed.number, result, claimed.units, *planned]):
            return False
        job = self.job(claimed.job)
        return job is not None and self.advance(job)

    def _stop(self, job: FleetJob, state: JobState, reason: str) -> bool:
        def change(pipeline: StorePipeline) -> bool:
            running = pipeline.hget(self._keys.job(job.id), "state") == b"running"
            pipeline.multi()
            if running:
                self._end(pipeline, job, state, reason)
            return running

        stopped = transact(self._client, [self._keys.job(job.id)], change)
        self.work.discard(job.id)
        return stopped

    def _end(self, pipeline: StorePipeline, job: FleetJob, state: JobState, reason: str) -> None:
        keys = self._keys
        pipeline.hset(keys.job(job.id), mapping={"state": state, "reason": reason, "ended_at": self._now()})
        pipeline.hdel(keys.running, _name(job.kind, _pack(job.parameters)))
        for key in (keys.job(job.id), keys.results(job.id)):
            pipeline.expire(key, KEPT_S)

    def _now(self) -> int:
        """Return the present instant by the store's clock: leases and reports come from many machines."""
        if self._clock is not None:
            return self._clock()
        seconds, microseconds = self._client.server_of(self._keys.workers).time()
        return int(seconds) * 1000 + int(microseconds) // 1000


def _read_job(job_id: str, fields: Mapping[bytes, bytes]) -> FleetJob | None:
    if b"state" not in fields:
        return None
    values = {name.decode(): value.decode() for name, value in fields.items()}
    return FleetJob(
        id=job_id,
        kind=values["kind"],
        parameters=json.loads(values["parameters"]),
        state=JobState(values["state"]),
        reason=values.get("reason", ""),
        requested_at=int(values["requested_at"]),
        ended_at=int(values["ended_at"]) if "ended_at" in values else None,
        slices=int(values["slices"]),
        done=int(values["done"]),
        units=int(values["units"]),
        units_done=int(values["units_done"]),
    )


def _explain(place: str, error: str) -> str:
    if error:
        return f"{place}: {error}"
    return f"the workers were killed {MAX_CLAIMS} times in a row at {place}: is there enough memory?"


def _name(kind: str, parameters: str) -> str:
    return f"{kind} {parameters}"


def _pack(content: Any) -> str:
    return json.dumps(content, separators=(",", ":"), sort_keys=True)
