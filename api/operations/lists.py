"""Pages of match lists, and players by name or id."""

from collections.abc import Iterable
from typing import Any

from flask import Response

from api.http import representations as show
from api.http.openapi import json_response
from api.http.problems import Problem
from api.live.awaiting import Awaited
from api.services import services
from events.readmodels import Page, Summary


def identify(player: str) -> str:
    """Return the id of the player with id or name ``player``; raises the problem no-such-player."""
    if show.opponent_level(player) is not None:
        return player
    person = services().people.person(player) or services().people.find(player)
    if person is None:
        raise Problem("no-such-player", "There is no player with this name or id.", {"player": ["is unknown"]})
    return person.id


def matches_page(
    view: str, query: dict[str, Any], player: str | None = None, game: str | None = None, public: bool = False
) -> Response:
    """Return a page of match summaries as a response, without private matches if ``public``."""
    page = read_page(view, player, game, query.get("cursor"), query["limit"], public)
    return json_response({"items": summaries(page.items), "next": page.next})


def summaries(found: Iterable[Summary]) -> list[dict[str, Any]]:
    """Return the summaries as callers see them."""
    found = show.foreseen_deadlines(found)
    persons = show.people_in(found)
    return [show.match_summary(each, persons) for each in found]


def read_page(
    view: str, player: str | None, game: str | None, cursor: str | None, limit: int, public: bool = False
) -> Page[Summary]:
    """Return a page of the read models; raises the problem invalid-fields for a cursor that is none."""
    try:
        return services().readmodels.matches(view, player, game, cursor, limit, public)
    except ValueError as error:
        raise bad_cursor() from error


def awaited_page(awaited: Awaited, view: str, cursor: str | None, limit: int) -> Page[Summary]:
    """Return a page of what awaits the caller; raises the problem invalid-fields for a cursor that is none."""
    try:
        return awaited.page(view, cursor, limit)
    except ValueError as error:
        raise bad_cursor() from error


def bad_cursor() -> Problem:
    """Return the problem for a cursor that no answer contained."""
    detail = "The cursor must come from an earlier answer."
    return Problem("invalid-fields", detail, {"cursor": ["comes from no earlier answer"]})
