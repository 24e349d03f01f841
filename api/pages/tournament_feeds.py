"""The feed and the calendar of a tournament, for programs: everybody may read them."""

from flask import Response, request, url_for

from api.operations.tournaments import load_tournament
from api.pages.feeds import PUBLIC, absolute, document
from api.pages.layout import blueprint
from api.pages.tournament_news import latest_news
from api.representations import feeds
from domain.contest.tournament.state import TournamentStatus

MAX_ENTRIES = 40


@blueprint.get("/tournaments/<id>/feed.atom")
def tournament_feed(id: str) -> Response:
    """Return the feed of a tournament: its latest events."""
    shown = load_tournament(id)
    link = absolute(url_for("web.tournament", id=id))
    feed = feeds.Feed(
        id=feeds.atom_id("tournament", id),
        title=f"Tournament: {shown.state.terms.title}",
        subtitle=f"What has happened in this tournament: its last {MAX_ENTRIES} events.",
        updated=shown.state.updated_at,
        link=link,
        self_link=absolute(request.path),
        entries=[
            feeds.Entry(
                id=feeds.atom_id("event", news.envelope.id),
                title=news.sentence,
                updated=news.envelope.at,
                link=link,
                category=news.envelope.type,
            )
            for news in latest_news(shown, MAX_ENTRIES)
        ],
    )
    return document(feeds.write_feed(feed), feeds.MEDIA_TYPE, PUBLIC)


@blueprint.get("/tournaments/<id>/dates.ics")
def tournament_dates(id: str) -> Response:
    """Return the start and the latest end of a tournament as a calendar; no dates when it is over."""
    state = load_tournament(id).state
    title = state.terms.title
    dates = {}
    if state.status == TournamentStatus.ENTRIES:
        dates["start"] = (state.starts_at, f"Start: {title}", "Until then entries can be made and taken back.")
    if state.status in (TournamentStatus.ENTRIES, TournamentStatus.RUNNING):
        dates["end"] = (state.terms.latest_end, f"Latest end: {title}", "After it no match of the tournament starts.")
    deadlines = [
        feeds.Deadline(
            subject=f"{id}/{name}",
            version=state.version,
            at=at,
            changed_at=state.updated_at,
            title=words,
            description=consequence,
            url=absolute(url_for("web.tournament", id=id)),
        )
        for name, (at, words, consequence) in dates.items()
    ]
    name = f"Tournament: {title}"
    content = feeds.write_calendar(deadlines, 0, name, "The start and the latest end of the tournament.")
    return document(content, feeds.CALENDAR_TYPE, PUBLIC)
