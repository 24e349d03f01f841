"""Feeds and the calendar, for programs: notices to a player, events of a match, and deadlines.

A public match has a feed that everybody may read. All else is read at the secret address that its owner has made; the
address takes the place of signing in, and cookies count for nothing here. Only the feed of a match loads a match.
"""

from collections.abc import Sequence
from hashlib import sha256

from flask import Response, request, url_for

from api.access.auth import own_origin
from api.access.matches import may_see
from api.http.problems import Problem, no_such_match
from api.operations.lists import owed
from api.pages.announcements import Audience, describe_each
from api.pages.layout import blueprint
from api.pages.wording import instant
from api.representations import feeds
from api.representations.matches import foresee_deadlines, people_in, represent_summary
from api.services import services
from domain.games import GAMES
from domain.match.state import MatchState
from events.matches.readmodels import Summary, summarise
from events.notify.notice import Notice
from events.notify.wording import enumerated, headline, news_of, page_of
from events.people.blocks import blocked_by, names_of_others
from events.people.person import Person
from events.store.codec import event_of

MAX_ENTRIES = 50
"""Of the feed of a player."""

MAX_EVENTS = 40
"""Of the feed of a match."""

PRIVATE = "private, max-age=300"
PUBLIC = "public, max-age=60"

_TO_DO = {"move": "Your move", "invitation": "Answer the invitation"}
_OTHERWISE = {
    "move": "Your time for this move is up then.",
    "invitation": "The match is cancelled then, unless all have answered.",
}
_DUE = frozenset(_TO_DO)


@blueprint.get("/feeds/<secret>/deadlines.ics")
def deadlines_ics(secret: str) -> Response:
    """Return the deadlines of the owner of a secret address as a calendar."""
    player = _owner(secret)
    page = services().readmodels.matches("queue", player, limit=feeds.MAX_DEADLINES)
    foreseen, persons = foresee_deadlines(page.items)
    summaries = [match for match in foreseen if match.deadline and owed(match, player) in _DUE]
    blocked = blocked_by(services().blocks, player)
    deadlines = []
    for summary in summaries:
        todo = owed(summary, player)
        others = names_of_others(summary.seats, player, persons, blocked)
        against = f" against {enumerated(others)}" if others else ""
        deadlines.append(
            feeds.Deadline(
                subject=summary.match,
                version=summary.version,
                at=summary.deadline or 0,
                changed_at=summary.updated_at,
                title=f"{_TO_DO[todo]}: {_game_title(summary.game)}{against}",
                description=_OTHERWISE[todo],
                url=absolute(url_for("web.match_page", match_id=summary.match)),
            )
        )
    content = feeds.write_calendar(deadlines, services().preferences.read(player).remind_before_h)
    return document(content, feeds.CALENDAR_TYPE, PRIVATE)


@blueprint.get("/feeds/<secret>/matches.atom")
def notice_feed(secret: str) -> Response:
    """Return the feed of notices to the owner of a secret address."""
    player = _owner(secret)
    address = services().feed_addresses.of(player)
    notices = services().ledger.page(player, limit=MAX_ENTRIES).notices
    feed = feeds.Feed(
        id=feeds.atom_id("player", player),
        title="Rookery: your matches",
        subtitle=f"What you were told of: the last {MAX_ENTRIES} notices, without those that you have erased.",
        updated=max([notice.decided_at for notice in notices], default=address.created_at if address else 0),
        link=absolute(url_for("web.notices")),
        self_link=absolute(request.path),
        entries=_notice_entries(player, notices),
    )
    return document(feeds.write_feed(feed), feeds.MEDIA_TYPE, PRIVATE)


@blueprint.get("/matches/<match_id>/feed.atom")
def match_feed(match_id: str) -> Response:
    """Return the feed of a public match."""
    return _match_feed(match_id, None, PUBLIC)


