"""Lists of matches: the lobby, the person's own matches, finished ones by filters; and leaderboards."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, NamedTuple

from flask import abort, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from api.access.auth import current_person
from api.operations.lists import MATCHES_PER_PAGE, AwaitedMatches, first_awaited, refresh
from api.pages.layout import blueprint, read_viewer_roles, signed_in_reader
from api.pages.open_seats import offer_seats
from api.pages.wording import PlayerResult, result_of
from api.representations.matches import MatchSummary, foresee_deadlines, represent_summary
from api.representations.players import Player, opponent_level, represent_player
from api.services import services
from domain.games import GAMES
from domain.match.enums import Status
from domain.match.state import OPPONENT_PREFIX
from events.matches.readmodels import Page, Summary
from events.people.names import MAX_NAME_CHARACTERS
from events.runtime.reads import ReadBatch

RESULTS = {"won": (PlayerResult.WON, PlayerResult.SHARED), "lost": (PlayerResult.LOST,), "drawn": (PlayerResult.DRAWN,)}
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
        against = request.args.get("against", "").strip()[:MAX_NAME_CHARACTERS]
        return cls(game if game in GAMES else None, result if result in RESULTS else None, against)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListSection:
    """A titled list of matches; ``filter_error`` says why its ``filters`` cannot be applied.

    Its ``matches`` are those of its ``page``: see ``with_matches``.
    """

    view: str
    title: str
    page: Page[Summary]
    matches: MatchList | None = None
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


def represented(*pages: Page[Summary]) -> list[MatchList]:
    """Return pages of matches as the API represents them, with their foreseen deadlines."""
    batch = ReadBatch(services().client)
    read_viewer_roles(batch)
    summaries, persons = foresee_deadlines([summary for page in pages for summary in page.items], batch)
    shown = iter([(summary, represent_summary(summary, persons)) for summary in summaries])
    return [Page(list(islice(shown, len(page.items))), page.next, page.incomplete) for page in pages]


def with_matches(sections: Sequence[ListSection]) -> list[ListSection]:
    """Return sections with their matches as the API represents them."""
    shown = represented(*(section.page for section in sections))
    return [replace(section, matches=matches) for section, matches in zip(sections, shown, strict=True)]


def finished_section(title: str, player: str, cursor: str | None, *, public: bool = False) -> ListSection:
    """Return the finished matches of a player that pass the filters of the request."""
    filters = Filters.requested()
    other = find_player(filters.against) if filters.against else None
    if filters.against and other is None:
        nothing: Page[Summary] = Page([], None)
        return ListSection(view="finished", title=title, page=nothing, filters=filters, filter_error=NO_SUCH_PLAYER)
    results = RESULTS.get(filters.result or "")

    def passes(match: Summary) -> bool:
        if other is not None and all(seat.player != other.id for seat in match.seats):
            return False
        return results is None or result_of(match, player) in results

    page = page_of("finished", wanted=passes, player=player, game=filters.game, cursor=cursor, public=public)
    return ListSection(view="finished", title=title, page=page, filters=filters)


RECENT_MATCHES_IN_LOBBY = 8
PLAYERS_PER_PAGE = 50

OWN_VIEWS = {"awaiting": "Waiting for you", "active": "Waiting for others", "finished": "Finished"}


@blueprint.get("/lobby")
def lobby() -> str:
    """Return the open matches that anyone may join, and the latest matches in play."""
    game = request.args.get("game")
    if game not in GAMES:
        game = None
    cursor = request.args.get("cursor")
    view = "recent" if request.args.get("view") == "recent" else "open"
    if view == "recent":
        pages = [started_matches(game, MATCHES_PER_PAGE, cursor)]
    else:
        pages = [page_of("open", game=game, cursor=cursor)]
    if view == "open" and not cursor:
        pages.append(started_matches(game, RECENT_MATCHES_IN_LOBBY))
    matches, *recent = represented(*pages)
    return render_template(
        "lobby.html",
        games=list(GAMES.values()),
        game=game,
        view=view,
        is_first_page=not cursor,
        matches=matches,
        offers=offer_seats(matches.items, current_person()),
        recent=recent[0] if recent else None,
    )


@blueprint.get("/matches")
def my_matches() -> str:
    """Return the matches of the person: first those that wait for them, by deadline."""
    person = signed_in_reader()
    view = request.args.get("view")
    views = [view] if view in OWN_VIEWS else list(OWN_VIEWS)
    cursor = request.args.get("cursor") if view in OWN_VIEWS else None
    sections = with_matches([_own_section(name, person.id, cursor) for name in views])
    return render_template("my_matches.html", sections=sections, alone=view in OWN_VIEWS, games=GAMES)


def _own_section(view: str, player: str, cursor: str | None) -> ListSection:
    title = OWN_VIEWS[view]
    if view == "finished":
        return finished_section(title, player, cursor)
    if view == "active":  # without the matches that await the person: they have a list of their own
        page = page_of(view, wanted=lambda match: player not in match.awaiting, player=player, cursor=cursor)
        page = page._replace(items=[match for match in refresh(page) if player not in match.awaiting])
    else:
        page = _awaited(player, cursor)
    return ListSection(view=view, title=title, page=page)


@blueprint.get("/leaderboards")
def leaderboards() -> str | Response:
    """Return the best rated players of one pool."""
    titles = pool_titles()
    pool = request.args.get("pool") or next(iter(titles))
    if pool not in titles:
        return redirect(url_for("web.leaderboards"))
    try:
        page = services().readmodels.leaderboard(pool, request.args.get("cursor"), PLAYERS_PER_PAGE)
    except ValueError:
        abort(404, NO_SUCH_PAGE)
    # A small club lists everybody: those with provisional ratings follow where the others fill no page.
    has_room = page.next is None and "cursor" not in request.args
    listed = [*page.items, *(services().readmodels.provisional_ratings(pool, PLAYERS_PER_PAGE) if has_room else ())]
    persons = services().people.persons(row.player for row in listed)
    rows = [(row, represent_player(row.player, persons)) for row in listed]
    return render_template("leaderboards.html", pools=titles, pool=pool, rows=rows, next=page.next)


def pool_titles() -> dict[str, str]:
    """Return the titles of all rating pools: one for each game and number of seats."""
    titles = {}
    for game in GAMES.values():
        sizes = sorted({len(setup.seat_names) for setup in game.setups.values()})
        for seats in sizes:
            titles[f"{game.id}-{seats}"] = game.title if len(sizes) == 1 else f"{game.title}, {seats} players"
    return titles


def _awaited(player: str, cursor: str | None) -> Page[Summary]:
    """Return a page of the matches that await the player, by deadline; abort with 404 when the cursor is invalid."""
    try:
        if cursor is None:
            return first_awaited(player)
        return AwaitedMatches(player).page("queue", cursor, MATCHES_PER_PAGE)
    except ValueError:
        abort(404, NO_SUCH_PAGE)


def started_matches(game: str | None, limit: int, cursor: str | None = None) -> Page[Summary]:
    """Return a page of the latest matches whose seats are all taken."""
    page = page_of("recent", wanted=_has_started, game=game, limit=limit, cursor=cursor)
    return page._replace(items=[match for match in page.items if _has_started(match)])


def _has_started(match: Summary) -> bool:
    return match.status != Status.OPEN
