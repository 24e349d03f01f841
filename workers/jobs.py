"""Long work about matches and people that was requested (``events.service.jobs``)."""

from itertools import islice

from events.proof.audit import audit
from events.proof.bundle import basis_of_content, instant_of_reading, make_contents
from events.service.jobs import ARCHIVE, BUNDLE, RECOMPUTATION, Job, Jobs, basis_of_answer
from events.service.personal_archive import make_archive
from events.service.personal_data import PersonalDataStores
from events.store.contract import EventStore


def do_job(stores: PersonalDataStores, subject: str, job: Job) -> None:
    """Do ``job`` of the match or person ``subject``. Crash-safe: its result, always the same, is stored first."""
    jobs, store = stores.jobs, stores.store
    if job.kind == BUNDLE:
        _make_bundle(jobs, store, subject)
    elif job.kind == RECOMPUTATION:
        _recompute(jobs, store, subject, job.version)
    elif job.kind == ARCHIVE:
        _make_archive(stores, subject)


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
