"""The caller's personal data: all of it as one archive, and its erasure."""

from collections.abc import Mapping
from typing import Annotated

from flask import Blueprint, Response

from api.access.auth import account_gone, end_session, require_person
from api.access.limits import spend
from api.addresses import PREFIX
from api.endpoints import endpoint
from api.http.answers import Answer, json_response, one_of
from api.http.problems import Problem
from api.http.schemas import EmptyBody, StrictSchema, StrictString
from api.operations.jobs import Job, JobStatus, archive_state
from api.services import services
from events.matches.jobs import ARCHIVE
from events.operations.personal_archive import make_archive
from events.operations.personal_data import erase
from events.people.person import UnknownPersonError
from events.store import rewriting

blueprint = Blueprint("personal", __name__, url_prefix=PREFIX)

ZIP = "application/zip"
ARCHIVE_COST = 10_000
"""The cost of an archive beside other long work, in nodes of a search."""

ERASED = {
    rewriting.TO_BE_REWRITTEN: (
        "Your data is erased. The files of the store, in which it is still contained, are rewritten without it, "
        "normally within a quarter of an hour."
    ),
    rewriting.NOT_PERMITTED: (
        "Your data is erased. The file of the store still contains it, because the store does not permit a rewrite: it "
        "is gone when the store or its operator rewrites the file."
    ),
    rewriting.NONE: "Your data is erased. The store keeps no file of what was written before.",
}
"""The answer to an erasure, by the fate of the files."""

DEFERRED = (
    "Your account is gone. To leave your matches and to erase what you wrote in them takes longer than this request "
    "may: it is normally done within a quarter of an hour. "
)


class Erasure(Answer):
    files: Annotated[
        str, one_of(rewriting.FILES, "What becomes of the files of the store, which contain erased text until then")
    ]
    detail: str


class ErasureRequest(StrictSchema):
    name = StrictString(1, 60, required=True, about="Your own name once more, so that nobody is erased by mistake")


@blueprint.get("/me/archive")
@endpoint(
    content={"type": "string", "format": "binary"}, content_type=ZIP, signed_in=True, session_only=True, problems=[409]
)
def download_archive() -> Response:
    """All that is stored about you, as one ZIP archive

    One that takes long is made by a worker: ask for it with POST. It is kept for an hour.
    """
    person = require_person()
    state = archive_state(person)
    if state in (JobStatus.NONE, JobStatus.ASKED):
        detail = "The archive takes a while to make: ask for it (POST), and a worker makes it within a minute or so."
        raise Problem("not-ready", detail)
    spend("archives", person.id)
    packed = services().jobs.archive(person.id) if state else make_archive(services(), person)
    headers = {
        "Content-Disposition": f'attachment; filename="rookery-{person.id}.zip"',
        "Cache-Control": "private, no-store",
    }
    return Response(packed, headers=headers, content_type=ZIP)


@blueprint.post("/me/archive")
@endpoint(202, answer=Job, body=EmptyBody, signed_in=True, session_only=True, problems=[409])
def ask_archive(_: object) -> Job:
    """Request the caller's archive

    A worker makes it of all that is stored about the caller as of now.
    """
    person = require_person()
    spend("archives", person.id)
    services().jobs.erase(person.id)
    services().jobs.request(person.id, ARCHIVE, requester=person.id, cost=ARCHIVE_COST)
    return Job(state=JobStatus.ASKED)


@blueprint.post("/me/erasure")
@endpoint(answer=Erasure, body=ErasureRequest, signed_in=True, session_only=True)
def erase_account(sent: Mapping[str, str]) -> Response:
    """Resign your matches and erase all that is stored about you; what was played stays, by somebody who left

    Moves, results, instants and pauses of clocks stay, under an id that belongs to no account, and so do texts in
    bundles that were made before reasons of rulings could be erased.
    """
    person = require_person()
    if sent["name"] != person.name:
        reason = "must be your own name, letter for letter"
        raise Problem("invalid-fields", f"The name {reason}.", {"name": [reason]})
    try:
        files, deferred = erase(services(), person)
    except UnknownPersonError as error:
        raise account_gone() from error
    return end_session(json_response(Erasure(files=files, detail=f"{DEFERRED if deferred else ''}{ERASED[files]}")))
