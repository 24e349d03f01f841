"""The page of a player: ratings, matches, and the score against the viewer."""

from flask import abort, render_template, request
from werkzeug.wrappers import Response

from api.access.auth import current_person
from api.access.matches import listed_for
from api.pages.bot_wording import capacity_sentences
from api.pages.layout import blueprint
from api.pages.list_pages import pool_titles
from api.pages.match_lists import NO_SUCH_PLAYER, Section, find_player, finished_section, page_of, represented
from api.pages.rating_chart import rating_chart
from api.representations.ratings import PublicChange, public_changes
from api.services import services
from domain.games import GAMES
from events.people.person import Person
from events.readmodels.standings import PROVISIONAL_DEVIATION

MAX_CHANGES_CHARTED = 200
"""Rated matches of a pool in the chart of a player, the latest ones."""

MAX_CHANGES_LISTED = 12
"""Rated matches listed below the chart, the latest ones."""

VIEWS = {"active": "Being played", "finished": "Finished"}


@blueprint.get("/players/<player>")
def player(player: str) -> str | Response:
    """Return a player's ratings and matches and, for a signed-in viewer, the score against them."""
    shown = find_player(player)
    if shown is None:
        abort(404, NO_SUCH_PLAYER)
    person = current_person()
    own = person is not None and person.id == shown.id
    ratings = services().readmodels.ratings(shown.id)
    other = person if not own else None
    bot = services().bots.among([shown.id]).get(shown.id) if shown.kind == "bot" else None
    return render_template(
        "player.html",
        player=shown,
        bot=capacity_sentences(bot.capacity, services().readmodels.engagements([bot.id])[bot.id]) if bot else None,
        ratings=ratings,
        pools=pool_titles(),
        history=_rating_history(shown.id, [rating.pool for rating in ratings], person),
        max_listed=MAX_CHANGES_LISTED,
        max_deviation=PROVISIONAL_DEVIATION,
        chart=rating_chart,
        games=GAMES,
        relation=services().blocks.of(other.id).get(shown.id, "") if other and not shown.level else None,
        against=services().readmodels.head_to_head(other.id, shown.id) if other else None,
        sections=_sections(shown.id, public=not own),
    )


def _rating_history(player: str, pools: list[str], viewer: Person | None) -> dict[str, list[PublicChange]]:
    """Return the latest rating changes by pool, as ``viewer`` may see them."""
    readmodels = services().readmodels
    recent = {pool: readmodels.rating_history(player, pool)[-MAX_CHANGES_CHARTED:] for pool in pools}
    listed = listed_for(viewer, [change.match for changes in recent.values() for change in changes])
    return {pool: public_changes(changes, listed) for pool, changes in recent.items()}


def _sections(player: str, *, public: bool) -> list[Section]:
    """Return the matches of the player in the requested view, or in all views."""
    requested = request.args.get("view")
    cursor = request.args.get("cursor")
    sections = []
    for view, title in VIEWS.items():
        if requested not in (None, view):
            continue
        place = cursor if requested == view else None
        if view == "finished":
            sections.append(finished_section(title, player, place, public=public))
        else:
            page = page_of(view, player=player, cursor=place, public=public)
            sections.append(Section(view=view, title=title, matches=represented(page)))
    return sections
