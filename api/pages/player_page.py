"""The page of a player, with a chart of ratings, and that of a rating: how it came about."""

from collections.abc import Sequence

from flask import abort, render_template, request
from markupsafe import Markup
from werkzeug.wrappers import Response

from api.access.auth import current_person
from api.access.matches import listed_for
from api.operations.people import player_record
from api.operations.seeks import own_room
from api.operations.tournaments import tournaments_of
from api.pages import list_pages
from api.pages.layout import blueprint
from api.representations.ratings import PublicChange, public_changes, represent_rated_matches
from api.representations.tournaments import ListedTournament
from api.services import services
from domain.games import GAMES
from domain.match.terms import duration
from events.matches.readmodels import Page
from events.matches.readmodels.standings import PROVISIONAL_DEVIATION
from events.people.capacity import Capacity, Invitations
from events.people.person import Person

INVITATIONS = {
    Invitations.ANYONE: "It takes invitations",
    Invitations.NO_BOTS: "It takes invitations, but not from other bots",
    Invitations.NOBODY: "It takes no invitations and joins matches by itself",
}


def capacity_sentences(capacity: Capacity, matches: int) -> list[str]:
    """Return the capacity of a bot in words, with ``matches`` matches in play."""
    games = [game_title(name) for name in capacity.games]
    *others, last = games or ["nothing at present"]
    free = max(0, capacity.concurrent - matches)
    number = "1 match" if capacity.concurrent == 1 else f"{capacity.concurrent} matches"
    sentences = [f"It plays {', '.join(others) + ' and ' if others else ''}{last}."]
    if capacity.concurrent:
        sentences.append(f"It plays {number} at once, and can begin {free or 'none'} now.")
    else:
        sentences.append("It takes no new matches at present.")
    if not capacity.rated:
        sentences.append("It plays unrated matches only.")
    if not capacity.private:
        sentences.append("It plays public matches only.")
    if capacity.min_move_ms is not None:
        sentences.append(f"It needs {duration(capacity.min_move_ms)} for every move.")
    if capacity.max_move_ms is not None:
        sentences.append(f"No move may take longer than {duration(capacity.max_move_ms)}.")
    accepting = ", which the server accepts for it at once" if capacity.accepts_at_once else ""
    sentences.append(f"{INVITATIONS[capacity.invitations]}{accepting}.")
    return sentences


def game_title(name: str) -> str:
    """Return the title of a game as capacities name it, with that of the setup if ``name`` names one of several."""
    id, _, setup = name.partition("/")
    game = GAMES.get(id)
    if game is None:
        return name
    has_several = setup in game.setups and len(game.setups) > 1
    return f"{game.title} ({game.setups[setup].title})" if has_several else game.title


WIDTH, HEIGHT = 600, 150
MARGIN = 40
"""Room for the labels on the left; lengths are in units of the chart."""

STEPS = (10, 25, 50, 100, 250, 500, 1000)
MAX_GRID_LINES = 5

_CHART = Markup(
    '<svg class="chart" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
    'aria-label="{label}">{grid}<polyline points="{points}"/></svg>'
)
_GRID_LINE = Markup('<path d="M{margin} {y:.1f}H{width}"/><text x="{x}" y="{y:.1f}" dy=".35em">{rating}</text>')


def rating_chart(changes: Sequence[PublicChange], title: str) -> Markup:
    """Return the SVG element of ``changes``, which are in the order of time; empty for fewer than two changes."""
    if len(changes) < 2:
        return Markup()
    ratings = [changes[0].before, *(change.after for change in changes)]
    step = next((step for step in STEPS if (max(ratings) - min(ratings)) / step < MAX_GRID_LINES - 1), STEPS[-1])
    low, high = min(ratings) // step * step, -(-max(ratings) // step) * step
    span = max(high - low, step)

    def height(rating: float) -> float:
        return HEIGHT - 8 - (rating - low) / span * (HEIGHT - 16)

    points = " ".join(
        f"{MARGIN + number * (WIDTH - MARGIN - 8) / (len(ratings) - 1):.1f},{height(rating):.1f}"
        for number, rating in enumerate(ratings)
    )
    grid = Markup().join(
        _GRID_LINE.format(margin=MARGIN, width=WIDTH, x=MARGIN - 6, y=height(rating), rating=rating)
        for rating in range(round(low), round(low + span) + 1, step)
    )
    label = f"{title}: from {round(ratings[0])} to {round(ratings[-1])} in {len(changes)} changes"
    return _CHART.format(width=WIDTH, height=HEIGHT, label=label, grid=grid, points=points)


