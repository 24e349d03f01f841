"""The page on which people are found, with those whom the reader follows."""

from flask import abort, render_template, request

from api.access.auth import current_person
from api.operations.people import PeopleQuery, find_people, followed_people
from api.pages import list_pages
from api.pages.layout import blueprint
from api.representations.people import FoundPlayer
from domain.contest.wishes import MAX_RATING
from events.matches.readmodels import Page
from events.people.names import MAX_NAME_CHARACTERS

PEOPLE_PER_PAGE = 20

SEEN = {"": "At any time", "7": "In the last 7 days", "30": "In the last 30 days"}


@blueprint.get("/people")
def people() -> str:
    """Return the people who fit the query, and on its first page without one those whom the reader follows."""
    person, cursor, pools = current_person(), request.args.get("cursor"), list_pages.pool_titles()
    pool, seen = request.args.get("pool"), request.args.get("seen_days", "")
    query = PeopleQuery(
        beginning=request.args.get("name", "").strip()[:MAX_NAME_CHARACTERS],
        pool=pool if pool in pools else None,
        least_rating=_rating("least_rating", 0),
        most_rating=_rating("most_rating", MAX_RATING),
        has_room=request.args.get("room") == "true",
        seen_days=int(seen) if seen and seen in SEEN else None,
    )
    is_first = cursor is None and query == PeopleQuery()
    followed: Page[FoundPlayer] = Page([], None)
    try:
        page = find_people(query, cursor, PEOPLE_PER_PAGE)
        if person is not None and is_first:
            followed = followed_people(person, request.args.get("followed"), PEOPLE_PER_PAGE)
    except ValueError:
        abort(404, list_pages.NO_SUCH_PAGE)
    return render_template(
        "people.html", query=query, page=page, pools=pools, seen=SEEN, max_rating=MAX_RATING, followed=followed
    )


def _rating(name: str, otherwise: int) -> int:
    text = request.args.get(name, "")
    return min(int(text), MAX_RATING) if text.isascii() and text.isdigit() and len(text) < 6 else otherwise
