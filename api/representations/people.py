"""People as callers find them, and the record of a player."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta

from api.http.answers import Answer, Instant, Next, instant
from api.representations.players import Player, represent_person
from events.contests.starting import Room
from events.matches.readmodels import PlayerRating
from events.people.person import Person


class FoundPlayer(Answer):
    """Somebody in a list of people; ``rating`` is that of the game asked for."""

    player: Player
    rating: Annotated[float | None, Meta(description="In the pool asked for; null without one")]
    provisional: Annotated[bool, Meta(description="Whether that rating is uncertain")]
    free: Annotated[int, Meta(description="How many more matches the server starts for them now")]
    seen_at: Annotated[Instant | None, Meta(description="The UTC day on which they were here last; null: not told")]


class FoundPlayerPage(Answer):
    """A page of people; it may be short, or empty, and have a next one."""

    items: Sequence[FoundPlayer]
    next: Next


class GameScore(Answer):
    """Results in a pool: won against all others at the table, best together with others, and all else."""

    pool: str
    wins: int
    draws: int
    losses: int


class OpponentScore(Answer):
    """Results against one player, each by who had the better place."""

    player: Player
    wins: int
    draws: int
    losses: int


class PlayerRecord(Answer):
    """The record of a player in the last 200 finished matches."""

    finished: int
    lost_on_time: Annotated[int, Meta(description="In the last 90 days")]
    pace: Annotated[
        int | None, Meta(description="Seconds for a move, of all players, in half of these matches or less")
    ]
    games: Annotated[Sequence[GameScore], Meta(description="Without private matches of others")]
    opponents: Annotated[Sequence[OpponentScore], Meta(description="Those met most often in these matches, up to 20")]


def represent_found(person: Person, rating: PlayerRating | None, room: Room, seen_at: int | None) -> FoundPlayer:
    """Return a person in a list of people."""
    return FoundPlayer(
        player=represent_person(person),
        rating=None if rating is None else rating.rating,
        provisional=rating is not None and rating.provisional,
        free=room.room,
        seen_at=instant(seen_at),
    )
