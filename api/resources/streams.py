"""Where the live streams and the feeds are: a process of its own serves streams, feeds are read at a secret address."""

from collections.abc import Mapping
from typing import Annotated, Any
from urllib.parse import urlencode

from flask import Blueprint, Response, request
from msgspec import Meta

from api.access.auth import issue_ticket, own_origin, require_person
from api.access.headers import stream_origin
from api.access.matches import visible_match
from api.addresses import PREFIX
from api.endpoints import endpoint
from api.http.answers import Answer, Instant, instant
from api.http.conditions import EXAMPLE_TAG, header_parameter
from api.http.problems import RETRY_AFTER_S, Problem
from api.http.schemas import EmptyBody
from api.services import services
from events.people.person import random_letters
from events.runtime.wall_clock import rfc3339

blueprint = Blueprint("streams", __name__, url_prefix=PREFIX)

EVENT_STREAM = "text/event-stream"
LAST_EVENT_ID_PARAMETER = header_parameter(
    "Last-Event-ID",
    "The id of the last message that was seen, such as "
    f"{EXAMPLE_TAG}: the stream goes on after it. EventSource sends it by itself; ?after= says the same",
)
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


feeds = Blueprint("feeds", __name__, url_prefix=PREFIX)

SECRET_BYTES = 20


class FeedAddress(Answer):
    created_at: Annotated[Instant | None, Meta(description="When the present address was made; null: there is none")]


class NewFeedAddress(Answer):
    created_at: Instant
    deadlines: Annotated[str, Meta(description="The URL of the calendar (iCalendar); shown this once and never again")]
    matches: Annotated[str, Meta(description="The URL of the feed (Atom) of what you are told of; shown once too")]
    match: Annotated[
        str,
        Meta(description="The URL of the feed of a match that you may see, with {match} for its id; shown once too"),
    ]


@feeds.get("/me/feed-address")
@endpoint(answer=FeedAddress, signed_in=True)
def show_feed_address() -> FeedAddress:
    """Show whether there is a secret feed address

    And since when. The address itself is never shown again.
    """
    address = services().feed_addresses.of(require_person().id)
    return FeedAddress(created_at=instant(address.created_at if address else None))


@feeds.post("/me/feed-address")
@endpoint(201, answer=NewFeedAddress, body=EmptyBody, signed_in=True, session_only=True)
def make_feed_address(_: Mapping[str, Any]) -> NewFeedAddress:
    """Create a secret feed address

    Feed readers and calendars need no sign-in there. The address before it is revoked.
    """
    now = services().now()
    secret = services().feed_addresses.begin(require_person().id, random_letters(SECRET_BYTES), now)
    base = f"{own_origin()}/feeds/{secret}"
    return NewFeedAddress(
        created_at=rfc3339(now),
        deadlines=f"{base}/deadlines.ics",
        matches=f"{base}/matches.atom",
        match=f"{base}/matches/{{match}}.atom",
    )


@feeds.delete("/me/feed-address")
@endpoint(204, signed_in=True, session_only=True, problems=[404])
def revoke_feed_address() -> None:
    """Revoke the secret feed address

    Nothing can be read there any more.
    """
    if not services().feed_addresses.revoke(require_person().id):
        raise Problem("no-feed-address", "There is no address of feeds to revoke.")
