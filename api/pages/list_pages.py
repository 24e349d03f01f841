"""Lists: the lobby, one's own matches, players, leaderboards."""

from collections.abc import Callable
from typing import Any

from flask import abort, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from api.access.auth import current_person
from api.access.matches import listed_for
from api.operations.awaiting import AwaitedMatches, refresh
from api.pages.layout import blueprint, sign_in_first
from api.pages.rating_chart import rating_chart
from api.pages.wording import Result, result_of
from api.representations.matches import people_in, represent_summary, with_foreseen_deadlines
from api.representations.players import Player, opponent_level, represent_player
from api.representations.ratings import public_changes
from api.services import services
from domain.games import GAMES
from domain.match.enums import Status
from domain.match.state import OPPONENT_PREFIX
from events.readmodels import Page, Summary

MATCHES_PER_PAGE = 20
"""Matches on one page of a list; the rest is behind "more"."""

MAX_CHANGES_CHARTED = 200
"""Rated matches of a pool that the chart of a player goes back to."""

MAX_CHANGES_LISTED = 12
"""The latest of them, which are told one by one."""

MAX_MATCHES_SCANNED = 500
"""Matches that are looked at for one page of a filtered list; beyond, "more" goes on looking."""

RESULTS = {"won": (Result.WON, Result.SHARED), "lost": (Result.LOST,), "drawn": (Result.DRAWN,)}
"""What the query can filter by, each with the results that it stands for."""

NO_SUCH_PAGE = "This list has no such page. Begin again with its first one."

OWN_VIEWS = {
    "awaiting": "Waiting for you",
    "active": "Waiting for others",
    "finished": "Finished",
}


@blueprint.get("/lobby")
def lobby() -> str:
    """Return the open matches that anybody may join, and what is being played."""
    game = request.args.get("game")
    if game not in GAMES:
        game = None
    cursor = request.args.get("cursor")
    view = "recent" if request.args.get("view") == "recent" else "open"
    return render_template(
        "lobby.html",
        games=list(GAMES.values()),
        game=game,
        view=view,
        more=bool(cursor),
        found=_with_summaries(
            _page("open", game=game, cursor=cursor)
            if view == "open"
            else _begun_matches(game, MATCHES_PER_PAGE, cursor)
        ),
        recent=_with_summaries(_begun_matches(game, 8)) if view == "open" and not cursor else None,
    )


@blueprint.get("/matches")
def my_matches() -> str | Response:
    """Return the matches of the person: those that wait for them first, and of these the first deadline first."""
    person = current_person()
    if person is None:
        return sign_in_first()
    view = request.args.get("view")
    views = [view] if view in OWN_VIEWS else list(OWN_VIEWS)
    cursor = request.args.get("cursor") if view in OWN_VIEWS else None
    sections: list[dict[str, Any]] = []
    for name in views:
        if name == "finished":
            sections.append({"view": name, "title": OWN_VIEWS[name], **_archive(person.id, cursor)})
            continue
        if name == "active":  # what awaits the person stands in a list of its own
            page = _filtered_page(lambda match: person.id not in match.awaiting, name, player=person.id, cursor=cursor)
        else:
            page = _awaited(person.id, cursor)
        sections.append({"view": name, "title": OWN_VIEWS[name], "found": _with_summaries(page)})
    return render_template("my_matches.html", sections=sections, alone=view in OWN_VIEWS, games=GAMES)


@blueprint.get("/players/<player>")
def player(player: str) -> str | Response:
    """Return a player's ratings, matches and, for somebody signed in, the score against them."""
    found = _find(player)
    if found is None:
        abort(404, "There is no player of this name.")
    person = current_person()
    readmodels = services().readmodels
    asked = request.args.get("view")
    titles = {"active": "Being played", "finished": "Finished"}
    ratings = readmodels.ratings(found.id)
    own = person is not None and person.id == found.id
    recent = {
        rating.pool: readmodels.rating_history(found.id, rating.pool)[-MAX_CHANGES_CHARTED:] for rating in ratings
    }
    seen = listed_for(person, [change.match for changes in recent.values() for change in changes])
    sections: list[dict[str, Any]] = []
    for view, title in titles.items():
        if asked not in (None, view):
            continue
        cursor = request.args.get("cursor") if asked == view else None
        if view == "finished":
            sections.append({"view": view, "title": title, **_archive(found.id, cursor, public=not own)})
        else:
            page = _page(view, player=found.id, cursor=cursor, public=not own)
            sections.append({"view": view, "title": title, "found": _with_summaries(page)})
    return render_template(
        "player.html",
        player=found,
        ratings=ratings,
        pools=pool_titles(),
        history={pool: public_changes(changes, seen) for pool, changes in recent.items()},
        listed=MAX_CHANGES_LISTED,
        chart=rating_chart,
        games=GAMES,
        relation=services().blocks.of(person.id).get(found.id, "") if person and not own and not found.level else None,
        against=readmodels.head_to_head(person.id, found.id) if person and not own else None,
        sections=sections,
    )


