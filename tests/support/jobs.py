"""Jobs done as a worker does them."""

from events.installation import Installation
from events.matches.jobs import Job
from events.store.converter import unpack
from workers.tasks import make_job_worker


def do_next_job(parts: Installation) -> tuple[str, str]:
    claim = parts.jobs.work.claim()
    assert claim is not None
    job = unpack(Job, claim.content)
    make_job_worker(parts).do(claim.id, job)
    assert parts.jobs.work.finish(claim)
    return claim.id, job.kind
