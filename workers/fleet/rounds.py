"""Fleet jobs are requested again while they have slices that no worker has taken."""

from collections.abc import Callable
from typing import NamedTuple

from events.runtime.backoff import Backoff
from events.service.fleet_jobs import FleetJobs

DELAYS_MS = Backoff(10_000, 600_000)


class _Requested(NamedTuple):
    done: int
    times: int
    again_at: int


class FleetRound:
    """Enqueues a task for each job that waits: the broker may lose one, and all workers may have been killed.

    While a job makes progress that is every ten seconds; else less and less often, so that tasks do not pile up where
    no worker of the fleet runs. ``request`` enqueues, ``now`` returns milliseconds since 1970 UTC.
    """

    def __init__(self, jobs: FleetJobs, request: Callable[[str], None], now: Callable[[], int]) -> None:
        self._jobs = jobs
        self._request = request
        self._now = now
        self._requested: dict[str, _Requested] = {}

    def __call__(self) -> int:
        """Enqueue what has not been enqueued recently; return how many tasks that were."""
        now, running = self._now(), self._jobs.running()
        last = self._requested
        # A job that is new here was requested by the command that started it.
        begun = _Requested(-1, 0, now + int(DELAYS_MS.first))
        self._requested = {job.id: last.get(job.id, begun) for job in running}
        found = 0
        for job in running:
            known = self._requested[job.id]
            if now < known.again_at or not self._jobs.is_waiting(job):
                continue
            self._request(job.id)
            times = known.times + 1 if known.done == job.done else 1
            self._requested[job.id] = _Requested(job.done, times, now + int(DELAYS_MS.after(times)))
            found += 1
        return found
