"""What is kept about the caller: all of it as one archive, and its erasure."""

from flask import Response
from marshmallow import fields, validate

from api.access.auth import end_session, gone, require_person, session_only, signed_in
from api.access.limits import spend
from api.http.openapi import PREFIX, Blueprint, json_response
from api.http.problems import Problem
from api.http.schemas import Empty, Shown, Strict, Text
from api.operations.jobs import ASKED, FINISHED, NONE, state_of_archive
from api.resources.jobs import JobShown
from api.services import services
from events.people.person import UnknownPersonError
from events.service.jobs import ARCHIVE
from events.service.personal_archive import make_archive
from events.service.personal_data import erase
from events.store import rewriting

blueprint = Blueprint("personal", __name__, url_prefix=PREFIX, description="What is kept about you")

ZIP = "application/zip"


FORGOTTEN = {
    rewriting.TO_BE_REWRITTEN: (
        "You are forgotten. The files of the store, in which what was erased still stands, are rewritten without it, "
        "normally within a quarter of an hour."
    ),
    rewriting.NOT_PERMITTED: (
        "You are forgotten. The file of the store still holds what was erased, as the store does not permit a rewrite: "
        "that is gone when the store or its operator rewrites the file."
    ),
    rewriting.NONE: "You are forgotten. The store keeps no file of what was written before.",
}
"""The answer to an erasure, by what becomes of the files."""

DEFERRED = (
    "Your account is gone. To leave your matches and to erase what you wrote in them takes longer than this request "
    "may: it is normally done within a quarter of an hour. "
)


class ErasedShown(Shown):
    files = fields.String(
        validate=validate.OneOf(rewriting.FILES),
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
@blueprint.documents(200, {"type": "string", "format": "binary"}, signed_in=True, problems=[409], content_type=ZIP)
@signed_in
@session_only
def my_archive() -> Response:
    """All that is kept about you, as one ZIP archive

    One that takes long is made by a worker: ask for it with POST. It is kept for an hour.
    """
    person = require_person()
    state = state_of_archive(person)
    if state in (NONE, ASKED):
        detail = "The archive takes a while to make: ask for it (POST), and a worker makes it within a minute or so."
        raise Problem("not-made-yet", detail)
    spend("archives", person.id)
    packed = services().jobs.archive(person.id) if state == FINISHED else make_archive(services().personal_data, person)
    headers = {
        "Content-Disposition": f'attachment; filename="rookery-{person.id}.zip"',
        "Cache-Control": "private, no-store",
    }
    return Response(packed, headers=headers, content_type=ZIP)


@blueprint.route("/me/archive", methods=["POST"])
@blueprint.documents(202, JobShown, signed_in=True, problems=[409, 415, 422])
@signed_in
@session_only
@blueprint.arguments(Empty)
def ask_archive(_: dict[str, object]) -> Response:
    """Have a worker make the archive of what is kept about you, as it stands now"""
    person = require_person()
    spend("archives", person.id)
    services().jobs.erase(person.id)
    services().jobs.request(person.id, ARCHIVE)
    return json_response({"state": ASKED}, 202)


@blueprint.route("/me/erasure", methods=["POST"])
@blueprint.documents(200, ErasedShown, signed_in=True, problems=[415, 422])
@signed_in
@session_only
@blueprint.arguments(Erasure)
def erase_me(arguments: dict[str, str]) -> Response:
    """Resign your matches and forget all that is kept about you; what was played stays, by somebody who left

    Moves, results, instants and pauses of clocks stay, under an id that belongs to no account, and so do texts in
    bundles that were made before reasons of rulings could be erased.
    """
    person = require_person()
    if arguments["name"] != person.name:
        reason = "must be your own name, letter for letter"
        raise Problem("invalid-fields", f"The name {reason}.", {"name": [reason]})
    try:
        files, deferred = erase(services().personal_data, person)
    except UnknownPersonError as error:
        raise gone() from error
    detail = f"{DEFERRED if deferred else ''}{FORGOTTEN[files]}"
    return end_session(json_response({"files": files, "detail": detail}))
