"""Long work about matches and people that was asked for (``events.service.jobs``)."""

from collections.abc import Callable
from itertools import islice

from events.proof.audit import audit
from events.proof.bundle import basis_of_bundle, make_bundle
from events.proof.checkpoint_log import CheckpointLog
from events.proof.keys import KeyRing
from events.service.jobs import ARCHIVE, BUNDLE, RECOMPUTATION, Jobs, basis_of_answer
from events.service.personal_data import PersonalDataStores, archive_of
from events.store.contract import EventStore

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


def do_job(stores: PersonalDataStores, keys: KeyRing, checkpoints: CheckpointLog, of: str, now: int) -> str | None:
    """Do the job of the match or person ``of`` at ``now`` (milliseconds since 1970 UTC).

    Returns its kind, None when there is none.

    Crash-safe: the job is forgotten after its result is kept, and done twice it gives the same result. Raises
    ClockDiffers, and leaves the job to others, when this process's clock is wrong: what is signed says when.
    """
    jobs, store = stores.jobs, stores.store
    store.check_clock()
    job = jobs.of(of)
    if job is None:
        return None
    try:
        if job.kind == BUNDLE:
            _make_bundle(jobs, store, keys, checkpoints, of, now)
        elif job.kind == RECOMPUTATION:
            _recompute(jobs, store, of, job.version)
        elif job.kind == ARCHIVE:
            _make_archive(stores, of)
    finally:
        jobs.finish(of)
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


def _make_archive(stores: PersonalDataStores, id: str) -> None:
    person = stores.people.person(id)
    if person is None:
        return
    stores.jobs.keep_archive(id, archive_of(stores, person))
    # Crash-safe: a person who was erased meanwhile is erased once more by a relay, with what was kept here.
    if stores.people.person(id) is None:
        stores.jobs.erase(id)
