"""The ratings as they are stored: results by rating period, ratings after each period, changes match by match.

A rating period is one UTC day of one pool. For every player and day with finished rated matches there is an entry for
each match, in the order of their ends, with the rating after it, and in the player's timeline the rating after the day.
"""

import json
from typing import NamedTuple

from domain.rating import DEFAULT, Rating, rest
from events.store.converter import pack, row_of

PROVISIONAL_DEVIATION = 110.0
"""A rating with a larger deviation is provisional."""


class PlayerRating(NamedTuple):
    """A player's rating in a pool after ``matches`` rated matches, the last of which ended at ``updated_at``.

    The deviation is that of the day on which it is read: it has grown since the last match. Instants are milliseconds
    since 1970 UTC.
    """

    player: str
    pool: str
    rating: float
    deviation: float
    volatility: float
    matches: int
    provisional: bool
    updated_at: int


class RatingChange(NamedTuple):
    """What one match did to a player's rating: before, after, and the deviation after it."""

    match: str
    at: int
    before: float
    after: float
    deviation: float


class HeadToHead(NamedTuple):
    """How a player has scored against another in a pool: finished matches won, drawn and lost."""

    pool: str
    wins: int
    draws: int
    losses: int


class DayEnd(NamedTuple):
    """A player's rating after a rated day, all rated matches until then, and the end of the last (milliseconds)."""

    day: int
    rating: Rating
    matches: int
    updated_at: int

    def at_start_of(self, day: int) -> Rating:
        """Return the rating at the start of ``day``, a later one: its deviation has grown over the days between."""
        return rest(self.rating, max(0, day - self.day - 1))

    def player_rating(self, player: str, pool: str, today: int) -> PlayerRating:
        """Return the rating of ``player`` in ``pool`` on the day ``today``."""
        rating, deviation, volatility = self.at_start_of(today)
        return PlayerRating(
            player,
            pool,
            rating,
            deviation,
            volatility,
            self.matches,
            deviation > PROVISIONAL_DEVIATION,
            self.updated_at,
        )


class Entry(NamedTuple):
    """A rated match in a player's day: its end, the scores against each other player, and the rating after it."""

    at: int
    match: str
    results: tuple[tuple[str, float], ...]
    after: Rating


def rating_at_start(previous: DayEnd | None, day: int) -> Rating:
    """Return the rating at the start of ``day`` of a player whose last rated day before it is ``previous``."""
    return previous.at_start_of(day) if previous else DEFAULT


def pack_entries(entries: list[Entry]) -> str:
    """Return the stored text of a player's day."""
    return f"[{','.join(map(pack, entries))}]"


def unpack_entries(packed: bytes | None) -> list[Entry]:
    """Return a player's day that was packed; nothing for None."""
    return [] if packed is None else [row_of(Entry).read(entry) for entry in json.loads(packed)]


def pack_change(before: float, after: float) -> str:
    """Return the stored text of a match's change of one player's rating."""
    return json.dumps((before, after), separators=(",", ":"))


def unpack_change(packed: bytes) -> tuple[float, float]:
    """Return a change that was packed."""
    before, after = json.loads(packed)
    return before, after
