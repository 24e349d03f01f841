"""The page that says how a player's rating in a pool came about, match by match, and what does not count."""

from flask import abort, render_template, request

from api.access.auth import current_person
from api.access.matches import listed_for
from api.pages.layout import blueprint
from api.pages.list_pages import pool_titles
from api.pages.match_lists import NO_SUCH_PAGE, NO_SUCH_PLAYER, find_player
from api.representations.rated_matches import represent_rated_matches
from api.services import services

MATCHES_PER_PAGE = 25

NO_SUCH_POOL = "There are no ratings of this name."


@blueprint.get("/players/<player>/ratings/<pool>")
def rating(player: str, pool: str) -> str:
    """Return how the rating came about, or, with ``view=unrated``, the matches that do not count."""
    shown = find_player(player)
    if shown is None:
        abort(404, NO_SUCH_PLAYER)
    titles = pool_titles()
    if pool not in titles:
        abort(404, NO_SUCH_POOL)
    person, readmodels, cursor = current_person(), services().readmodels, request.args.get("cursor")
    own = person is not None and person.id == shown.id
    unrated = request.args.get("view") == "unrated"
    try:
        rated = readmodels.rated_matches(shown.id, pool, None if unrated else cursor, MATCHES_PER_PAGE)
        other = readmodels.unrated_matches(
            shown.id, pool, cursor if unrated else None, MATCHES_PER_PAGE, public=not own
        )
    except ValueError:
        abort(404, NO_SUCH_PAGE)
    visible = listed_for(person, [match.match for match in rated.items])
    return render_template(
        "rating.html",
        player=shown,
        pool=pool,
        title=titles[pool],
        present=next((each for each in readmodels.ratings(shown.id) if each.pool == pool), None),
        matches=[] if unrated else represent_rated_matches(rated.items, visible),
        next=rated.next,
        unrated=other if unrated or not cursor else None,
        only_unrated=unrated,
    )
