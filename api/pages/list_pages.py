"""Lists: the lobby, the person's own matches, leaderboards."""

from flask import abort, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from api.access.auth import current_person
from api.operations.awaiting import AwaitedMatches
from api.pages.layout import blueprint, sign_in_first
from api.pages.match_lists import (
    MATCHES_PER_PAGE,
    NO_SUCH_PAGE,
    MatchList,
    Section,
    filtered_page,
    finished_section,
    page_of,
    represented,
)
from api.representations.players import represent_player
from api.services import services
from domain.games import GAMES
from domain.match.enums import Status
from events.readmodels import Page, Summary

RECENT_MATCHES_IN_LOBBY = 8
PLAYERS_PER_PAGE = 50

OWN_VIEWS = {
    "awaiting": "Waiting for you",
    "active": "Waiting for others",
    "finished": "Finished",
}


@blueprint.get("/lobby")
def lobby() -> str:
    """Return the open matches that anyone may join, and the latest matches in play."""
    game = request.args.get("game")
    if game not in GAMES:
        game = None
    cursor = request.args.get("cursor")
    view = "recent" if request.args.get("view") == "recent" else "open"
    if view == "recent":
        matches = _started_matches(game, MATCHES_PER_PAGE, cursor)
    else:
        matches = represented(page_of("open", game=game, cursor=cursor))
    recent = _started_matches(game, RECENT_MATCHES_IN_LOBBY) if view == "open" and not cursor else None
    return render_template(
        "lobby.html",
        games=list(GAMES.values()),
        game=game,
        view=view,
        is_first_page=not cursor,
        matches=matches,
        recent=recent,
    )


@blueprint.get("/matches")
def my_matches() -> str | Response:
    """Return the matches of the person: first those that wait for them, by deadline."""
    person = current_person()
    if person is None:
        return sign_in_first()
    view = request.args.get("view")
    views = [view] if view in OWN_VIEWS else list(OWN_VIEWS)
    cursor = request.args.get("cursor") if view in OWN_VIEWS else None
    sections = [_own_section(name, person.id, cursor) for name in views]
    return render_template("my_matches.html", sections=sections, alone=view in OWN_VIEWS, games=GAMES)


def _own_section(view: str, player: str, cursor: str | None) -> Section:
    title = OWN_VIEWS[view]
    if view == "finished":
        return finished_section(title, player, cursor)
    if view == "active":  # without the matches that await the person: they have a list of their own
        page = filtered_page(lambda match: player not in match.awaiting, view, player=player, cursor=cursor)
    else:
        page = _awaited(player, cursor)
    return Section(view=view, title=title, matches=represented(page))


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


def _awaited(player: str, cursor: str | None) -> Page[Summary]:
    """Return a page of the matches that await the player, by deadline; abort with 404 when the cursor is invalid."""
    try:
        return AwaitedMatches(player).page("queue", cursor, MATCHES_PER_PAGE)
    except ValueError:
        abort(404, NO_SUCH_PAGE)


def _started_matches(game: str | None, limit: int, cursor: str | None = None) -> MatchList:
    """Return a page of the latest matches whose seats are all taken."""
    page = filtered_page(lambda match: match.status != Status.OPEN, "recent", game=game, limit=limit, cursor=cursor)
    return represented(page)
