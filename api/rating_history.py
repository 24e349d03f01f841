"""How a rating has come about, as others may see it: private matches cannot be joined with the histories of others.

A private match ends for its players at the same instant. So of matches that the caller may not see only the day is
told, and those that follow one another on a day are one change.
"""

from collections.abc import Collection, Iterable
from typing import NamedTuple

from events.readmodels import RatingChange

DAY_MS = 24 * 3600 * 1000


class ShownChange(NamedTuple):
    """A change of a rating. ``match`` is None for private matches of others, ``at`` then the start of their UTC day."""

    match: str | None
    at: int
    before: float
    after: float
    deviation: float


def day_of(at: int) -> int:
    """Return the start of the UTC day of an instant, both in milliseconds since 1970 UTC."""
    return at - at % DAY_MS


def shown_changes(history: Iterable[RatingChange], seen: Collection[str]) -> list[ShownChange]:
    """Return a history, in its order, as shown to a person who may see the matches ``seen``."""
    shown: list[ShownChange] = []
    for change in history:
        if change.match in seen:
            shown.append(ShownChange(*change))
            continue
        last, day = shown[-1] if shown else None, day_of(change.at)
        if last is not None and last.match is None and last.at == day:
            shown[-1] = last._replace(after=change.after, deviation=change.deviation)
        else:
            shown.append(ShownChange(None, day, change.before, change.after, change.deviation))
    return shown
