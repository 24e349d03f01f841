"""Lists of matches: public ones, the caller's own, and what awaits the caller."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from flask import Blueprint
from marshmallow import validate

from api.access.auth import require_person
from api.addresses import PREFIX
from api.endpoints import endpoint
from api.http.answers import Answer, Next, one_of
from api.http.schemas import Paging, StrictString
from api.operations.lists import OWED, AwaitedMatches, awaited_page, identify, invalid_cursor, match_page, owed
from api.representations.matches import MatchPage, MatchSummary, represent_summaries
from events.readmodels import Summary

blueprint = Blueprint("lists", __name__, url_prefix=PREFIX)


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


@blueprint.get("/matches")
@endpoint(answer=MatchPage, query=MatchesQuery, problems=[404])
def list_matches(query: Mapping[str, Any]) -> MatchPage:
    """List public matches

    Open ones to join, or the latest ones; of one game or one player if asked for.
    """
    player = identify(query["player"]) if "player" in query else None
    return match_page(query["view"], query, player=player, game=query.get("game"), public=True)


@blueprint.get("/me/matches")
@endpoint(answer=MatchPage, query=OwnMatchesQuery, signed_in=True)
def list_own_matches(query: Mapping[str, Any]) -> MatchPage:
    """List the caller's matches

    Private ones are listed too.
    """
    return match_page(query["view"], query, player=require_person().id)


@blueprint.get("/me/pending")
@endpoint(answer=PendingPage, query=Paging, signed_in=True, conditional=True)
def list_pending(query: Mapping[str, Any]) -> PendingPage:
    """List what awaits the caller

    Matches to move in come first, then draws, takebacks and invitations to answer; within each group the oldest
    first.
    """
    player, limit = require_person().id, query["limit"]
    awaited = AwaitedMatches(player)
    phase, _, cursor = query.get("cursor", "moves:").partition(":")
    if phase not in ("moves", "rest"):
        raise invalid_cursor()
    pending: list[Summary] = []
    following: str | None = f"{phase}:{cursor}"
    while following is not None and len(pending) < limit and not awaited.exhausted:
        page = awaited_page(awaited, "awaiting", cursor or None, limit - len(pending))
        pending += [summary for summary in page.items if (owed(summary, player) == "move") == (phase == "moves")]
        if page.next is not None:
            cursor, following = page.next, f"{phase}:{page.next}"
        elif phase == "moves":
            phase, cursor, following = "rest", "", "rest:"
        else:
            following = None
    return _represent(pending, player, following)


@blueprint.get("/me/queue")
@endpoint(answer=PendingPage, query=Paging, signed_in=True, conditional=True)
def list_queue(query: Mapping[str, Any]) -> PendingPage:
    """List what awaits the caller by deadline

    The nearest deadline comes first, so the next match to turn to is always the first one.
    """
    player = require_person().id
    page = awaited_page(AwaitedMatches(player), "queue", query.get("cursor"), query["limit"])
    return _represent(page.items, player, page.next)


def _represent(summaries: Sequence[Summary], player: str, following: str | None) -> PendingPage:
    matches = zip(summaries, represent_summaries(summaries), strict=True)
    return PendingPage(
        items=[PendingMatch(owed=owed(summary, player), match=match) for summary, match in matches], next=following
    )
