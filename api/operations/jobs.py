"""Long work that a worker does: bundles, recomputed answers of opponents, archives of personal data."""

import hashlib
from enum import StrEnum
from typing import Annotated

from api.access.auth import current_person
from api.access.limits import address, rate_limits, spend
from api.http.answers import Answer, one_of
from api.http.problems import Problem
from api.services import services
from domain.match.state import OPPONENT_PREFIX
from domain.search import ENGINE_VERSION, LEVELS
from domain.search.budgets import MAX_SHORT_LEVEL
from events.matches.animations import AnimationQuery
from events.matches.jobs import ANIMATION, BUNDLE, NODES_PER_EVENT, NODES_PER_FRAME, RECOMPUTATION, basis_of_answer
from events.operations.personal_data import takes_long
from events.people.person import GUEST, Person
from events.proof.bundle import BundleContent, BundledHead, basis_of_content
from events.store.converter import Digest, pack
from events.store.envelope import Envelope

MAX_EVENTS_AT_ONCE = 500
"""The longest match that is replayed within a request; a worker replays longer ones."""

ADDRESS_SHARE = 4
"""All people at an address, which may be a school's, may have this many times the jobs of one of them."""


ANSWERS = ("move-submitted", "draw-accepted", "draw-declined")
"""Types of events by which an opponent may have answered."""


class JobStatus(StrEnum):
    """How far a job has come: NONE when it was not asked for, or when its result is no longer stored."""

    NONE = "none"
    ASKED = "asked"
    FINISHED = "finished"


JobStateField = Annotated[
    str, one_of(JobStatus, "none: it was not asked for, or its result was kept for a day and is gone")
]


class Job(Answer):
    state: JobStateField


def request_recomputation(match_id: str, version: int) -> None:
    """Have a worker compute the answer of an opponent again, unless that has been done.

    Raises the problems not-recomputable, too-many-requests and job-running.
    """
    event = recomputable_event(match_id, version)
    if recomputation_of(event) is None:
        _request(match_id, RECOMPUTATION, version, _nodes_of(event) + version * NODES_PER_EVENT)


def request_bundle(match_id: str) -> JobStatus:
    """Have a worker make the bundle of the match, unless that has been done.

    Raises the problems too-many-requests and job-running.
    """
    if stored_content(match_id) is not None:
        return JobStatus.FINISHED
    _request(match_id, BUNDLE, 0, services().matches.load(match_id).head.version * NODES_PER_EVENT)
    return JobStatus.ASKED


def recomputable_event(match_id: str, version: int) -> Envelope:
    """Return the event at ``version``; raises the problem not-recomputable unless ``is_recomputable``."""
    entries = services().store.read(match_id, version - 1, 1) if version else []
    if not entries or not is_recomputable(entries[0]):
        detail = "This event is not an answer of an opponent with the present engine"
        raise Problem(
            "not-recomputable", f"{detail}, or its search took minutes: `rookery audit` computes those again."
        )
    return entries[0]


def is_recomputable(event: Envelope) -> bool:
    """Return whether the event is an answer of an opponent with the present engine, after a short search."""
    by_opponent = event.type in ANSWERS and event.actor.startswith(OPPONENT_PREFIX)
    is_short = _nodes_of(event) <= LEVELS[MAX_SHORT_LEVEL].nodes
    return by_opponent and is_short and event.data.get("engine") == str(ENGINE_VERSION)


def _nodes_of(answer: Envelope) -> int:
    """Return the nodes that the search of an opponent's answer might visit, 0 where they are not recorded."""
    return int(answer.data.get("nodes") or 0)


def recomputation_of(event: Envelope) -> str | None:
    """Return the different answer of a recomputation ("": the same); None unless it has been done."""
    result = services().jobs.result(event.stream, RECOMPUTATION, basis_of_answer(event.id))
    return None if result is None else result.decode()


def stored_content(match_id: str, *, positions: bool = False) -> tuple[BundleContent, int] | None:
    """Return the verdict on the bundle of the match as it stands, and its instant; None while there is none."""
    loaded = services().matches.load(match_id)
    head = BundledHead(loaded.head.version, Digest(loaded.head.digest.hex()))
    content = services().jobs.bundle_content(match_id, basis_of_content(head.digest, positions=positions))
    return None if content is None else (BundleContent(match_id, head, loaded.state.updated_at, content[0]), content[1])


def archive_state(person: Person) -> JobStatus | None:
    """Return how far the archive of ``person`` has come; None when a request can make it at once."""
    jobs = services().jobs
    if jobs.pending(person.id) is not None:
        return JobStatus.ASKED
    if jobs.archive(person.id) is not None:
        return JobStatus.FINISHED
    return JobStatus.NONE if takes_long(services(), person) else None


def request_animation(match_id: str, query: AnimationQuery) -> JobStatus:
    """Have a worker make an animated picture, unless that has been done.

    Raises the problems too-many-requests and job-running.
    """
    if services().jobs.result(match_id, ANIMATION, query.basis) is not None:
        return JobStatus.FINISHED
    job, detail = services().jobs.pending(match_id), pack(query).decode()
    if job is None or (job.kind, job.detail) != (ANIMATION, detail):
        frames = query.last - query.first + 1
        _request(match_id, ANIMATION, 0, frames * NODES_PER_FRAME, detail)
    return JobStatus.ASKED


def _request(match_id: str, kind: str, version: int, cost: int, detail: str = "") -> None:
    """Request a job of ``cost`` nodes: guests, of whom anybody can be many, count by their address."""
    person = current_person()
    if person is None or person.kind == GUEST:
        requester = hashlib.sha256(address().encode()).hexdigest()[:16]
    else:
        requester = person.id
    spend("jobs", requester, cost=cost)
    rate_limits().spend("jobs", "all", address(), cost=cost, share=ADDRESS_SHARE)
    if not services().jobs.request(match_id, kind, version, detail, requester=requester, cost=cost):
        raise Problem("job-running", "A worker is busy with another job of this match: ask again when it is done.")
