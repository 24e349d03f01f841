"""The directory: people, whether the caller can be found, and whom the caller follows."""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint

from api.access.auth import require_person
from api.addresses import PREFIX
from api.endpoints import endpoint
from api.http.answers import Answer
from api.http.problems import Problem
from api.http.schemas import (
    EmptyBody,
    Paging,
    QueryBoolean,
    QueryInteger,
    StrictBoolean,
    StrictSchema,
    StrictString,
    page_limit,
)
from api.operations.lists import identify, invalid_cursor
from api.operations.people import PeopleQuery, find_people, followed_people
from api.representations.people import FoundPlayerPage
from api.representations.players import opponent_level
from api.services import services
from domain.contest.wishes import MAX_RATING
from events.people.names import MAX_NAME_CHARACTERS
from events.runtime.errors import LimitReachedError

blueprint = Blueprint("directory", __name__, url_prefix=PREFIX)

MAX_SEEN_DAYS = 365


class FindQuery(Paging):
    name = StrictString(0, MAX_NAME_CHARACTERS, load_default="", about="How the name begins, in any case")
    pool = StrictString(1, 60, load_default=None, about="A game and a number of seats, like bashni-2: by rating then")
    least_rating = QueryInteger(0, MAX_RATING, load_default=0, about="With a pool")
    most_rating = QueryInteger(0, MAX_RATING, load_default=MAX_RATING, about="With a pool")
    room = QueryBoolean(load_default=False, about="Only those for whom the server starts another match now")
    seen_days = QueryInteger(1, MAX_SEEN_DAYS, load_default=None, about="The most days since the last visit")
    limit = page_limit(20, 50)


class ListingRequest(StrictSchema):
    listed = StrictBoolean(required=True)


class Listing(Answer):
    listed: bool


class FollowsQuery(Paging):
    limit = page_limit(20, 50)


@blueprint.get("/players")
@endpoint(answer=FoundPlayerPage, query=FindQuery)
def find(query: Mapping[str, Any]) -> FoundPlayerPage:
    """Find people

    Those in the directory, by name, or by rating in a pool. A page may have few entries, or none.
    """
    wanted = PeopleQuery(
        beginning=query["name"],
        pool=query["pool"],
        least_rating=query["least_rating"],
        most_rating=query["most_rating"],
        has_room=query["room"],
        seen_days=query["seen_days"],
    )
    try:
        page = find_people(wanted, query.get("cursor"), query["limit"])
    except ValueError as error:
        raise invalid_cursor() from error
    return FoundPlayerPage(items=page.items, next=page.next)


@blueprint.get("/me/listing")
@endpoint(answer=Listing, signed_in=True)
def show_listing() -> Listing:
    """Show whether the caller can be found

    In the directory, with the day of the last visit.
    """
    return Listing(listed=services().directory.is_listed(require_person().id))


@blueprint.put("/me/listing")
@endpoint(answer=Listing, body=ListingRequest, signed_in=True)
def set_listing(sent: Mapping[str, bool]) -> Listing:
    """Enter or leave the directory

    Who leaves it is found no more, and the day of the last visit is forgotten.
    """
    services().directory.set_listed(require_person(), sent["listed"])
    return Listing(listed=sent["listed"])


@blueprint.get("/me/follows")
@endpoint(answer=FoundPlayerPage, query=FollowsQuery, signed_in=True)
def list_followed(query: Mapping[str, Any]) -> FoundPlayerPage:
    """List whom the caller follows

    The last first. Nobody else sees it.
    """
    try:
        page = followed_people(require_person(), query.get("cursor"), query["limit"])
    except ValueError as error:
        raise invalid_cursor() from error
    return FoundPlayerPage(items=page.items, next=page.next)


@blueprint.put("/me/follows/<player>")
@endpoint(204, body=EmptyBody, signed_in=True, problems=[403, 404, 409])
def follow(_: object, player: str) -> None:
    """Follow a player

    Privately: they are not told. Up to 500.
    """
    person, other = require_person(), identify(player)
    if other == person.id or opponent_level(other) is not None:
        raise Problem("not-followable", "Only other people can be followed.", {"player": ["is no other person"]})
    if services().blocks.blocking([other], person.id):
        raise Problem("blocked", "This player has blocked you.")
    try:
        services().follows.put(person.id, other)
    except LimitReachedError as error:
        raise Problem("too-many-follows", f"{error}.".capitalize()) from error


@blueprint.delete("/me/follows/<player>")
@endpoint(204, signed_in=True, problems=[404])
def unfollow(player: str) -> None:
    """Stop following a player

    By id or name.
    """
    if not services().follows.remove(require_person().id, identify(player)):
        raise Problem("not-followed", "You do not follow this player.")
