"""The ratings as they are stored: results by rating period, ratings after each period.

A period is one UTC day of one pool. Every player has an entry for each match of a day, with the rating after it, and
one for the day; long days are stored in parts, each with the sums before it.
"""

import struct
from typing import NamedTuple

from domain.rating import DEFAULT, Period, PeriodSums, Rating, rest
from events.store.converter import pack, unpack

PROVISIONAL_DEVIATION = 110.0


NORMAL_95 = 1.959964
"""A normal variable is within this number of standard deviations of its mean with 95 % probability."""


def interval_of(rating: float, deviation: float) -> tuple[float, float]:
    """Return the interval in which the true strength is with 95 % probability."""
    return rating - NORMAL_95 * deviation, rating + NORMAL_95 * deviation


class PlayerRating(NamedTuple):
    """A player's rating after ``matches`` rated matches; the deviation is that of the day on which it is read."""

    player: str
    pool: str
    rating: float
    deviation: float
    volatility: float
    matches: int
    provisional: bool
    updated_at: int

    @property
    def interval(self) -> tuple[float, float]:
        """The interval in which the true strength is with 95 % probability."""
        return interval_of(self.rating, self.deviation)


class RatingChange(NamedTuple):
    """The effect of one match on a player's rating: before, after, and the deviation after it."""

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


_PACKED_END = struct.Struct(">I3dIq")
"""Day, rating, deviation, volatility, matches, end of the last one."""


def pack_end(end: DayEnd) -> bytes:
    """Return the stored form of the end of a day: short enough for the server to keep it without pointers."""
    return _PACKED_END.pack(end.day, *end.rating, end.matches, end.updated_at)


def unpack_end(packed: bytes) -> DayEnd:
    """Return the packed end of a day."""
    day, rating, deviation, volatility, matches, updated_at = _PACKED_END.unpack(packed)
    return DayEnd(day, Rating(rating, deviation, volatility), matches, updated_at)


class Ends(NamedTuple):
    """A player's day, stored in ``parts``, between the end of the rated day before it and the next one."""

    previous: DayEnd | None
    own: DayEnd | None
    next_day: int | None
    parts: int


class DayEntry(NamedTuple):
    """A rated match in a player's day: its end, the scores against each other player, and the rating after it."""

    at: int
    match: str
    results: tuple[tuple[str, float], ...]
    after: Rating

    @property
    def place(self) -> "DayPlace":
        """Its place in the day."""
        return DayPlace(self.at, self.match)


def rating_at_start(previous: DayEnd | None, day: int) -> Rating:
    """Return the rating at the start of ``day`` of a player whose last rated day before it is ``previous``."""
    return previous.at_start_of(day) if previous else DEFAULT


class DayPlace(NamedTuple):
    """Where a match stands in a day: by its end, then by its id."""

    at: int
    match: str


BEGIN_OF_DAY = DayPlace(-1, "")
MAX_ENTRIES_PER_PART = 64
"""The number of matches in one part of a player's day, so that one more at its end costs the last part only."""


class DayPart(NamedTuple):
    """A part of a player's day: its matches in the order of their ends, and the sums of all results before it."""

    sums: PeriodSums
    entries: tuple[DayEntry, ...]


def part_field(player: str, number: int) -> str:
    """Return the field of a part of a player's day in the hash of the day."""
    return f"{player} {number}" if number else player


def count_field(player: str) -> str:
    """Return the field of the number of parts of a player's day in the hash of the day; a day of one has none."""
    return f"{player} parts"


def part_count(matches: int) -> int:
    """Return in how many parts a day of ``matches`` matches is stored."""
    return -(-matches // MAX_ENTRIES_PER_PART)


def pack_part(part: DayPart, number: int) -> bytes:
    """Return the stored bytes of a part. The first one is a list of matches alone: nothing is before it.

    The others begin with the end of their first match, by which ``part_of_match.lua`` finds one.
    """
    return b"%d %s" % (part.entries[0].at, pack(part)) if number else pack(part.entries)


def unpack_part(packed: bytes | None, number: int) -> DayPart | None:
    """Return a part that was packed; None for None."""
    if packed is None:
        return None
    return (
        unpack(DayPart, packed.partition(b" ")[2])
        if number
        else DayPart(PeriodSums(), unpack(tuple[DayEntry, ...], packed))
    )


def change_in(part: DayPart, match_id: str, start: Rating) -> tuple[float, float] | None:
    """Return a player's ratings before and after a match of a day that began with ``start``; None if not there."""
    before = Period(start, part.sums).rating().rating
    for entry in part.entries:
        if entry.match == match_id:
            return before, entry.after.rating
        before = entry.after.rating
    return None
