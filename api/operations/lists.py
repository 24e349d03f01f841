"""Pages of match lists, and players by name or id."""

from collections.abc import Mapping
from typing import Any

from api.http.problems import Problem
from api.operations.awaiting import AwaitedMatches
from api.representations.matches import MatchPage, represent_summaries
from api.representations.players import opponent_level
from api.services import services
from events.readmodels import Page, Summary


def identify(player: str) -> str:
    """Return the id of the player with id or name ``player``; raises the problem no-such-player."""
    if opponent_level(player) is not None:
        return player
    person = services().people.person(player) or services().people.find(player)
    if person is None:
        raise Problem("no-such-player", "There is no player with this name or id.", {"player": ["is unknown"]})
    return person.id


def match_page(
    view: str, query: Mapping[str, Any], *, player: str | None = None, game: str | None = None, public: bool = False
) -> MatchPage:
    """Return a page of matches, without private ones if ``public``; raises the problem invalid-fields for a cursor."""
    try:
        page = services().readmodels.matches(view, player, game, query.get("cursor"), query["limit"], public)
    except ValueError as error:
        raise invalid_cursor() from error
    return MatchPage(items=represent_summaries(page.items), next=page.next, incomplete=page.incomplete)


def awaited_page(awaited: AwaitedMatches, view: str, cursor: str | None, limit: int) -> Page[Summary]:
    """Return a page of what awaits a player; raises the problem invalid-fields for a cursor that no answer had."""
    try:
        return awaited.page(view, cursor, limit)
    except ValueError as error:
        raise invalid_cursor() from error


def invalid_cursor() -> Problem:
    """Return the problem for a cursor that no answer contained."""
    detail = "The cursor must come from an earlier answer."
    return Problem("invalid-fields", detail, {"cursor": ["comes from no earlier answer"]})
