"""A match to read: at any ply, its legal moves and its events."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from flask import Blueprint, Response
from marshmallow import validate
from msgspec import Meta

from api.access.auth import require_person
from api.access.matches import visible_match
from api.addresses import PREFIX
from api.endpoints import endpoint
from api.http.answers import Answer, Next, one_of
from api.http.conditions import (
    EXAMPLE_TAG,
    IF_NONE_MATCH_PARAMETER,
    TAG_PATTERN,
    VERSION_HEADER,
    VersionTagText,
    versioned,
)
from api.http.problems import Problem
from api.http.schemas import MAX_NUMBER, Paging, QueryInteger, StrictSchema, StrictString, page_limit, pattern
from api.operations.lists import OWED, AwaitedMatches, awaited_page, identify, invalid_cursor, match_page, owed
from api.representations.boards import Composition, Draft, Hint, represent_hints
from api.representations.matches import (
    Event,
    Match,
    MatchPage,
    MatchSummary,
    rematch_of,
    represent_event,
    represent_match,
    represent_summaries,
)
from api.services import services
from domain.match.enums import Status
from domain.match.guards import rules_of
from domain.match.state import MatchState
from events.matches.readmodels import Summary
from events.matches.readmodels.paging import Place, format_cursor, parse_cursor
from events.store.contract import Head, VersionTag, tag_of

blueprint = Blueprint("matches", __name__, url_prefix=PREFIX)


class LegalMoves(Answer):
    version: int
    version_tag: VersionTagText
    to_move: int | None
    demand: Annotated[
        str, Meta(description="What the rules demand of the player to move, such as a capture; empty if nothing")
    ]
    checked: Annotated[Sequence[str], Meta(description="The squares of the kings in check")]
    legal_moves: Sequence[str]
    hints: Mapping[str, Sequence[Hint]]
    compositions: Annotated[
        Sequence[Composition], Meta(description="Kinds of moves too many to list, to be put together part by part")
    ]
    draft: Annotated[Draft | None, Meta(description="The army that is to be set up now; null: none is")]


class EventPage(Answer):
    items: Sequence[Event]
    next: Annotated[str | None, Meta(description="What to pass as after for the next page")]


class PlyQuery(StrictSchema):
    ply = QueryInteger(0, MAX_NUMBER, load_default=None, allow_none=False)


class EventsQuery(StrictSchema):
    after = StrictString(
        load_default="0",
        validate=pattern(
            f"[0-9]{{1,15}}|{TAG_PATTERN}", f"must be a version or the version_tag of an answer, such as {EXAMPLE_TAG}"
        ),
        about="A version, or the version tag of the last event that is known: then the answer is 409 "
        "stale-version when that event is no longer part of the match",
    )
    limit = page_limit(500, 1000)


@blueprint.get("/matches/<match_id>")
@endpoint(
    answer=Match,
    query=PlyQuery,
    problems=[404],
    headers=VERSION_HEADER,
    parameters=[IF_NONE_MATCH_PARAMETER],
    also=[304],
)
def show_match(query: Mapping[str, Any], match_id: str) -> Response:
    """Show a match

    As it stands, or with the position after an earlier ply.
    """
    (state, head, *_), ply = visible_match(match_id), query["ply"]
    if ply is not None and ply > len(state.play.moves):
        raise Problem("invalid-fields", f"{len(state.play.moves)} moves have been played.", {"ply": ["is yet to come"]})
    # A rematch changes the answer but not the version: a caller who knows the version may not know of the rematch.
    return versioned(head, lambda: represent_match(state, head, ply), settled=rematch_of(state) is None)


@blueprint.get("/matches/<match_id>/legal-moves")
@endpoint(answer=LegalMoves, problems=[404], headers=VERSION_HEADER, parameters=[IF_NONE_MATCH_PARAMETER], also=[304])
def list_legal_moves(match_id: str) -> Response:
    """List the legal moves

    All of them as strings, and by first square for a board; none unless the match is being played. `version_tag`
    names the position that they belong to: send it as If-Match with the move.
    """
    state, head, *_ = visible_match(match_id)
    return versioned(head, lambda: _legal_moves(state, head))


@blueprint.get("/matches/<match_id>/events")
@endpoint(answer=EventPage, query=EventsQuery, problems=[404, 409])
def list_events(query: Mapping[str, Any], match_id: str) -> EventPage:
    """List the events of a match

    The history of the match, from the first event after a version on.
    """
    state, store, after, limit = visible_match(match_id).state, services().store, query["after"], query["limit"]
    tag = VersionTag.parse(after)
    events = store.read(match_id, int(after), limit) if tag is None else store.read_on(match_id, tag, limit)
    more = bool(events) and events[-1].version < state.version
    return EventPage(items=[represent_event(event) for event in events], next=str(tag_of(events[-1])) if more else None)


def _legal_moves(state: MatchState, head: Head) -> LegalMoves:
    if state.status != Status.PLAYING or state.play.broken is not None:
        return LegalMoves(
            version=head.version,
            version_tag=str(head.tag),
            to_move=None,
            demand="",
            checked=(),
            legal_moves=(),
            hints={},
            compositions=(),
            draft=None,
        )
    game, position = rules_of(state), state.play.position
    draft = game.draft(position)
    return LegalMoves(
        version=head.version,
        version_tag=str(head.tag),
        to_move=game.to_move(position),
        demand=game.demand(position),
        checked=game.scene(position).checked,
        legal_moves=[game.format_move(position, move) for move in game.legal_moves(position)],
        hints=represent_hints(game.hints(position)),
        compositions=list(map(Composition.of, game.compositions(position))),
        draft=None if draft is None else Draft.of(draft),
    )


lists_blueprint = Blueprint("lists", __name__, url_prefix=PREFIX)


class PendingMatch(Answer):
    owed: Annotated[str, one_of(OWED)]
    match: MatchSummary


class PendingPage(Answer):
    items: Sequence[PendingMatch]
    next: Next


class MatchesQuery(Paging):
    view = StrictString(load_default="recent", validate=validate.OneOf(["open", "recent"]))
    game = StrictString(1, 60)
    player = StrictString(1, 60)


class OwnMatchesQuery(Paging):
    view = StrictString(load_default="active", validate=validate.OneOf(["active", "finished", "invited"]))


@lists_blueprint.get("/matches")
@endpoint(answer=MatchPage, query=MatchesQuery, problems=[404])
def list_matches(query: Mapping[str, Any]) -> MatchPage:
    """List public matches

    Open ones to join, or the latest ones; of one game or one player if asked for.
    """
    player = identify(query["player"]) if "player" in query else None
    return match_page(query["view"], query, player=player, game=query.get("game"), public=True)


@lists_blueprint.get("/me/matches")
@endpoint(answer=MatchPage, query=OwnMatchesQuery, signed_in=True)
def list_own_matches(query: Mapping[str, Any]) -> MatchPage:
    """List the caller's matches

    Private ones are listed too.
    """
    return match_page(query["view"], query, player=require_person().id)


@lists_blueprint.get("/me/pending")
@endpoint(answer=PendingPage, query=Paging, signed_in=True, conditional=True)
def list_pending(query: Mapping[str, Any]) -> PendingPage:
    """List what awaits the caller

    Matches to move in come first, then draws, takebacks and invitations to answer; within each group the oldest
    first.
    """
    player, limit = require_person().id, query["limit"]
    awaited = AwaitedMatches(player)
    following: str | None = query.get("cursor", FIRST_PENDING)
    pending: list[Summary] = []
    while following is not None and len(pending) < limit and not awaited.exhausted:
        phase, cursor = _pending_place(following)
        page = awaited_page(awaited, "awaiting", cursor, limit - len(pending))
        pending += [summary for summary in page.items if (owed(summary, player) == "move") == (phase == MOVES)]
        if page.next is not None:
            following = _pending_cursor(phase, page.next)
        else:
            following = _pending_cursor(REST, None) if phase == MOVES else None
    return _represent_pending(pending, player, following)


MOVES, REST = "moves", "rest"
"""The groups of the list of matches that await the caller: each is a pass over the matches."""


def _pending_cursor(phase: str, cursor: str | None) -> str:
    """Return the cursor of the page of a group that begins after ``cursor`` (None: at the first match)."""
    place = parse_cursor(cursor) or Place(0, "")
    return format_cursor(place._replace(member=f"{phase}:{place.member}"))


FIRST_PENDING = _pending_cursor(MOVES, None)


def _pending_place(cursor: str) -> tuple[str, str | None]:
    """Return the group that a cursor names, and the cursor within it."""
    try:
        place = parse_cursor(cursor) or Place(0, "")
    except ValueError as error:
        raise invalid_cursor() from error
    phase, _, match_id = place.member.partition(":")
    if phase not in (MOVES, REST):
        raise invalid_cursor()
    return phase, format_cursor(place._replace(member=match_id)) if match_id else None


@lists_blueprint.get("/me/queue")
@endpoint(answer=PendingPage, query=Paging, signed_in=True, conditional=True)
def list_queue(query: Mapping[str, Any]) -> PendingPage:
    """List what awaits the caller by deadline

    The nearest deadline comes first, so the next match to turn to is always the first one.
    """
    player = require_person().id
    page = awaited_page(AwaitedMatches(player), "queue", query.get("cursor"), query["limit"])
    return _represent_pending(page.items, player, page.next)


def _represent_pending(summaries: Sequence[Summary], player: str, following: str | None) -> PendingPage:
    matches = zip(summaries, represent_summaries(summaries), strict=True)
    return PendingPage(
        items=[PendingMatch(owed=owed(summary, player), match=match) for summary, match in matches], next=following
    )
