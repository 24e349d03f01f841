"""Players and how they rank: profiles, ratings, matches, head to head, leaderboards."""

from typing import Any

from flask import Response
from marshmallow import fields, validate

from api.access.auth import current_person
from api.access.matches import listed_for
from api.http import representations as show
from api.http.openapi import PREFIX, Blueprint, json_response
from api.http.problems import Problem
from api.http.schemas import Paging, PlayerShown, Shown, Text
from api.operations.lists import bad_cursor, identify, matches_page
from api.rating_history import day_of, shown_changes
from api.resources.lists import MatchesShown
from api.services import services
from events.readmodels import PlayerRating
from events.runtime.wall_clock import rfc3339

blueprint = Blueprint("players", __name__, url_prefix=PREFIX, description="Players, ratings, leaderboards")


class RatingShown(Shown):
    pool = fields.String(metadata={"description": "A game and a number of seats, like bashni-2"})
    rating = fields.Float()
    deviation = fields.Float()
    volatility = fields.Float()
    matches = fields.Integer()
    provisional = fields.Boolean()
    updated_at = fields.DateTime(metadata={"description": "The UTC day of the last rated match"})


class ProfileShown(PlayerShown):
    ratings = fields.List(fields.Nested(RatingShown))


class RatingsShown(Shown):
    items = fields.List(fields.Nested(RatingShown))


class RatingChangeShown(Shown):
    match = fields.String(allow_none=True, metadata={"description": "null: private matches of others"})
    at = fields.DateTime(metadata={"description": "The end of the match; of private matches of others only the day"})
    before = fields.Float()
    after = fields.Float()
    deviation = fields.Float()


class RatingHistoryShown(Shown):
    items = fields.List(fields.Nested(RatingChangeShown))


class ScoreShown(Shown):
    pool = fields.String()
    wins = fields.Integer()
    draws = fields.Integer()
    losses = fields.Integer()


class HeadToHeadShown(Shown):
    items = fields.List(fields.Nested(ScoreShown))


class PoolsShown(Shown):
    items = fields.List(fields.String())


class RankedShown(RatingShown):
    player = fields.Nested(PlayerShown)


class LeaderboardShown(Shown):
    items = fields.List(fields.Nested(RankedShown))
    next = fields.String(allow_none=True)


class PlayersMatchesQuery(Paging):
    view = Text(load_default="recent", validate=validate.OneOf(["recent", "active", "finished"]))


@blueprint.route("/players/<player>")
@blueprint.documents(200, ProfileShown, problems=[404])
def show_player(player: str) -> Response:
    """A player by id or name, with the ratings"""
    id = identify(player)
    persons = services().people.persons([id])
    return json_response({**show.player(id, persons), "ratings": _ratings(id)})


@blueprint.route("/players/<player>/ratings")
@blueprint.documents(200, RatingsShown, problems=[404])
def player_ratings(player: str) -> Response:
    """The ratings of a player, one per pool"""
    return json_response({"items": _ratings(identify(player))})


@blueprint.route("/players/<player>/ratings/<pool>/history")
@blueprint.documents(200, RatingHistoryShown, problems=[404])
def rating_history(player: str, pool: str) -> Response:
    """How a rating has changed, match by match; empty for a pool without matches of the player"""
    history = services().readmodels.rating_history(identify(player), pool)
    seen = listed_for(current_person(), [change.match for change in history])
    items = [{**change._asdict(), "at": rfc3339(change.at)} for change in shown_changes(history, seen)]
    return json_response({"items": items})


@blueprint.route("/players/<player>/matches")
@blueprint.documents(200, MatchesShown, problems=[404, 422])
@blueprint.arguments(PlayersMatchesQuery, location="query")
def player_matches(query: dict[str, Any], player: str) -> Response:
    """The public matches of a player"""
    return matches_page(query["view"], query, identify(player), public=True)


@blueprint.route("/players/<player>/head-to-head/<other>")
@blueprint.documents(200, HeadToHeadShown, problems=[404])
def head_to_head(player: str, other: str) -> Response:
    """How a player has scored against another, pool by pool; private matches are counted for the two alone"""
    first, second, person = identify(player), identify(other), current_person()
    public = person is None or person.id not in (first, second)
    scores = services().readmodels.head_to_head(first, second, public)
    return json_response({"items": [score._asdict() for score in scores]})


@blueprint.route("/leaderboards")
@blueprint.documents(200, PoolsShown)
def list_pools() -> Response:
    """The pools that have a leaderboard"""
    return json_response({"items": list(services().readmodels.pools())})


@blueprint.route("/leaderboards/<pool>")
@blueprint.documents(200, LeaderboardShown, problems=[404, 422])
@blueprint.arguments(Paging, location="query")
def leaderboard(query: dict[str, Any], pool: str) -> Response:
    """The best of a pool, people and opponents, best first"""
    readmodels = services().readmodels
    if pool not in readmodels.pools():
        raise Problem("not-found", "There is no leaderboard of this name.")
    try:
        page = readmodels.leaderboard(pool, query.get("cursor"), query["limit"])
    except ValueError as error:
        raise bad_cursor() from error
    persons = services().people.persons(rating.player for rating in page.items)
    items = [{**_rating(rating), "player": show.player(rating.player, persons)} for rating in page.items]
    return json_response({"items": items, "next": page.next})


def _ratings(player: str) -> list[dict[str, Any]]:
    return [_rating(rating) for rating in services().readmodels.ratings(player)]


def _rating(rating: PlayerRating) -> dict[str, Any]:
    return {
        "pool": rating.pool,
        "rating": rating.rating,
        "deviation": rating.deviation,
        "volatility": rating.volatility,
        "matches": rating.matches,
        "provisional": rating.provisional,
        "updated_at": rfc3339(day_of(rating.updated_at)),
    }
