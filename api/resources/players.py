"""Players and how they rank: profiles, ratings and how they came about, matches, leaderboards."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from flask import Blueprint
from marshmallow import validate
from msgspec import Meta
from msgspec.structs import asdict

from api.access.auth import current_person
from api.access.matches import listed_for
from api.addresses import PREFIX
from api.endpoints import endpoint
from api.http.answers import Answer, Instant, Next
from api.http.problems import Problem
from api.http.schemas import Paging, StrictString, page_limit
from api.operations.lists import identify, invalid_cursor, match_page
from api.operations.people import player_record
from api.operations.tournaments import tournaments_of
from api.representations.matches import MatchPage
from api.representations.people import PlayerRecord
from api.representations.players import Capacity, Player, represent_capacity, represent_player
from api.representations.ratings import (
    RatedMatchEntry,
    UnratedMatchEntry,
    day_of,
    public_changes,
    represent_rated_matches,
    represent_unrated_match,
)
from api.representations.tournaments import TournamentList
from api.services import services
from events.matches.readmodels import PlayerRating
from events.runtime.wall_clock import rfc3339

blueprint = Blueprint("players", __name__, url_prefix=PREFIX)


class Rating(Answer):
    pool: Annotated[str, Meta(description="A game and a number of seats, like bashni-2")]
    rating: float
    deviation: float
    volatility: float
    low: Annotated[float, Meta(description="With high, the interval of the true strength, with 95 % probability")]
    high: float
    matches: int
    provisional: Annotated[bool, Meta(description="The deviation is above 110: show the interval, not the rating")]
    updated_at: Annotated[Instant, Meta(description="The UTC day of the last rated match")]


class Profile(Player):
    capacity: Annotated[Capacity | None, Meta(description="What a bot takes on; null for all others")]
    ratings: Sequence[Rating]


class RatingList(Answer):
    items: Sequence[Rating]


class RatingChange(Answer):
    match: Annotated[str | None, Meta(description="null: private matches of others")]
    at: Annotated[Instant, Meta(description="The end of the match; of private matches of others only the day")]
    before: float
    after: float
    deviation: float


class RatingHistory(Answer):
    items: Sequence[RatingChange]


class Score(Answer):
    pool: str
    wins: int
    draws: int
    losses: int


class HeadToHead(Answer):
    items: Sequence[Score]


class PoolList(Answer):
    items: Sequence[str]


class RankedPlayer(Rating):
    player: Player


class Leaderboard(Answer):
    items: Sequence[RankedPlayer]
    next: str | None


class PlayersMatchesQuery(Paging):
    view = StrictString(load_default="recent", validate=validate.OneOf(["recent", "active", "finished"]))


class TournamentsOfPlayerQuery(Paging):
    limit = page_limit(20, 50)


@blueprint.get("/players/<player>")
@endpoint(answer=Profile, problems=[404])
def show_player(player: str) -> Profile:
    """Show a player

    By id or name, with the ratings.
    """
    id = identify(player)
    represented = represent_player(id, services().people.persons([id]))
    bot = services().bots.among([id]).get(id)
    capacity = represent_capacity(bot.capacity) if bot else None
    return Profile(**asdict(represented), capacity=capacity, ratings=_ratings_of(id))


@blueprint.get("/players/<player>/ratings")
@endpoint(answer=RatingList, problems=[404])
def list_ratings(player: str) -> RatingList:
    """List a player's ratings

    One for each pool.
    """
    return RatingList(items=_ratings_of(identify(player)))


@blueprint.get("/players/<player>/ratings/<pool>/history")
@endpoint(answer=RatingHistory, problems=[404])
def show_rating_history(player: str, pool: str) -> RatingHistory:
    """Show the history of a rating

    Match by match. Empty for a pool without matches of the player.
    """
    history = services().readmodels.rating_history(identify(player), pool)
    visible = listed_for(current_person(), [change.match for change in history])
    return RatingHistory(items=[RatingChange.of(change) for change in public_changes(history, visible)])


@blueprint.get("/players/<player>/matches")
@endpoint(answer=MatchPage, query=PlayersMatchesQuery, problems=[404])
def list_matches_of_player(query: Mapping[str, Any], player: str) -> MatchPage:
    """List a player's public matches

    The latest come first.
    """
    return match_page(query["view"], query, player=identify(player), public=True)


@blueprint.get("/players/<player>/head-to-head/<other>")
@endpoint(answer=HeadToHead, problems=[404])
def show_head_to_head(player: str, other: str) -> HeadToHead:
    """Show the score between two players

    Pool by pool. Private matches count only when one of the two asks.
    """
    first, second, person = identify(player), identify(other), current_person()
    public = person is None or person.id not in (first, second)
    scores = services().readmodels.head_to_head(first, second, public)
    return HeadToHead(items=list(map(Score.of, scores)))


@blueprint.get("/players/<player>/record")
@endpoint(answer=PlayerRecord, problems=[404])
def show_record(player: str) -> PlayerRecord:
    """Show the record of a player

    Of the last 200 finished matches, by game and by opponent, with their pace and what was lost on time lately.
    """
    return player_record(identify(player))


@blueprint.get("/players/<player>/tournaments")
@endpoint(answer=TournamentList, query=TournamentsOfPlayerQuery, problems=[404])
def list_tournaments_of_player(query: Mapping[str, Any], player: str) -> TournamentList:
    """List the tournaments of a player

    Those that the player has entered, the latest first.
    """
    try:
        page = tournaments_of(identify(player), query.get("cursor"), query["limit"])
    except ValueError as error:
        raise invalid_cursor() from error
    return TournamentList(items=page.items, next=page.next)


@blueprint.get("/leaderboards")
@endpoint(answer=PoolList)
def list_pools() -> PoolList:
    """List the pools with a leaderboard

    A pool is a game and its number of seats.
    """
    return PoolList(items=list(services().readmodels.pools()))


@blueprint.get("/leaderboards/<pool>")
@endpoint(answer=Leaderboard, query=Paging, problems=[404])
def show_leaderboard(query: Mapping[str, Any], pool: str) -> Leaderboard:
    """Show a leaderboard

    Best first, without provisional ratings. A page may have few entries, or none.
    """
    readmodels = services().readmodels
    if pool not in readmodels.pools():
        raise Problem("not-found", "There is no leaderboard of this name.")
    try:
        page = readmodels.leaderboard(pool, query.get("cursor"), query["limit"])
    except ValueError as error:
        raise invalid_cursor() from error
    persons = services().people.persons(rating.player for rating in page.items)
    ranked = [
        RankedPlayer(**asdict(_represent(rating)), player=represent_player(rating.player, persons))
        for rating in page.items
    ]
    return Leaderboard(items=ranked, next=page.next)


def _ratings_of(player: str) -> list[Rating]:
    return [_represent(rating) for rating in services().readmodels.ratings(player)]


def _represent(rating: PlayerRating) -> Rating:
    low, high = rating.interval
    return Rating.of(rating, low=low, high=high, updated_at=rfc3339(day_of(rating.updated_at)))


rated_matches = Blueprint("rated-matches", __name__, url_prefix=PREFIX)


class RatedMatchQuery(Paging):
    limit = page_limit(25, 50)


class RatedMatchPage(Answer):
    items: Sequence[RatedMatchEntry]
    next: Next


class UnratedMatchPage(Answer):
    items: Sequence[UnratedMatchEntry]
    next: Next
    incomplete: Annotated[bool, Meta(description="Archived matches are missing: they cannot be read now")]


@rated_matches.get("/players/<player>/ratings/<pool>/matches")
@endpoint(answer=RatedMatchPage, query=RatedMatchQuery, problems=[404])
def list_rated_matches(query: Mapping[str, Any], player: str, pool: str) -> RatedMatchPage:
    """List the matches of a rating

    How the rating came about, the last match first. A page may have up to 64 more than `limit`.
    """
    try:
        page = services().readmodels.rated_matches(identify(player), pool, query.get("cursor"), query["limit"])
    except ValueError as error:
        raise invalid_cursor() from error
    visible = listed_for(current_person(), [match.match for match in page.items])
    items = represent_rated_matches(page.items, visible)
    return RatedMatchPage(items=items, next=page.next)


@rated_matches.get("/players/<player>/ratings/<pool>/unrated-matches")
@endpoint(answer=UnratedMatchPage, query=RatedMatchQuery, problems=[404])
def list_unrated_matches(query: Mapping[str, Any], player: str, pool: str) -> UnratedMatchPage:
    """List matches that do not count

    The player's public matches that have ended and are not rated, with the reason. A page may have few entries, or
    none.
    """
    id = identify(player)
    try:
        page = services().readmodels.unrated_matches(id, pool, query.get("cursor"), query["limit"], public=True)
    except ValueError as error:
        raise invalid_cursor() from error
    items = [represent_unrated_match(summary, reason) for summary, reason in page.items]
    return UnratedMatchPage(items=items, next=page.next, incomplete=page.incomplete)
