"""The page on which people find opponents, and that of one seek."""

from collections.abc import Mapping

from flask import abort, render_template, request

from api.access.auth import current_person
from api.operations.seeks import list_seeks, load_seek, own_room, own_seeks, show_seek
from api.pages import list_pages
from api.pages.layout import blueprint
from api.pages.player_page import game_title
from api.representations.seeks import Seek
from domain.contest.seek.decide import WHAT_BECAME
from domain.contest.seek.state import SeekStatus
from domain.contest.wishes import ANY_RATING, MAX_DAYS, MAX_MATCHES, MAX_RATING, Interval, SeekObstacle, games_of
from domain.match.enums import Aids
from domain.match.refusals import CommandError
from domain.search.budgets import MAX_SHORT_LEVEL
from events.contests.seeks import MAX_OPEN_SEEKS

SEEKS_PER_PAGE = 20
AIDS: Mapping[str, str] = {Aids.NONE: "no aids", Aids.BOOKS: "books as aids", Aids.ANYTHING: "any aids"}
SEATS = (2, 4)

WHY_HIDDEN: Mapping[str, str] = {
    SeekObstacle.RATED: "they are rated, and guests play unrated",
    SeekObstacle.RATING: "your rating is not the one sought",
    SeekObstacle.BLOCKED: "their authors and you do not play each other",
    SeekObstacle.NO_ROOM: "their authors have no room for another match now",
}


def terms_in_words(seek: Seek) -> list[str]:
    """Return the terms of a seek as sentences of a list."""
    days = Interval(seek.table.least_days, seek.table.most_days).in_days()
    games = [seek.table.game] if seek.table.game else list(seek.games)
    rating = Interval(seek.least_rating or 0, MAX_RATING if seek.most_rating is None else seek.most_rating)
    words = [" or ".join(map(game_title, games)), f"{days} a move", "rated" if seek.rated else "unrated"]
    if rating != ANY_RATING:
        words.append(f"for ratings of {rating.in_words()}")
    if seek.aids is not None:
        words.append(AIDS[seek.aids])
    if seek.count > 1:
        words.append(f"{seek.count - len(seek.matches)} of {seek.count} matches to begin, each against other people")
    if seek.seats > 2:
        words.append(f"{seek.seats - 1 - len(seek.table.takers)} of {seek.seats} seats free")
    return words


@blueprint.get("/seeks")
def seeks() -> str:
    """Return the form for a seek with the terms of the query, the own seeks, and those that can be taken."""
    person, cursor = current_person(), request.args.get("cursor")
    try:
        page = list_seeks(cursor, SEEKS_PER_PAGE)
    except ValueError:
        abort(404, list_pages.NO_SUCH_PAGE)
    seats = request.args.get("seats", "")
    return render_template(
        "seeks.html",
        page=page,
        own=[] if person is None else own_seeks(person),
        room=None if person is None else own_room(person.id),
        waits=[(game_title(game), days) for game, days in page.usual_days.items()],
        hidden=[f"{WHY_HIDDEN[reason]} ({number})" for reason, number in sorted(page.hidden.items())],
        games={number: [(game, game_title(game)) for game in games_of(number)] for number in SEATS},
        chosen={
            "games": request.args.getlist("games"),
            "rated": request.args.get("rated") == "true",
            "aids": request.args.get("aids"),
        },
        aids=AIDS,
        seats=int(seats) if seats in map(str, SEATS) else SEATS[0],
        days=[_number("least_days", MAX_DAYS, 2), _number("most_days", MAX_DAYS, 5)],
        rating=[_number(name, MAX_RATING, None) for name in ("least_rating", "most_rating")],
        count=_number("count", MAX_MATCHES, 1),
        max_open=MAX_OPEN_SEEKS,
        max_count=MAX_MATCHES,
        max_days=MAX_DAYS,
        terms_in_words=terms_in_words,
    )


def _number(name: str, most: int, otherwise: int | None) -> int | None:
    """Return a number of the query; ``otherwise`` where there is none, or one above ``most``."""
    text = request.args.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 5 and int(text) <= most else otherwise


@blueprint.get("/seeks/<seek_id>")
def seek_page(seek_id: str) -> str:
    """Return the page of a seek: the record and stakes before it is taken, its outcome when it is over."""
    try:
        state, _ = load_seek(seek_id)
    except CommandError as refusal:
        abort(404, f"{str(refusal).capitalize()}.")
    shown = show_seek(state)
    person, seek = current_person(), shown.seek
    return render_template(
        "seek.html",
        seek=seek,
        record=shown.author_record,
        stakes=shown.stakes,
        results=("a win", "a draw", "a loss") if seek.seats == 2 else ("1st", "2nd", "3rd", "4th"),
        usual_days=shown.usual_days,
        terms=terms_in_words(seek),
        became=WHAT_BECAME.get(SeekStatus(seek.status)),
        why_not=WHY_HIDDEN.get(seek.obstacle or ""),
        is_own=person is not None and person.id == seek.author.id,
        is_seated=person is not None and any(taker.id == person.id for taker in seek.table.takers),
        game_title=game_title,
        max_level=MAX_SHORT_LEVEL,
        open_from=state.posted_at,
    )
