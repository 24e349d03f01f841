"""Long work about a match, which a worker does: asked for with POST, its result read afterwards."""

from typing import Any

from flask import Response
from marshmallow import fields, validate

from api.access.matches import visible_match
from api.http.messages import LARGEST_NUMBER
from api.http.openapi import PREFIX, Blueprint, json_response
from api.http.schemas import Empty, Shown, Strict, Whole
from api.operations.jobs import ASKED, FINISHED, NONE, ask_for_bundle, ask_to_recompute, computable, recomputed
from api.services import services
from events.service.jobs import RECOMPUTATION

MAX_DIGITS = 9
"""Of a version in an address."""


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
    visible_match(match)
    version = arguments["version"]
    ask_to_recompute(match, version)
    return json_response(_shown(match, version), 202)


@blueprint.route("/matches/<match>/recomputations/<version>")
@blueprint.documents(200, RecomputationShown, problems=[404, 422])
def show_recomputation(match: str, version: str) -> Response:
    """Whether an answer of an opponent has been computed again, and what came of it"""
    visible_match(match)
    number = int(version) if version.isascii() and version.isdigit() and len(version) <= MAX_DIGITS else 0
    return json_response(_shown(match, number))


@blueprint.route("/matches/<match>/bundle", methods=["POST"])
@blueprint.documents(202, JobShown, problems=[404, 409, 415, 422])
@blueprint.arguments(Empty)
def ask_bundle(_: dict[str, Any], match: str) -> Response:
    """Have a worker make the bundle of a match that is too long for the server to make it at once"""
    visible_match(match)
    return json_response({"state": ask_for_bundle(match)}, 202)


def _shown(match: str, version: int) -> dict[str, Any]:
    differs = recomputed(computable(match, version))
    job = services().jobs.pending(match)
    asked = job is not None and job[:2] == (RECOMPUTATION, version)
    state = FINISHED if differs is not None else ASKED if asked else NONE
    return {"version": version, "state": state, "differs": differs or None}