@blueprint.get("/feeds/<secret>/matches/<match_id>.atom")
def match_feed_at_secret(secret: str, match_id: str) -> Response:
    """Return the feed of a match that the owner of a secret address may see."""
    return _match_feed(match_id, services().people.person(_owner(secret)), PRIVATE)


def _owner(secret: str) -> str:
    player = services().feed_addresses.owner(secret)
    if player is None:
        raise Problem("not-found", "There is no feed here: its owner has revoked the address, or made another one.")
    return player


def _match_feed(match_id: str, reader: Person | None, cache: str) -> Response:
    """Return the feed of a match for ``reader`` (None: anybody)."""
    state = services().matches.load(match_id).state
    if not may_see(state, reader):
        raise no_such_match()
    summary = summarise(state)
    shown = represent_summary(summary, people_in([summary]))
    players = [seat.player.name if seat.player else "an open seat" for seat in shown.seats]
    seat_names = tuple(seat.name for seat in shown.seats)
    audience = Audience(state, None, tuple(players), seat_names, tuple(state.play.moves))
    link = absolute(url_for("web.match_page", match_id=match_id))
    feed = feeds.Feed(
        id=feeds.atom_id("match", match_id),
        title=f"{shown.game.title}: {enumerated(players)}",
        subtitle=f"What has happened in this match: its last {MAX_EVENTS} events.",
        updated=state.updated_at,
        link=link,
        self_link=absolute(request.path),
        entries=_event_entries(state, audience, link),
    )
    return document(feeds.write_feed(feed), feeds.MEDIA_TYPE, cache)


def _event_entries(state: MatchState, audience: Audience, link: str) -> list[feeds.Entry]:
    """Return the latest events of a match, those of which players see something, the last one first."""
    stored = services().store.read(state.match_id, max(0, state.version - MAX_EVENTS), MAX_EVENTS)
    sentences = describe_each([event_of(envelope) for envelope in stored], audience)
    return [
        feeds.Entry(
            id=feeds.atom_id("event", envelope.id),
            title=sentence,
            updated=envelope.at,
            link=link,
            category=envelope.type,
        )
        for envelope, sentence in reversed(list(zip(stored, sentences, strict=True)))
        if sentence
    ]


def _notice_entries(player: str, notices: Sequence[Notice]) -> list[feeds.Entry]:
    wanted = list(dict.fromkeys(notice.match for notice in notices if notice.match is not None))
    shown = [projected.summary for projected in services().readmodels.projected(wanted) if projected is not None]
    summaries = {summary.match: summary for summary in shown}
    persons, blocked = people_in(shown), blocked_by(services().blocks, player)

    def title(notice: Notice) -> str:
        summary: Summary | None = summaries.get(notice.match or "")
        if summary is None:
            return notice.summary
        others = names_of_others(summary.seats, player, persons, blocked)
        return headline([news_of(notice.fact)], _game_title(summary.game), others)

    return [
        feeds.Entry(
            id=feeds.atom_id("notice", notice.id),
            title=title(notice),
            updated=notice.at,
            link=absolute(page_of(notice.fact, notice.match)),
            content=notice.summary
            + ("" if notice.deadline is None else f" You have until {instant(notice.deadline)}."),
            category=notice.kind,
        )
        for notice in notices
    ]


def _game_title(game: str) -> str:
    return GAMES[game].title if game in GAMES else game


def absolute(path: str) -> str:
    """Return the address of a page of this site."""
    return f"{own_origin()}{path}"


def document(content: bytes, media_type: str, cache: str) -> Response:
    """Return ``content``, or 304 if the caller has it."""
    tag = sha256(content).hexdigest()[:16]
    unchanged = request.if_none_match.contains_weak(tag)
    response = Response(
        None if unchanged else content, 304 if unchanged else 200, content_type=f"{media_type}; charset=utf-8"
    )
    response.headers["Cache-Control"] = cache
    response.set_etag(tag)
    return response
