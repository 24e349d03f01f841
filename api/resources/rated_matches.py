"""How ratings came about, match by match, and what does not count for them."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from flask import Blueprint
from msgspec import Meta

from api.access.auth import current_person
from api.access.matches import listed_for
from api.addresses import PREFIX
from api.endpoints import endpoint
from api.http.answers import Answer, Next
from api.http.schemas import Paging, page_limit
from api.operations.lists import identify, invalid_cursor
from api.representations.rated_matches import (
    RatedMatchEntry,
    UnratedMatchEntry,
    represent_rated_matches,
    represent_unrated_match,
)
from api.services import services

blueprint = Blueprint("rated-matches", __name__, url_prefix=PREFIX)


class RatedMatchQuery(Paging):
    limit = page_limit(25, 50)


class RatedMatchPage(Answer):
    items: Sequence[RatedMatchEntry]
    next: Next


class UnratedMatchPage(Answer):
    items: Sequence[UnratedMatchEntry]
    next: Next
    incomplete: Annotated[bool, Meta(description="Archived matches are missing: they cannot be read now")]


@blueprint.get("/players/<player>/ratings/<pool>/matches")
@endpoint(answer=RatedMatchPage, query=RatedMatchQuery, problems=[404])
def list_rated_matches(query: Mapping[str, Any], player: str, pool: str) -> RatedMatchPage:
    """List the matches of a rating

    How the rating came about, the last match first. A page may have up to 64 more than `limit`.
    """
    try:
        found = services().readmodels.rated_matches(identify(player), pool, query.get("cursor"), query["limit"])
    except ValueError as error:
        raise invalid_cursor() from error
    visible = listed_for(current_person(), [match.match for match in found.items])
    items = represent_rated_matches(found.items, visible)
    return RatedMatchPage(items=items, next=found.next)


@blueprint.get("/players/<player>/ratings/<pool>/unrated-matches")
@endpoint(answer=UnratedMatchPage, query=RatedMatchQuery, problems=[404])
def list_unrated_matches(query: Mapping[str, Any], player: str, pool: str) -> UnratedMatchPage:
    """List matches that do not count

    The player's public matches that have ended and are not rated, with the reason. A page may have few entries, or
    none.
    """
    id = identify(player)
    try:
        page = services().readmodels.unrated_matches(id, pool, query.get("cursor"), query["limit"], public=True)
    except ValueError as error:
        raise invalid_cursor() from error
    items = [represent_unrated_match(summary, reason) for summary, reason in page.items]
    return UnratedMatchPage(items=items, next=page.next, incomplete=page.incomplete)
