"""Fleet jobs: work over all matches, divided into slices that any worker may do, recorded in the store.

A job has a kind and parameters; of one kind with the same parameters one job runs at a time. Its first slice is its
plan, which says what the other slices are, stage by stage: a stage begins when all slices of the ones before are done.
A worker takes a slice, which is leased to it, does it, and stores the result with the slice in one step.

Crash-safe: the lease of a worker that is killed expires, and another worker takes its slice. What the first one
finishes after that is not stored, so a slice counts once, however often it is done. A slice that was taken MAX_TAKES
times without being done ends the job as failed: it would kill or fail one worker after the other.

What the kinds are is said where they are done (``workers.fleet.kinds``).
"""

import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import accumulate
from typing import Any, NamedTuple

from events.runtime.connections import StoreClient
from events.runtime.keys import FleetKeys
from events.runtime.scripts import load_script

LEASE_MS = 10_000
"""A worker that has not renewed its lease for so long has been killed, or hangs."""

MAX_TAKES = 3
"""How often a slice is taken before the job fails."""

KEPT_S = 3 * 86_400
"""How long results can be read after a job has ended."""

MAX_WORKER_SILENCE_MS = 15_000
"""A worker that has not reported for so long does not count as running."""

RESULTS_PER_PAGE = 100

Parameters = Mapping[str, Any]
"""What a job is asked for; JSON values."""

_PLAN = "its plan"


class JobState(StrEnum):
    """How far a job is. All but RUNNING are final."""

    RUNNING = "running"
    FINISHED = "finished"
    FAILED = "failed"
    CANCELLED = "cancelled"


class PlannedSlice(NamedTuple):
    """A slice: what is to be done (JSON), how many units of the job it is, and its ``place`` as operators read it."""

    content: Any
    units: int
    place: str


class TakenSlice(NamedTuple):
    """A slice that a worker has taken. Number 0 is the plan of the job. ``owner`` stands for this one taking."""

    job: str
    kind: str
    parameters: Parameters
    number: int
    content: Any
    owner: str

    @property
    def is_plan(self) -> bool:
        """Whether the slice is to plan the others."""
        return self.number == 0


