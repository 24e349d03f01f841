"""Where the live streams are: a process of its own serves them, and the API redirects there."""

from urllib.parse import urlencode

from flask import Blueprint, Response, request

from api.access.auth import issue_ticket, own_origin
from api.access.headers import stream_origin
from api.access.matches import visible_match
from api.addresses import PREFIX
from api.endpoints import endpoint
from api.http.conditions import EXAMPLE_TAG
from api.http.problems import RETRY_AFTER_S, Problem
from api.services import services

blueprint = Blueprint("streams", __name__, url_prefix=PREFIX)

EVENT_STREAM = "text/event-stream"
LAST_EVENT_ID_PARAMETER = {
    "name": "Last-Event-ID",
    "in": "header",
    "description": "The id of the last message that was seen, such as "
    f"{EXAMPLE_TAG}: the stream goes on after it. EventSource sends it by itself; ?after= says the same",
    "schema": {"type": "string"},
}
EVENTS = {
    "type": "string",
    "description": "Server-sent events. Follow the redirection (307) each time: the address that it leads to has a "
    "ticket in the place of the session or token, good once and for a minute",
}
REDIRECTED = {"Location": "With 307: where the stream is served"}


@blueprint.get("/matches/<match_id>/stream")
@endpoint(
    content=EVENTS,
    content_type=EVENT_STREAM,
    problems=[404],
    headers=REDIRECTED,
    parameters=[LAST_EVENT_ID_PARAMETER],
    also=[307],
)
def stream_match(match_id: str) -> Response:
    """The events of a match as they happen, each with its version tag as id

    A message is one event, as GET /matches/{match}/events has it. The message "reset" says that what was seen last is
    no longer part of the match: read the match again, the stream goes on after the version_tag that it names. "chat"
    says that something was said, to those who may read it; "rematch" that there is news of a rematch.
    """
    visible_match(match_id)
    return _redirect()


@blueprint.get("/me/stream")
@endpoint(content=EVENTS, content_type=EVENT_STREAM, signed_in=True, headers=REDIRECTED, also=[307])
def stream_account() -> Response:
    """What changes in any match of the caller, and what awaits the caller

    It begins with "pending": items of match, version, version_tag, status and owed (see GET /me/pending), and more,
    which says whether there are others than these. The same is sent again whenever something may have been missed;
    what ended meanwhile is in GET /me/matches?view=finished. Then "match" reports each change of a match that the
    caller plays, has created or is invited to: an item as above, with the types of its events; owed is null while
    nothing awaits the caller. "chat" names the match in which something was said. A change may be reported twice.
    """
    return _redirect()


def _redirect() -> Response:
    origin = stream_origin(services().settings.stream_url, request.host)
    if origin.lower() == own_origin():
        raise Problem(
            "no-stream",
            "The server in front of the API has to pass this address on to the process of the live stream.",
            headers={"Retry-After": str(RETRY_AFTER_S)},
        )
    query = {name: value for name, value in request.args.items() if name == "after"}
    ticket = issue_ticket()
    if ticket is not None:
        query["ticket"] = ticket
    location = f"{origin}{request.path}{'?' if query else ''}{urlencode(query)}"
    return Response(status=307, headers={"Location": location, "Cache-Control": "no-store"})
