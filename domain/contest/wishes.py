"""Wishes for a match: terms as intervals, and whether two wishes agree."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from domain.games import GAMES
from domain.match.enums import Aids
from domain.match.refusals import CommandError
from domain.match.terms import DAY, Terms, days_per_move
from domain.rating import START_RATING

MIN_DAYS = 1
MAX_DAYS = 30
"""Of the time for every move."""

MAX_RATING = 4000
MAX_MATCHES = 10
"""Of a standing seek."""


class Interval(NamedTuple):
    """The whole numbers from ``least`` to ``most``."""

    least: int
    most: int

    def contains(self, number: float) -> bool:
        """Tell whether ``number`` is inside."""
        return self.least <= number <= self.most

    def in_days(self) -> str:
        """Return the interval as a pace: "2 to 5 days"."""
        if self.least == self.most:
            return "1 day" if self.most == 1 else f"{self.most} days"
        return f"{self.least} to {self.most} days"

    def in_words(self) -> str:
        """Return the interval of ratings in words: "1400 or more"."""
        if self == ANY_RATING:
            return "any size"
        if self.most == MAX_RATING:
            return f"{self.least} or more"
        return f"at most {self.most}" if self.least == 0 else f"{self.least} to {self.most}"


ANY_RATING = Interval(0, MAX_RATING)


@dataclass(frozen=True, slots=True, kw_only=True)
class SeekTerms:
    """The terms of a seek.

    ``games`` are any of these, each a game and a setup (``towers/two-player``), with ``seats`` seats; every move has a
    number of ``days``, which is agreed within the interval; ``aids`` are a term of the match. Others have a ``rating``
    within that interval. It ends after ``count`` matches.
    """

    games: tuple[str, ...]
    seats: int
    days: Interval
    rated: bool
    rating: Interval = ANY_RATING
    count: int = 1
    aids: Aids | None = None


class Wish(NamedTuple):
    """Terms that somebody offers or accepts: ``ratings`` are those of the person by game, whole numbers.

    ``game`` and ``days`` of a table that others sit at are narrower than those of its seek.
    """

    player: str
    terms: SeekTerms
    ratings: Mapping[str, int]
    days: Interval
    game: str | None = None

    def rating_in(self, game: str) -> int:
        """Return the rating of the person in ``game``; that of a beginner where there is none."""
        return self.ratings.get(game, round(START_RATING))


class Common(NamedTuple):
    """The agreement of two wishes: the game, and the interval of the pace."""

    game: str
    days: Interval


class SeekObstacle(StrEnum):
    """Why two wishes do not agree; or why one person cannot take the seek of another."""

    SAME_PERSON = "same-person"
    SEATS = "seats"
    GAMES = "games"
    RATED = "rated"
    AIDS = "aids"
    PACE = "pace"
    RATING = "rating"
    BLOCKED = "blocked"
    NO_ROOM = "no-room"


def setup_of(game: str) -> tuple[str, str]:
    """Return the id of the game and the name of the setup of ``game/setup``."""
    id, _, setup = game.partition("/")
    return id, setup


def games_of(seats: int) -> tuple[str, ...]:
    """Return all games and setups with this number of seats, as ``game/setup``."""
    return tuple(
        f"{game.id}/{setup.name}"
        for game in GAMES.values()
        for setup in game.setups.values()
        if len(setup.seat_names) == seats
    )


def check_terms(terms: SeekTerms, guest: bool) -> None:
    """Raise CommandError, naming the field, unless ``terms`` can lead to a match."""
    offered = games_of(terms.seats)
    if not offered:
        raise CommandError("invalid-seek", f"no game has {terms.seats} seats", "seats")
    strange = next((game for game in terms.games if game not in offered), None)
    if strange is not None:
        words = f"{strange:.60} is no game with {terms.seats} seats: choose among {', '.join(offered)}"
        raise CommandError("invalid-seek", words, "games")
    if not terms.games or len(set(terms.games)) != len(terms.games):
        raise CommandError("invalid-seek", "name at least one game, and each only once", "games")
    if not MIN_DAYS <= terms.days.least <= terms.days.most <= MAX_DAYS:
        words = f"the time for a move is {MIN_DAYS} to {MAX_DAYS} days, the shortest first"
        raise CommandError("invalid-seek", words, "days")
    if not 0 <= terms.rating.least <= terms.rating.most <= MAX_RATING:
        raise CommandError("invalid-seek", f"ratings are 0 to {MAX_RATING}, the lowest first", "rating")
    if not 1 <= terms.count <= MAX_MATCHES:
        raise CommandError("invalid-seek", f"a seek is for 1 to {MAX_MATCHES} matches", "count")
    if terms.rated and guest:
        raise CommandError("guests-play-unrated", "guests play unrated: sign up to play for a rating", "rated")


def common_interval(first: Interval, second: Interval) -> Interval | None:
    """Return the common part of two intervals; None without one."""
    least, most = max(first.least, second.least), min(first.most, second.most)
    return Interval(least, most) if least <= most else None


def compatible(first: Wish, second: Wish) -> Common | SeekObstacle:
    """Return the common ground of two wishes, or the first obstacle.

    The game is the first of ``first`` that ``second`` plays too, with ratings that both accept. The same in both
    orders, but for that choice.
    """
    if first.player == second.player:
        return SeekObstacle.SAME_PERSON
    ours, theirs = first.terms, second.terms
    if ours.seats != theirs.seats:
        return SeekObstacle.SEATS
    if ours.rated != theirs.rated:
        return SeekObstacle.RATED
    if ours.aids != theirs.aids:
        return SeekObstacle.AIDS
    days = common_interval(first.days, second.days)
    if days is None:
        return SeekObstacle.PACE
    obstacle = SeekObstacle.GAMES
    for game in (first.game,) if first.game else ours.games:
        if game not in theirs.games or second.game not in (None, game):
            continue
        if ours.rating.contains(second.rating_in(game)) and theirs.rating.contains(first.rating_in(game)):
            return Common(game, days)
        obstacle = SeekObstacle.RATING
    return obstacle


MIN_WAITS = 3


def usual_wait_days(waits_ms: Sequence[int | None]) -> int | None:
    """Return within how many days half of some seeks were answered, given how long each waited (None: in vain).

    None for fewer than three seeks, and where fewer than half were answered.
    """
    answered = sorted(wait for wait in waits_ms if wait is not None)
    half = -(-len(waits_ms) // 2)
    if len(waits_ms) < MIN_WAITS or len(answered) < half:
        return None
    return max(1, -(-answered[half - 1] // DAY))


def terms_of_match(terms: SeekTerms, days: Interval) -> Terms:
    """Return the terms of the match of a seek: the slowest pace that was agreed on."""
    return days_per_move(days.most)._replace(takebacks=not terms.rated, aids=terms.aids)
