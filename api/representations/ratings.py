"""How a rating came about, and its history, as others may see them.

The history does not tell who has met whom in a private match: that ends for its players at the same instant, which
would join their histories. So of matches that the caller may not see only the day is shown, and those that follow one
another on a day are one change.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import UTC, date, datetime
from typing import Annotated, NamedTuple

from msgspec import Meta

from api.http.answers import Answer, Instant, one_of
from api.representations.players import Player, represent_player
from api.services import services
from domain.rating import Rating
from events.matches.readmodels import RatedMatch, RatingChange, Summary, Unrated
from events.matches.readmodels.standings import PROVISIONAL_DEVIATION, interval_of
from events.runtime.wall_clock import rfc3339

DAY_MS = 24 * 3600 * 1000


class PublicChange(NamedTuple):
    """A change of a rating. ``match`` is None for private matches of others, ``at`` then the start of their UTC day."""

    match: str | None
    at: int
    before: float
    after: float
    deviation: float


def day_of(at: int) -> int:
    """Return the start of the UTC day of an instant, both in milliseconds since 1970 UTC."""
    return at - at % DAY_MS


def public_changes(history: Iterable[RatingChange], visible: Collection[str]) -> list[PublicChange]:
    """Return a history, in its order, as a person sees it who may see the matches ``visible``."""
    changes: list[PublicChange] = []
    for change in history:
        if change.match in visible:
            changes.append(PublicChange(*change))
            continue
        last, day = changes[-1] if changes else None, day_of(change.at)
        if last is not None and last.match is None and last.at == day:
            changes[-1] = last._replace(after=change.after, deviation=change.deviation)
        else:
            changes.append(PublicChange(None, day, change.before, change.after, change.deviation))
    return changes


class RatingValue(Answer):
    """A rating at an instant; ``low`` and ``high`` hold the true strength with 95 % probability."""

    rating: float
    deviation: float
    volatility: float
    low: float
    high: float
    provisional: bool


class RatedAgainst(Answer):
    """A pairwise result: the opponent, rated as at the start of the day, and the score beside the expected one."""

    player: Player
    start: RatingValue
    score: float
    expected: float


class RatedMatchEntry(Answer):
    """A rated match, or the change by private matches of others on a day."""

    match: Annotated[str | None, Meta(description="null: private matches of others, as one change")]
    at: Annotated[Instant, Meta(description="The end of the match; of private matches of others only the day")]
    period: Annotated[date, Meta(description="The rating period, a UTC day")]
    rested: Annotated[int | None, Meta(description="Days since the last one with a rated match; null: none before")]
    start: Annotated[RatingValue, Meta(description="At the start of the period, after the days of rest")]
    weight: Annotated[float, Meta(description="The part of a duel that each result counts")]
    results: Annotated[Sequence[RatedAgainst], Meta(description="Empty for private matches of others")]
    before: Annotated[RatingValue, Meta(description="After the earlier matches of the period")]
    after: RatingValue


class UnratedMatchEntry(Answer):
    """A match that has ended and does not count for ratings."""

    match: str
    at: Annotated[Instant, Meta(description="When the match last changed")]
    reason: Annotated[str, one_of(map(str, Unrated))]


def represent_rating(rating: Rating) -> RatingValue:
    """Return a rating with its interval."""
    low, high = interval_of(rating.rating, rating.deviation)
    return RatingValue.of(rating, low=low, high=high, provisional=rating.deviation > PROVISIONAL_DEVIATION)


def represent_rated_matches(matches: Sequence[RatedMatch], visible: Collection[str]) -> list[RatedMatchEntry]:
    """Return rated matches, the last first, as a person sees them who may see the matches ``visible``."""
    shown = {compared.opponent for match in matches if match.match in visible for compared in match.results}
    persons = services().people.persons(shown)
    return [
        RatedMatchEntry.of(
            match,
            match=match.match or None,
            period=datetime.fromtimestamp(match.day * DAY_MS / 1000, UTC).date(),
            start=represent_rating(match.start),
            results=[
                RatedAgainst.of(
                    compared,
                    player=represent_player(compared.opponent, persons),
                    start=represent_rating(compared.start),
                )
                for compared in match.results
            ],
            before=represent_rating(match.before),
            after=represent_rating(match.after),
        )
        for match in public_matches(matches, visible)
    ]


def public_matches(matches: Iterable[RatedMatch], visible: Collection[str]) -> Iterator[RatedMatch]:
    """Yield rated matches, the last first; those that are not visible without id, instant, results and number."""
    hidden: RatedMatch | None = None
    for match in matches:
        if hidden is not None and (match.match in visible or match.day != hidden.day):
            yield hidden
            hidden = None
        if match.match in visible:
            yield match
        elif hidden is not None:
            hidden = hidden._replace(before=match.before)
        else:
            hidden = match._replace(match="", at=match.day * DAY_MS, results=())
    if hidden is not None:
        yield hidden


def represent_unrated_match(summary: Summary, reason: Unrated) -> UnratedMatchEntry:
    """Return a match that does not count, with the reason."""
    return UnratedMatchEntry(match=summary.match, at=rfc3339(summary.updated_at), reason=reason)