@blueprint.get("/leaderboards")
def leaderboards() -> str | Response:
    """Return the best rated players of one pool."""
    titles = pool_titles()
    pool = request.args.get("pool") or next(iter(titles))
    if pool not in titles:
        return redirect(url_for("web.leaderboards"))
    try:
        page = services().readmodels.leaderboard(pool, request.args.get("cursor"), 50)
    except ValueError:
        abort(404, NO_SUCH_PAGE)
    persons = services().people.persons(row.player for row in page.items)
    rows = [(row, represent_player(row.player, persons)) for row in page.items]
    return render_template("leaderboards.html", pools=titles, pool=pool, rows=rows, next=page.next)


def pool_titles() -> dict[str, str]:
    """Return the titles of all rating pools: one for each game and number of seats."""
    titles = {}
    for game in GAMES.values():
        sizes = sorted({len(setup.seat_names) for setup in game.setups.values()})
        for seats in sizes:
            titles[f"{game.id}-{seats}"] = game.title if len(sizes) == 1 else f"{game.title}, {seats} players"
    return titles


def matches_page(view: str, cursor: str | None) -> dict[str, Any]:
    """Return a page of a view with the summaries of its matches; abort with 404 when ``cursor`` is broken."""
    return _with_summaries(_page(view, cursor=cursor))


def _find(player: str) -> Player | None:
    """Return the player with this id or name, None when there is nobody."""
    people = services().people
    if player.startswith(OPPONENT_PREFIX):
        return represent_player(player, {}) if opponent_level(player) is not None else None
    person = people.person(player) or people.find(player)
    return represent_player(person.id, {person.id: person}) if person else None


def _page(view: str, *, limit: int = MATCHES_PER_PAGE, **which: Any) -> Page[Summary]:
    """Return a page of matches; one that a broken cursor asks for is not there."""
    try:
        return services().readmodels.matches(view, limit=limit, **which)
    except ValueError:
        abort(404, NO_SUCH_PAGE)


def _awaited(player: str, cursor: str | None) -> Page[Summary]:
    """Return a page of what awaits the player, the first deadline first; a broken cursor has no page."""
    try:
        return AwaitedMatches(player).page("queue", cursor, MATCHES_PER_PAGE)
    except ValueError:
        abort(404, NO_SUCH_PAGE)


def _archive(player: str, cursor: str | None, public: bool = False) -> dict[str, Any]:
    """Return the finished matches of a player that fit the query: ``game``, ``result``, ``against`` whom, by name.

    ``filters`` is what the query asks for, ``fault`` what is wrong with it; an unknown game or result asks for nothing.
    """
    asked = {name: request.args.get(name, "") for name in ("game", "result", "against")}
    game = asked["game"] if asked["game"] in GAMES else None
    results = RESULTS.get(asked["result"])
    filters = {"game": game, "result": asked["result"] if results else None, "against": asked["against"].strip()[:24]}
    other = _find(filters["against"]) if filters["against"] else None
    if filters["against"] and other is None:
        return {
            "found": _with_summaries(Page([], None)),
            "filters": filters,
            "fault": "There is no player of this name.",
        }

    def fits(match: Summary) -> bool:
        if other is not None and all(seat.player != other.id for seat in match.seats):
            return False
        return results is None or result_of(match, player) in results

    page = _filtered_page(fits, "finished", player=player, game=game, cursor=cursor, public=public)
    return {"found": _with_summaries(page), "filters": filters, "fault": ""}


def _begun_matches(game: str | None, limit: int, cursor: str | None = None) -> Page[Summary]:
    """Return a page of the latest matches that wait for nobody to join."""
    return _filtered_page(lambda match: match.status != Status.OPEN, "recent", game=game, limit=limit, cursor=cursor)


def _filtered_page(
    wanted: Callable[[Summary], bool], view: str, *, cursor: str | None, limit: int = MATCHES_PER_PAGE, **which: Any
) -> Page[Summary]:
    """Return a page of those matches in a view that are ``wanted``: a full one, if there are as many near enough."""
    found: list[Summary] = []
    scanned = 0
    while True:
        page = _page(view, cursor=cursor, limit=limit - len(found), **which)
        found += filter(wanted, refresh(page.items) if view == "active" else page.items)
        scanned += len(page.items)
        cursor = page.next
        if cursor is None or len(found) == limit or scanned >= MAX_MATCHES_SCANNED:
            return Page(found, cursor)


def _with_summaries(page: Page[Summary]) -> dict[str, Any]:
    """Return a page of matches in the words of the API, each with its summary, and the cursor of the next page."""
    found = with_foreseen_deadlines(page.items)
    persons = people_in(found)
    return {"items": [(item, represent_summary(item, persons)) for item in found], "next": page.next}
