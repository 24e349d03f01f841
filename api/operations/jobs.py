"""Long work that a worker does: bundles, recomputed answers of opponents, archives of personal data."""

from api.access.auth import current_person
from api.access.limits import address, spend
from api.http.problems import Problem
from api.services import services
from domain.match.state import OPPONENT_PREFIX
from domain.search import ENGINE_VERSION
from events.people.person import Person
from events.proof.bundle import basis_of_bundle
from events.service.jobs import BUNDLE, RECOMPUTATION, basis_of_answer
from events.service.personal_data import takes_long
from events.store.envelope import Envelope

NONE = "none"


ASKED = "asked"


FINISHED = "finished"


ANSWERS = ("move-submitted", "draw-accepted", "draw-declined")
"""Types of events by which an opponent may have answered."""


def ask_to_recompute(match: str, version: int) -> None:
    """Let a worker compute the answer of an opponent again, unless that was done.

    Raises the problems nothing-to-compute, too-many-requests and job-running.
    """
    if recomputed(computable(match, version)) is None:
        _ask(match, RECOMPUTATION, version)


def ask_for_bundle(match: str) -> str:
    """Let a worker make the bundle of ``match``, unless that was done; return "asked" or "finished".

    Raises the problems too-many-requests and job-running.
    """
    if made_bundle(match) is not None:
        return FINISHED
    _ask(match, BUNDLE)
    return ASKED


def _ask(match: str, kind: str, version: int = 0) -> None:
    person = current_person()
    spend("jobs", person.id if person else address())
    if not services().jobs.request(match, kind, version):
        raise Problem("job-running", "A worker is busy with another job of this match: ask again when it is done.")


def computable(match: str, version: int) -> Envelope:
    """Return the event if it is an answer of an opponent with the present engine; else raises nothing-to-compute."""
    found = services().store.read(match, version - 1, 1) if version else []
    if not found or not is_computable(found[0]):
        raise Problem("nothing-to-compute", "This event is no answer of an opponent that the present engine gave.")
    return found[0]


def is_computable(event: Envelope) -> bool:
    """Tell whether the event is an answer of an opponent that the present engine gave."""
    by_opponent = event.type in ANSWERS and event.actor.startswith(OPPONENT_PREFIX)
    return by_opponent and event.data.get("engine") == str(ENGINE_VERSION)


def recomputed(event: Envelope) -> str | None:
    """Return what differs when the answer is computed again ("": nothing); None as long as that was not done."""
    found = services().jobs.result(event.stream, RECOMPUTATION, basis_of_answer(event.id))
    return None if found is None else found.decode()


def made_bundle(match: str) -> bytes | None:
    """Return the bundle of the match as it stands, if it was made before; None otherwise."""
    head = services().matches.load(match).head
    key, inclusion = services().keys.signing(), services().checkpoints.inclusion(match)
    return services().jobs.result(match, BUNDLE, basis_of_bundle(head.digest.hex(), key, inclusion))


AT_ONCE = "at-once"


def state_of_archive(person: Person) -> str:
    """Return AT_ONCE when a request can make the archive of ``person``, else "none", "asked" or "finished"."""
    jobs = services().jobs
    if jobs.pending(person.id) is not None:
        return ASKED
    if jobs.archive(person.id) is not None:
        return FINISHED
    return NONE if takes_long(services().personal_data, person) else AT_ONCE


MAX_EVENTS_AT_ONCE = 250
"""Of a match that is replayed within a request; a worker replays longer ones."""
