"""Long work about matches and people that was requested (``events.service.jobs``)."""

from collections.abc import Callable
from itertools import islice

from events.proof.audit import audit
from events.proof.bundle import basis_of_content, instant_of_reading, make_contents
from events.service.jobs import ARCHIVE, BUNDLE, RECOMPUTATION, Jobs, basis_of_answer
from events.service.personal_archive import make_archive
from events.service.personal_data import PersonalDataStores
from events.store.contract import EventStore

MAX_JOBS_PER_ROUND = 100
ENQUEUE_AGAIN_MS = 60_000


class JobRound:
    """Enqueues every job that waits, again after a minute: the broker may lose a task.

    ``enqueue`` enqueues the task for the job of a match, ``now`` returns milliseconds since 1970 UTC.
    """

    def __init__(self, jobs: Jobs, enqueue: Callable[[str], None], now: Callable[[], int]) -> None:
        self._jobs = jobs
        self._enqueue = enqueue
        self._now = now
        self._enqueued: dict[tuple[str, int], int] = {}

    def __call__(self) -> int:
        """Enqueue what has not been enqueued recently; return how many tasks that were."""
        now = self._now()
        waiting = self._jobs.waiting(MAX_JOBS_PER_ROUND)
        self._enqueued = {job: self._enqueued[job] for job in waiting if job in self._enqueued}
        found = [job for job in waiting if now - self._enqueued.get(job, 0) >= ENQUEUE_AGAIN_MS]
        for job in found:
            self._enqueue(job[0])
            self._enqueued[job] = now
        return len(found)


def do_job(stores: PersonalDataStores, subject: str) -> str | None:
    """Do the job of the match or person ``subject``; return its kind, None when there is none.

    Crash-safe: the job is forgotten after its result is stored, and repeated it gives the same result. Raises
    ClockMismatchError, and leaves the job to others, when this process's clock is wrong.
    """
    jobs, store = stores.jobs, stores.store
    store.check_clock()
    job = jobs.pending(subject)
    if job is None:
        return None
    try:
        if job.kind == BUNDLE:
            _make_bundle(jobs, store, subject)
        elif job.kind == RECOMPUTATION:
            _recompute(jobs, store, subject, job.version)
        elif job.kind == ARCHIVE:
            _make_archive(stores, subject)
    finally:
        jobs.finish(subject)
    return job.kind


def _make_bundle(jobs: Jobs, store: EventStore, match_id: str) -> None:
    asked, events = jobs.now(), store.read(match_id)
    if events:
        for content, positions in zip(make_contents(match_id, events), (False, True), strict=True):
            basis = basis_of_content(content.head.digest, positions=positions)
            at = instant_of_reading(content.at, asked, jobs.now())
            jobs.store_bundle_content(match_id, basis, content.packed, at)


def _recompute(jobs: Jobs, store: EventStore, match_id: str, version: int) -> None:
    records = audit(match_id, store.read(match_id, 0, version))
    record = next(islice(records, version - 1, None), None)
    if record is not None and record.answer is not None and record.answer.computable:
        differing = record.answer.recompute() or ""
        jobs.store_result(match_id, RECOMPUTATION, basis_of_answer(record.envelope.id), differing.encode())


def _make_archive(stores: PersonalDataStores, person_id: str) -> None:
    person = stores.people.person(person_id)
    if person is None:
        return
    stores.jobs.store_archive(person_id, make_archive(stores, person))
    # Crash-safe: a person who was erased meanwhile is erased once more by a relay, with what was stored here.
    if stores.people.person(person_id) is None:
        stores.jobs.erase(person_id)