class FleetJob(NamedTuple):
    """A job as it stands.

    ``slices`` are those known so far, ``done`` those of them that are done, both with the plan; ``units`` are matches
    or games, 0 until there is a plan. ``reason`` says why it failed. Instants are milliseconds since 1970 UTC,
    ``ended_at`` is None while it runs.
    """

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
    """The fleet jobs of an installation. Safe to share between threads; methods raise StoreUnavailableError."""

    def __init__(self, client: StoreClient, prefix: str, lease_ms: int = LEASE_MS) -> None:
        self.lease_ms = lease_ms
        self._client = client
        self._keys = FleetKeys(prefix)
        self._start, self._take, self._keep, self._finish, self._end = (
            load_script(client, __package__, name)
            for name in ("start_fleet_job", "take_slice", "keep_slice", "finish_slice", "end_fleet_job")
        )

    def start(self, kind: str, parameters: Parameters) -> FleetJob:
        """Return the job of this kind with these parameters that runs; start one when none does."""
        packed = _pack(parameters)
        wanted, plan = f"{kind}-{secrets.token_hex(4)}", _pack([0, _PLAN, None])
        keys = [self._keys.running, self._keys.jobs, self._keys.job(wanted), self._keys.slices(wanted)]
        found: bytes = self._start(keys, [_name(kind, packed), wanted, kind, packed, plan])
        job = self.job(found.decode())
        if job is not None and job.state == JobState.RUNNING:
            return job
        # It has ended just now; or the store has lost it, and only its name is left.
        if job is None:
            self._client.hdel(self._keys.running, _name(kind, packed))
        return self.start(kind, parameters)

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
        found = self._client.hget(self._keys.running, _name(kind, _pack(parameters)))
        return None if found is None else self.job(found.decode())

    def take(self, job: FleetJob) -> TakenSlice | None:
        """Take a slice of ``job``; None when none is there to be taken now, be it that all are done or leased.

        Ends the job as failed when a slice was taken too often.
        """
        owner, keys = secrets.token_hex(8), self._keys
        places = [keys.job(job.id), keys.leases(job.id), keys.takes(job.id), keys.slices(job.id)]
        found = self._take(places, [owner, self.lease_ms, MAX_TAKES])
        if found is None:
            return None
        number, packed, *error = found
        _, place, content = json.loads(packed)
        if error:
            # Crash-safe: killed here, the next worker finds the same slice and ends the job.
            self._stop(job, JobState.FAILED, _explain(place, error[0].decode()))
            return None
        return TakenSlice(job.id, job.kind, job.parameters, int(number), content, owner)

    def is_waiting(self, job: FleetJob) -> bool:
        """Tell whether a slice of ``job`` is there to be taken."""
        stages, begun = self._client.hmget(self._keys.job(job.id), ["stages", "next"])
        if stages is None or begun is None or job.state != JobState.RUNNING:
            return False
        stage = next((int(last) for last in stages.split() if int(last) > job.done), 0)
        expired = self._client.zcount(self._keys.leases(job.id), "-inf", self._now())
        return int(begun) < stage or bool(expired)

    def keep(self, taken: TakenSlice) -> bool:
        """Renew the lease of a slice; return False when it was lost."""
        return self._lease(taken, self.lease_ms)

    def give_back(self, taken: TakenSlice, error: str = "") -> bool:
        """Let others take the slice at once; return False when they could already.

        With an ``error`` this counts as one of the times after which the job fails; without one nothing was tried.
        """
        return self._lease(taken, 0, error[:1000], counts=bool(error))

    def finish(self, taken: TakenSlice, result: str) -> bool:
        """Store the result of a slice, or nothing if its lease was lost; return whether another stage begins."""
        return self._finish_slice(taken, result, [""])

    def finish_plan(self, taken: TakenSlice, stages: Sequence[Sequence[PlannedSlice]]) -> bool:
        """Store the slices of a job, or nothing if the lease of the plan was lost; return whether a stage begins."""
        slices = [each for stage in stages for each in stage]
        ends = sorted(set(accumulate(map(len, stages), initial=1)))
        packed = [_pack([each.units, each.place, each.content]) for each in slices]
        planned = [" ".join(map(str, ends)), sum(each.units for each in slices), *packed]
        return self._finish_slice(taken, "", planned)

    def cancel(self, job: FleetJob) -> bool:
        """End ``job``; return False when it has ended already. A slice that is being done is not stored."""
        return self._stop(job, JobState.CANCELLED, "")

    def results(self, job_id: str, after: int = 0) -> Iterator[tuple[int, bytes]]:
        """Yield numbers and results of the slices after number ``after``, in order, up to the first without one."""
        while True:
            numbers = range(after + 1, after + 1 + RESULTS_PER_PAGE)
            found = self._client.hmget(self._keys.results(job_id), [str(number) for number in numbers])
            for number, result in zip(numbers, found, strict=True):
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
        """Return those of the jobs that there are. One round trip."""
        with self._client.pipeline(transaction=False) as pipeline:
            for job_id in job_ids:
                pipeline.hgetall(self._keys.job(job_id))
            found = pipeline.execute()
        jobs = map(_read_job, job_ids, found)
        return {job.id: job for job in jobs if job is not None}

    def _finish_slice(self, taken: TakenSlice, result: str, planned: Sequence[Any]) -> bool:
        places = [*self._places(taken.job), self._keys.running]
        name = _name(taken.kind, _pack(taken.parameters))
        return bool(self._finish(places, [taken.number, taken.owner, result, name, KEPT_S, *planned]) == 2)

    def _stop(self, job: FleetJob, state: JobState, reason: str) -> bool:
        places = [*self._places(job.id), self._keys.running]
        return bool(self._end(places, [state, reason, _name(job.kind, _pack(job.parameters)), KEPT_S]))

    def _lease(self, taken: TakenSlice, lease_ms: int, error: str = "", counts: bool = True) -> bool:
        places = [self._keys.leases(taken.job), self._keys.takes(taken.job)]
        return bool(self._keep(places, [taken.number, taken.owner, lease_ms, error, 0 if counts else 1]))

    def _places(self, job_id: str) -> list[str]:
        keys = self._keys
        return [each(job_id) for each in (keys.job, keys.leases, keys.takes, keys.slices, keys.results)]

    def _now(self) -> int:
        """Return the present instant by the store's clock: leases and reports come from many machines."""
        seconds, microseconds = self._client.server_of(self._keys.workers).time()
        return int(seconds) * 1000 + int(microseconds) // 1000


def _read_job(job_id: str, found: Mapping[bytes, bytes]) -> FleetJob | None:
    if b"state" not in found:
        return None
    values = {name.decode(): value.decode() for name, value in found.items()}
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
    return f"the workers were killed {MAX_TAKES} times in a row at {place}: is there enough memory?"


def _name(kind: str, parameters: str) -> str:
    return f"{kind} {parameters}"


def _pack(content: Any) -> str:
    return json.dumps(content, separators=(",", ":"), sort_keys=True)
