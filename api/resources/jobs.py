"""Long work about a match, which a worker does: asked for with POST, its result read afterwards."""

from typing import Any

from flask import Response
from marshmallow import fields, validate

from api.access.auth import current_person
from api.access.limits import address, spend
from api.http.openapi import PREFIX, Blueprint, json_response
from api.http.problems import Problem
from api.http.schemas import LARGEST_NUMBER, Empty, Shown, Strict, Whole
from api.resources.matches import readable
from api.services import services
from domain.match.state import OPPONENT_PREFIX
from domain.search import ENGINE
from events.proof.bundle import basis_of_bundle
from events.service.jobs import BUNDLE, RECOMPUTATION, basis_of_answer
from events.store.envelope import Envelope

NONE = "none"
ASKED = "asked"
FINISHED = "finished"

MAX_DIGITS = 9
"""Of a version in an address."""

ANSWERS = ("move-submitted", "draw-accepted", "draw-declined")
"""Types of events by which an opponent may have answered."""

blueprint = Blueprint("jobs", __name__, url_prefix=PREFIX, description="Long work about a match, done by a worker")

STATE = fields.String(
    validate=validate.OneOf([NONE, ASKED, FINISHED]),
    metadata={"description": "none: it was not asked for, or its result was kept for a day and is gone"},
)


class RecomputationWanted(Strict):
    version = Whole(
        required=True,
        validate=validate.Range(1, LARGEST_NUMBER),
        metadata={"description": "The event by which an opponent moved or answered a draw offer"},
    )


class RecomputationShown(Shown):
    version = fields.Integer()
    state = STATE
    differs = fields.String(
        allow_none=True, metadata={"description": "What the engine gives instead; null: the same, or not finished"}
    )


class JobShown(Shown):
    state = STATE


@blueprint.route("/matches/<match>/recomputations", methods=["POST"])
@blueprint.documents(202, RecomputationShown, problems=[404, 409, 415, 422])
@blueprint.arguments(RecomputationWanted)
def ask_recomputation(arguments: dict[str, Any], match: str) -> Response:
    """Have a worker compute an answer of an opponent again; look at the recomputation for its result"""
    readable(match)
    version = arguments["version"]
    ask_to_recompute(match, version)
    return json_response(_shown(match, version), 202)


@blueprint.route("/matches/<match>/recomputations/<version>")
@blueprint.documents(200, RecomputationShown, problems=[404, 422])
def show_recomputation(match: str, version: str) -> Response:
    """Whether an answer of an opponent has been computed again, and what came of it"""
    readable(match)
    number = int(version) if version.isascii() and version.isdigit() and len(version) <= MAX_DIGITS else 0
    return json_response(_shown(match, number))


@blueprint.route("/matches/<match>/bundle", methods=["POST"])
@blueprint.documents(202, JobShown, problems=[404, 409, 415, 422])
@blueprint.arguments(Empty)
def ask_bundle(_: dict[str, Any], match: str) -> Response:
    """Have a worker make the bundle of a match that is too long for the server to make it at once"""
    readable(match)
    return json_response({"state": ask_for_bundle(match)}, 202)


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
    if not services().jobs.ask(match, kind, version):
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
    return by_opponent and event.data.get("engine") == str(ENGINE)


def recomputed(event: Envelope) -> str | None:
    """Return what differs when the answer is computed again ("": nothing); None as long as that was not done."""
    found = services().jobs.result(event.stream, RECOMPUTATION, basis_of_answer(event.id))
    return None if found is None else found.decode()


def made_bundle(match: str) -> bytes | None:
    """Return the bundle of the match as it stands, if it was made before; None otherwise."""
    head = services().matches.load(match).head
    key, inclusion = services().keys.signing(), services().checkpoints.inclusion(match)
    return services().jobs.result(match, BUNDLE, basis_of_bundle(head.digest.hex(), key, inclusion))


def _shown(match: str, version: int) -> dict[str, Any]:
    differs = recomputed(computable(match, version))
    job = services().jobs.of(match)
    asked = job is not None and job[:2] == (RECOMPUTATION, version)
    state = FINISHED if differs is not None else ASKED if asked else NONE
    return {"version": version, "state": state, "differs": differs or None}
