"""Pages of matches as lists show them, and finished matches by game, result and the player against whom."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from flask import abort, request

from api.operations.awaiting import refresh
from api.pages.wording import Result, result_of
from api.representations.matches import MatchSummary, people_in, represent_summary, with_foreseen_deadlines
from api.representations.players import Player, opponent_level, represent_player
from api.services import services
from domain.games import GAMES
from domain.match.state import OPPONENT_PREFIX
from events.readmodels import Page, Summary

MATCHES_PER_PAGE = 20
"""Matches on one page of a list; the next page is behind "more"."""

MAX_MATCHES_SCANNED = 500
"""Matches examined for one page of a filtered list; "more" continues after them."""

MAX_NAME_LENGTH = 24

RESULTS = {"won": (Result.WON, Result.SHARED), "lost": (Result.LOST,), "drawn": (Result.DRAWN,)}
"""The values of the query parameter ``result``, each with the results that it selects."""

NO_SUCH_PAGE = "This list has no such page. Start again with the first one."
NO_SUCH_PLAYER = "There is no player of this name."

MatchList = Page[tuple[Summary, MatchSummary]]
"""A page of matches, each as the read model and as the API represent it."""


class Filters(NamedTuple):
    """The filters of a list of finished matches, named like the parameters of the query."""

    game: str | None
    result: str | None
    against: str

    @property
    def active(self) -> bool:
        """Whether any filter is set."""
        return any(self)

    @classmethod
    def requested(cls) -> "Filters":
        """Return the filters of the request, without unknown games and results."""
        game, result = request.args.get("game"), request.args.get("result")
        against = request.args.get("against", "").strip()[:MAX_NAME_LENGTH]
        return cls(game if game in GAMES else None, result if result in RESULTS else None, against)


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A titled list of matches; ``filter_error`` says why its ``filters`` cannot be applied."""

    view: str
    title: str
    matches: MatchList
    filters: Filters | None = None
    filter_error: str = ""


def find_player(name: str) -> Player | None:
    """Return the player with this id or name, None if there is no such player."""
    people = services().people
    if name.startswith(OPPONENT_PREFIX):
        return represent_player(name, {}) if opponent_level(name) is not None else None
    person = people.person(name) or people.find(name)
    return represent_player(person.id, {person.id: person}) if person else None


def page_of(view: str, *, limit: int = MATCHES_PER_PAGE, **which: Any) -> Page[Summary]:
    """Return a page of matches; abort with 404 when the cursor is invalid."""
    try:
        return services().readmodels.matches(view, limit=limit, **which)
    except ValueError:
        abort(404, NO_SUCH_PAGE)


def filtered_page(
    wanted: Callable[[Summary], bool], view: str, *, cursor: str | None, limit: int = MATCHES_PER_PAGE, **which: Any
) -> Page[Summary]:
    """Return a page of the ``wanted`` matches of a view, full if MAX_MATCHES_SCANNED matches contain enough."""
    found: list[Summary] = []
    scanned, incomplete = 0, False
    while True:
        page = page_of(view, cursor=cursor, limit=limit - len(found), **which)
        found += filter(wanted, refresh(page.items) if view == "active" else page.items)
        scanned += len(page.items)
        incomplete |= page.incomplete
        cursor = page.next
        if cursor is None or len(found) == limit or scanned >= MAX_MATCHES_SCANNED:
            return Page(found, cursor, incomplete)


def represented(page: Page[Summary]) -> MatchList:
    """Return a page of matches as the API represents them, with their foreseen deadlines."""
    summaries = with_foreseen_deadlines(page.items)
    persons = people_in(summaries)
    shown = [(summary, represent_summary(summary, persons)) for summary in summaries]
    return Page(shown, page.next, page.incomplete)


def finished_section(title: str, player: str, cursor: str | None, *, public: bool = False) -> Section:
    """Return the finished matches of a player that pass the filters of the request."""
    filters = Filters.requested()
    other = find_player(filters.against) if filters.against else None
    if filters.against and other is None:
        nothing: MatchList = Page([], None)
        return Section(view="finished", title=title, matches=nothing, filters=filters, filter_error=NO_SUCH_PLAYER)
    results = RESULTS.get(filters.result or "")

    def passes(match: Summary) -> bool:
        if other is not None and all(seat.player != other.id for seat in match.seats):
            return False
        return results is None or result_of(match, player) in results

    page = filtered_page(passes, "finished", player=player, game=filters.game, cursor=cursor, public=public)
    return Section(view="finished", title=title, matches=represented(page), filters=filters)
