"""What is kept about the caller: all of it as one archive, and its erasure."""

from flask import Response
from marshmallow import fields, validate

from api.auth import end_session, require_person, session_only, signed_in
from api.limits import spend
from api.openapi import PREFIX, Blueprint, json_response
from api.problems import Problem
from api.schemas import Shown, Strict, Text
from api.services import services
from events.personal import archive_of, erase
from events.rewriting import FILES, NONE, NOT_PERMITTED, TO_BE_REWRITTEN

blueprint = Blueprint("personal", __name__, url_prefix=PREFIX, description="What is kept about you")

ZIP = "application/zip"


FORGOTTEN = {
    TO_BE_REWRITTEN: (
        "You are forgotten. The files of the store, in which what was erased still stands, are rewritten without it, "
        "normally within a quarter of an hour."
    ),
    NOT_PERMITTED: (
        "You are forgotten. The file of the store still holds what was erased, for it cannot be told to rewrite it: "
        "that is gone when the store or its operator rewrites the file."
    ),
    NONE: "You are forgotten. The store keeps no file of what was written before.",
}
"""What somebody is told who has been erased."""


class ErasedShown(Shown):
    files = fields.String(
        validate=validate.OneOf(FILES),
        metadata={"description": "What becomes of the files of the store, in which erased text stands until then"},
    )
    detail = fields.String()


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
@blueprint.documents(200, ErasedShown, signed_in=True, problems=[415, 422])
@signed_in
@session_only
@blueprint.arguments(Erasure)
def erase_me(arguments: dict[str, str]) -> Response:
    """Resign your matches and forget all that is kept about you; what was played stays, by somebody who left

    Moves, results, instants and pauses of clocks stay, under an id that names nobody, and so do texts in bundles that
    were made before reasons of rulings could be erased.
    """
    person = require_person()
    if arguments["name"] != person.name:
        reason = "must be your own name, letter for letter"
        raise Problem("invalid-fields", f"The name {reason}.", {"name": [reason]})
    files = erase(services().holdings, person)
    return end_session(json_response({"files": files, "detail": FORGOTTEN[files]}))