MAX_CHANGES_CHARTED = 200
"""Rated matches of a pool in the chart of a player, the latest ones."""

MAX_CHANGES_LISTED = 12
"""Rated matches listed below the chart, the latest ones."""

TOURNAMENTS_PER_PAGE = 10

VIEWS = {"active": "Being played", "finished": "Finished"}


@blueprint.get("/players/<player>")
def player(player: str) -> str | Response:
    """Return a player's ratings and matches and, for a signed-in viewer, the score against them."""
    shown = list_pages.find_player(player)
    if shown is None:
        abort(404, list_pages.NO_SUCH_PLAYER)
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
        pools=list_pages.pool_titles(),
        history=_rating_history(shown.id, [rating.pool for rating in ratings], person),
        max_listed=MAX_CHANGES_LISTED,
        max_deviation=PROVISIONAL_DEVIATION,
        chart=rating_chart,
        games=GAMES,
        follows=services().follows.has(other.id, shown.id) if other and not shown.level else None,
        record=None if shown.level else player_record(shown.id),
        free=None if shown.level else own_room(shown.id).room,
        tournaments=_tournaments(shown.id),
        relation=services().blocks.of(other.id).get(shown.id, "") if other and not shown.level else None,
        against=services().readmodels.head_to_head(other.id, shown.id) if other else None,
        sections=_sections(shown.id, public=not own),
    )


def _tournaments(player: str) -> Page[ListedTournament]:
    """Return the requested page of the tournaments of a player; abort with 404 for an invalid cursor."""
    try:
        return tournaments_of(player, request.args.get("tournaments"), TOURNAMENTS_PER_PAGE)
    except ValueError:
        abort(404, list_pages.NO_SUCH_PAGE)


def _rating_history(player: str, pools: list[str], viewer: Person | None) -> dict[str, list[PublicChange]]:
    """Return the latest rating changes by pool, as ``viewer`` may see them."""
    readmodels = services().readmodels
    recent = {pool: readmodels.rating_history(player, pool)[-MAX_CHANGES_CHARTED:] for pool in pools}
    listed = listed_for(viewer, [change.match for changes in recent.values() for change in changes])
    return {pool: public_changes(changes, listed) for pool, changes in recent.items()}


def _sections(player: str, *, public: bool) -> list[list_pages.ListSection]:
    """Return the matches of the player in the requested view, or in all views."""
    requested = request.args.get("view")
    cursor = request.args.get("cursor")
    sections = []
    for view, title in VIEWS.items():
        if requested not in (None, view):
            continue
        place = cursor if requested == view else None
        if view == "finished":
            sections.append(list_pages.finished_section(title, player, place, public=public))
        else:
            page = list_pages.page_of(view, player=player, cursor=place, public=public)
            sections.append(list_pages.ListSection(view=view, title=title, page=page))
    return list_pages.with_matches(sections)


MATCHES_PER_PAGE = 25

NO_SUCH_POOL = "There are no ratings of this name."


@blueprint.get("/players/<player>/ratings/<pool>")
def rating(player: str, pool: str) -> str:
    """Return how the rating came about, or, with ``view=unrated``, the matches that do not count."""
    shown = list_pages.find_player(player)
    if shown is None:
        abort(404, list_pages.NO_SUCH_PLAYER)
    titles = list_pages.pool_titles()
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
        abort(404, list_pages.NO_SUCH_PAGE)
    visible = listed_for(person, [match.match for match in rated.items])
    return render_template(
        "rating.html",
        player=shown,
        pool=pool,
        title=titles[pool],
        present=next((rating for rating in readmodels.ratings(shown.id) if rating.pool == pool), None),
        matches=[] if unrated else represent_rated_matches(rated.items, visible),
        next=rated.next,
        unrated=other if unrated or not cursor else None,
        only_unrated=unrated,
    )
