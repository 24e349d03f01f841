"""The caller's room: how many matches the server may start for the caller, and whether it asks first."""

from collections.abc import Mapping
from typing import Annotated, Any

from flask import Blueprint
from msgspec import Meta

from api.access.auth import account_gone, require_person
from api.addresses import PREFIX
from api.endpoints import endpoint
from api.http.answers import Answer, one_of
from api.http.problems import Problem
from api.http.schemas import EnumField, StrictInteger, StrictSchema
from api.services import services
from events.people.places import MAX_CONCURRENT_OF_PERSON, StartLimit, Starts

blueprint = Blueprint("rooms", __name__, url_prefix=PREFIX)


class RoomRequest(StrictSchema):
    concurrent = StrictInteger(
        0, MAX_CONCURRENT_OF_PERSON, required=True, about="The server starts a match while fewer are played"
    )
    starts = EnumField(
        Starts,
        required=True,
        about="Whether it starts matches of seeks and tournaments: at once, as invitations, or not",
    )


class Room(Answer):
    concurrent: Annotated[int, Meta(description="Of a bot that of its capacity")]
    starts: Annotated[str, one_of(Starts)]
    playing: Annotated[int, Meta(description="Matches that have not ended, invitations that wait included")]
    free: Annotated[int, Meta(description="How many more matches the server starts now; none during a vacation")]
    reason: Annotated[str | None, Meta(description="Why none")]


@blueprint.get("/me/room")
@endpoint(answer=Room, signed_in=True)
def show_room() -> Room:
    """Show the caller's room

    How many more matches of seeks and tournaments the server starts for the caller now.
    """
    return _represent(require_person().id)


@blueprint.put("/me/room")
@endpoint(answer=Room, body=RoomRequest, signed_in=True, problems=[409])
def set_room(sent: Mapping[str, Any]) -> Room:
    """Set the caller's room

    It does not limit what the caller begins. The room of a bot is part of its capacity.
    """
    person = require_person()
    if person.kind == "bot":
        raise Problem("account-kind-fixed", "How many matches a bot plays at once is part of its capacity.")
    if not services().places.set_limit(person.id, StartLimit(sent["concurrent"], sent["starts"])):
        raise account_gone()
    return _represent(person.id)


def _represent(player: str) -> Room:
    room = services().match_starter.room_of([player], services().now())[player]
    return Room(
        concurrent=room.limit.concurrent,
        starts=room.limit.starts,
        playing=room.playing,
        free=room.room,
        reason=room.reason or None,
    )
