"""Long work about matches that somebody has asked for (``events.jobs``)."""

from collections.abc import Callable
from itertools import islice

from events.jobs import BUNDLE, RECOMPUTATION, Jobs, basis_of_answer
from events.proof.audit import audit
from events.proof.bundle import basis_of_bundle, make_bundle
from events.proof.checkpoint_log import CheckpointLog
from events.proof.keys import KeyRing
from events.store import EventStore

MAX_ASKED_AT_ONCE = 100
ASKED_AGAIN_MS = 60_000


class JobRound:
    """Has every job that waits enqueued, again after a minute: the broker may lose a task.

    ``ask`` enqueues the task for the job of a match, ``now`` returns milliseconds since 1970 UTC.
    """

    def __init__(self, jobs: Jobs, ask: Callable[[str], None], now: Callable[[], int]) -> None:
        self._jobs = jobs
        self._ask = ask
        self._now = now
        self._asked: dict[tuple[str, int], int] = {}

    def __call__(self) -> int:
        """Enqueue what has not been enqueued lately; return how many tasks that were."""
        now = self._now()
        waiting = self._jobs.waiting(MAX_ASKED_AT_ONCE)
        self._asked = {job: self._asked[job] for job in waiting if job in self._asked}
        found = [job for job in waiting if now - self._asked.get(job, 0) >= ASKED_AGAIN_MS]
        for job in found:
            self._ask(job[0])
            self._asked[job] = now
        return len(found)


def do_job(
    jobs: Jobs, store: EventStore, keys: KeyRing, checkpoints: CheckpointLog, match: str, now: int
) -> str | None:
    """Do the job of ``match`` at ``now`` (milliseconds since 1970 UTC); return its kind, None when there is none.

    Crash-safe: the job is forgotten after its result is kept, and done twice it gives the same result. Raises
    ClockDiffers, and leaves the job to others, when this process's clock is wrong: what is signed says when.
    """
    store.check_clock()
    job = jobs.of(match)
    if job is None:
        return None
    try:
        if job.kind == BUNDLE:
            _make_bundle(jobs, store, keys, checkpoints, match, now)
        elif job.kind == RECOMPUTATION:
            _recompute(jobs, store, match, job.version)
    finally:
        jobs.finish(match)
    return job.kind


def _make_bundle(
    jobs: Jobs, store: EventStore, keys: KeyRing, checkpoints: CheckpointLog, match: str, now: int
) -> None:
    events = store.read(match)
    if events:
        key, inclusion = keys.signing(), checkpoints.inclusion(match)
        packed = make_bundle(match, events, key, now, inclusion)
        jobs.keep(match, BUNDLE, basis_of_bundle(events[-1].id, key, inclusion), packed)


def _recompute(jobs: Jobs, store: EventStore, match: str, version: int) -> None:
    records = audit(match, store.read(match, 0, version))
    record = next(islice(records, version - 1, None), None)
    if record is not None and record.answer is not None and record.answer.computable:
        differing = record.answer.recompute() or ""
        jobs.keep(match, RECOMPUTATION, basis_of_answer(record.envelope.id), differing.encode())
