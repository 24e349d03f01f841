"""What is kept about the caller: all of it as one archive, and its erasure."""

from flask import Response
from marshmallow import validate

from api.auth import end_session, require_person, session_only, signed_in
from api.limits import spend
from api.openapi import PREFIX, Blueprint
from api.problems import Problem
from api.schemas import Strict, Text
from api.services import services
from events.personal import archive_of, erase

blueprint = Blueprint("personal", __name__, url_prefix=PREFIX, description="What is kept about you")

ZIP = "application/zip"


class Erasure(Strict):
    name = Text(
        required=True,
        validate=validate.Length(1, 60),
        metadata={"description": "Your own name once more, so that nobody is erased by mistake"},
    )


@blueprint.route("/me/archive")
@blueprint.documents(200, {"type": "string", "format": "binary"}, signed_in=True, content_type=ZIP)
@signed_in
@session_only
def my_archive() -> Response:
    """All that is kept about you, as one ZIP archive"""
    person = require_person()
    spend("archives", person.id)
    headers = {
        "Content-Disposition": f'attachment; filename="rookery-{person.id}.zip"',
        "Cache-Control": "private, no-store",
    }
    return Response(archive_of(services().holdings, person), headers=headers, content_type=ZIP)


@blueprint.route("/me/erasure", methods=["POST"])
@blueprint.documents(204, signed_in=True, problems=[415, 422])
@signed_in
@session_only
@blueprint.arguments(Erasure)
def erase_me(arguments: dict[str, str]) -> Response:
    """Resign your matches and forget all that is kept about you; what was played stays, by somebody who left"""
    person = require_person()
    if arguments["name"] != person.name:
        reason = "must be your own name, letter for letter"
        raise Problem("invalid-fields", f"The name {reason}.", {"name": [reason]})
    erase(services().holdings, person)
    return end_session(Response(status=204))
