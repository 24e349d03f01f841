"""The secret address at which programs that cannot sign in read the caller's feeds and calendar."""

from collections.abc import Mapping
from typing import Annotated, Any

from flask import Blueprint
from msgspec import Meta

from api.access.auth import own_origin, require_person
from api.addresses import PREFIX
from api.endpoints import endpoint
from api.http.answers import Answer, Instant, instant
from api.http.problems import Problem
from api.http.schemas import EmptyBody
from api.services import services
from events.people.person import random_letters
from events.runtime.wall_clock import rfc3339

blueprint = Blueprint("feeds", __name__, url_prefix=PREFIX)

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


@blueprint.get("/me/feed-address")
@endpoint(answer=FeedAddress, signed_in=True)
def show_feed_address() -> FeedAddress:
    """Show whether there is a secret feed address

    And since when. The address itself is never shown again.
    """
    found = services().feed_addresses.of(require_person().id)
    return FeedAddress(created_at=instant(found.created_at if found else None))


@blueprint.post("/me/feed-address")
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


@blueprint.delete("/me/feed-address")
@endpoint(204, signed_in=True, session_only=True, problems=[404])
def revoke_feed_address() -> None:
    """Revoke the secret feed address

    Nothing can be read there any more.
    """
    if not services().feed_addresses.revoke(require_person().id):
        raise Problem("no-feed-address", "There is no address of feeds to revoke.")
