"""Lists: the lobby, one's own matches, players, leaderboards."""

from typing import Any

from flask import abort, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from api.auth import current_person
from api.representations import match_summary, opponent_level, people_in
from api.representations import player as shown_player
from api.services import services
from api.web.frame import blueprint, sign_in_first
from domain.games import GAMES
from domain.match.state import OPPONENT_PREFIX
from events.people import Person
from events.readmodels import Page, Summary

PAGE = 20
"""Matches on one page of a list; the rest is behind "more"."""

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
        found=_listed(services().readmodels.matches(view, game=game, cursor=cursor, limit=PAGE)),
        recent=None
        if cursor or view == "recent"
        else _listed(services().readmodels.matches("recent", game=game, limit=8)),
    )


@blueprint.get("/matches")
def my_matches() -> str | Response:
    """Return the matches of the person: those that wait for them first, longest waiting first."""
    person = current_person()
    if person is None:
        return sign_in_first()
    view = request.args.get("view")
    views = [view] if view in OWN_VIEWS else list(OWN_VIEWS)
    cursor = request.args.get("cursor") if view in OWN_VIEWS else None
    sections = []
    for name in views:
        page = services().readmodels.matches(name, player=person.id, cursor=cursor, limit=PAGE)
        if name == "active":
            page = page._replace(items=[item for item in page.items if person.id not in item.awaiting])
        sections.append({"view": name, "title": OWN_VIEWS[name], "found": _listed(page)})
    return render_template("my_matches.html", sections=sections, alone=view in OWN_VIEWS)


@blueprint.get("/players/<player>")
def player(player: str) -> str | Response:
    """Return a player's ratings, matches and, for somebody signed in, the score against them."""
    found = _find(player)
    if found is None:
        abort(404, "There is no player of this name.")
    person = current_person()
    readmodels = services().readmodels
    view = request.args.get("view")
    cursor = request.args.get("cursor")
    views = {"active": "Being played", "finished": "Finished"}
    ratings = readmodels.ratings(found["id"])
    return render_template(
        "player.html",
        player=found,
        ratings=ratings,
        pools=pool_titles(),
        history={rating.pool: readmodels.rating_history(found["id"], rating.pool)[-12:] for rating in ratings},
        against=readmodels.head_to_head(person.id, found["id"]) if person and person.id != found["id"] else None,
        sections=[
            {
                "view": name,
                "title": title,
                "found": _listed(
                    _public(
                        readmodels.matches(
                            name, player=found["id"], cursor=cursor if view == name else None, limit=PAGE
                        ),
                        person,
                    )
                ),
            }
            for name, title in views.items()
            if view in (None, name)
        ],
    )


@blueprint.get("/leaderboards")
def leaderboards() -> str | Response:
    """Return the best rated players of one pool."""
    titles = pool_titles()
    pool = request.args.get("pool") or next(iter(titles))
    if pool not in titles:
        return redirect(url_for("web.leaderboards"))
    page = services().readmodels.leaderboard(pool, request.args.get("cursor"), 50)
    persons = services().people.persons(row.player for row in page.items)
    rows = [(row, shown_player(row.player, persons)) for row in page.items]
    return render_template("leaderboards.html", pools=titles, pool=pool, rows=rows, next=page.next)


def pool_titles() -> dict[str, str]:
    """Return the titles of all rating pools: one for each game and number of seats."""
    titles = {}
    for game in GAMES.values():
        sizes = sorted({len(setup.seat_names) for setup in game.setups.values()})
        for seats in sizes:
            titles[f"{game.id}-{seats}"] = game.title if len(sizes) == 1 else f"{game.title}, {seats} players"
    return titles


def _find(player: str) -> dict[str, Any] | None:
    """Return the player with this id or name, None when there is nobody."""
    people = services().people
    if player.startswith(OPPONENT_PREFIX):
        return shown_player(player, {}) if opponent_level(player) is not None else None
    person = people.person(player) or people.find(player)
    return shown_player(person.id, {person.id: person}) if person else None


def _public(page: Page[Summary], person: Person | None) -> Page[Summary]:
    """Return ``page`` without the private matches of others."""
    seen = person.id if person else None
    return page._replace(
        items=[
            item
            for item in page.items
            if not item.private or seen == item.creator or seen in {seat.player for seat in item.seats}
        ]
    )


def _listed(page: Page[Summary]) -> dict[str, Any]:
    """Return a page of matches in the words of the API, each with its summary, and the cursor of the next page."""
    persons = people_in(page.items)
    return {"items": [(item, match_summary(item, persons)) for item in page.items], "next": page.next}
