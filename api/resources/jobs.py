"""Long work about a match, which a worker does: asked for with POST, its result read afterwards."""

from collections.abc import Mapping
from typing import Annotated

from flask import Blueprint
from msgspec import Meta

from api.access.matches import visible_match
from api.addresses import PREFIX
from api.endpoints import endpoint
from api.http.answers import Answer
from api.http.schemas import MAX_NUMBER, EmptyBody, StrictInteger, StrictSchema
from api.operations.jobs import (
    Job,
    JobState,
    JobStateField,
    recomputable_event,
    recomputation_of,
    request_bundle,
    request_recomputation,
)
from api.services import services
from events.service.jobs import RECOMPUTATION

blueprint = Blueprint("jobs", __name__, url_prefix=PREFIX)

MAX_VERSION_DIGITS = 9
"""In an address."""


class RecomputationRequest(StrictSchema):
    version = StrictInteger(
        1, MAX_NUMBER, required=True, about="The event by which an opponent moved or answered a draw offer"
    )


class Recomputation(Answer):
    version: int
    state: JobStateField
    differs: Annotated[str | None, Meta(description="What the engine gives instead; null: the same, or not finished")]


@blueprint.post("/matches/<match_id>/recomputations")
@endpoint(202, answer=Recomputation, body=RecomputationRequest, costly=True, problems=[404, 409])
def ask_recomputation(sent: Mapping[str, int], match_id: str) -> Recomputation:
    """Request a recomputation

    A worker computes an answer of an opponent again. Read the recomputation for its result.
    """
    visible_match(match_id)
    request_recomputation(match_id, sent["version"])
    return _represent(match_id, sent["version"])


@blueprint.get("/matches/<match_id>/recomputations/<version>")
@endpoint(answer=Recomputation, problems=[404, 422])
def show_recomputation(match_id: str, version: str) -> Recomputation:
    """Show a recomputation

    Whether an answer of an opponent has been computed again, and with which result.
    """
    visible_match(match_id)
    valid = version.isascii() and version.isdigit() and len(version) <= MAX_VERSION_DIGITS
    return _represent(match_id, int(version) if valid else 0)


@blueprint.post("/matches/<match_id>/bundle")
@endpoint(202, answer=Job, body=EmptyBody, costly=True, problems=[404, 409])
def ask_bundle(_: object, match_id: str) -> Job:
    """Request a bundle

    For a match that is too long for the server to make its bundle at once: a worker makes it.
    """
    visible_match(match_id)
    return Job(state=request_bundle(match_id))


def _represent(match_id: str, version: int) -> Recomputation:
    differs = recomputation_of(recomputable_event(match_id, version))
    job = services().jobs.pending(match_id)
    asked = job is not None and job[:2] == (RECOMPUTATION, version)
    state = JobState.FINISHED if differs is not None else JobState.ASKED if asked else JobState.NONE
    return Recomputation(version=version, state=state, differs=differs or None)
