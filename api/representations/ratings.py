"""The history of a rating as others may see it: it does not tell who has met whom in a private match.

A private match ends for its players at the same instant, which would join their histories. So of matches that the
caller may not see only the day is shown, and those that follow one another on a day are one change.
"""

from collections.abc import Collection, Iterable
from typing import NamedTuple

from events.readmodels import RatingChange

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
